/** What bounds reading: a document beyond these is reported, never read part way. */

/** Collections inside collections; more than any served schema nests. */
export const maxDepth = 200;

/** Values that aliases may add to a document before it counts as an alias bomb. */
export const maxAliasValues = 100_000;

/** Tokens of a document, about one per value and per mark. An object of the largest size etcd takes has fewer. */
export const maxTokens = 1_000_000;

/** Documents of a file that are read. */
export const maxDocuments = 100_000;

/** Characters of a file's text that a message quotes. */
const maxQuote = 40;

/** A piece of a file's text for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > maxQuote ? `${text.slice(0, maxQuote)}…` : text);
}

/** Why a text is not YAML. Thrown by the scanner and the composer, caught by `parseTree` alone. */
export class Unreadable extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
