/** What bounds reading: a document beyond these is reported, never read part way. */

/** Collections inside collections; more than any served schema nests. */
export const maxDepth = 200;

/** Values that aliases may add to a document before it counts as an alias bomb. */
export const maxAliasValues = 100_000;

/** Tokens of a document, about one per value and per mark. */
export const maxTokens = 4_000_000;

/** Why a text is not YAML. Thrown by the scanner and the composer, caught by `parseTree` alone. */
export class Unreadable extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
