/**
 * Writes the input of `git fast-import`. Pure: specs in, bytes out; nothing here knows how git is run.
 */
import { pathShapeProblem } from '../core/folder/path.ts';

export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly date: Date;
}

export type FileChange =
  /** Null removes the file. */
  | { readonly path: string; readonly content: string | Uint8Array | null; readonly mode?: WritableMode }
  /** Content that the repository holds already, or that the stream has brought before: an object id or a mark. */
  | { readonly path: string; readonly blob: string; readonly mode?: WritableMode };

/** Pass the mode of an existing file, else it becomes a plain file. */
type WritableMode = '100644' | '100755';

export interface CommitSpec {
  readonly files: readonly FileChange[];
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
}

/** The parts of a commit in the very bytes that git stores, for signing. */
export interface CommitHeader {
  readonly author: string;
  readonly committer: string;
  readonly message: string;
}

/** Parts of a stream, to be joined at the end. */
export type StreamPart = string | Uint8Array;

export function joinStream(parts: readonly StreamPart[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

/**
 * A chain of commits on a ref, the first on `base` (null: without a parent), with marks from `firstMark` on. After each,
 * git prints the commit id and the id of its tree.
 */
export function commitChain(
  ref: string,
  base: string | null,
  commits: readonly CommitSpec[],
  firstMark = 1,
): StreamPart[] {
  const parts: StreamPart[] = [];
  for (const [index, commit] of commits.entries()) {
    const mark = firstMark + index;
    const header = commitHeader(commit);
    parts.push(`commit ${ref}\nmark :${mark}\nauthor ${header.author}\ncommitter ${header.committer}\n`);
    parts.push(...data(header.message));
    if (index === 0 && base !== null) parts.push(`from ${base}\n`);
    parts.push(...fileChanges(commit.files));
    parts.push(`get-mark :${mark}\nls :${mark} ""\n`);
  }
  return parts;
}

export function commitHeader({ author, committer, message }: CommitSpec): CommitHeader {
  return {
    author: signatureLine(author),
    committer: signatureLine(committer),
    message: `${message.toWellFormed().replaceAll('\0', '').trimEnd()}\n`,
  };
}

/** Removals come first, so that a folder may take the place of a file of its name. */
function fileChanges(files: readonly FileChange[]): StreamPart[] {
  const seen = new Set<string>();
  const removals: StreamPart[] = [];
  const writes: StreamPart[] = [];
  for (const file of files) {
    const path = quotedPath(file.path);
    if (seen.has(file.path)) throw new Error(`one commit changes ${path} twice`);
    seen.add(file.path);
    const mode = file.mode ?? '100644';
    if ('blob' in file) writes.push(`M ${mode} ${file.blob} ${path}\n`);
    else if (file.content === null) removals.push(`D ${path}\n`);
    else writes.push(`M ${mode} inline ${path}\n`, ...data(file.content));
  }
  return [...removals, ...writes];
}

export function data(content: string | Uint8Array): StreamPart[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, '\n'];
}

/** Throws on a path that the core should have refused: writing it could leave the repository or harm a checkout. */
export function quotedPath(path: string): string {
  const problem = pathShapeProblem(path);
  if (problem !== undefined)
    throw new Error(`the path ${JSON.stringify(path)} ${problem} and must never reach git`);
  return quoteBytes(path);
}

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** The quoting of git: a C string, other bytes in octal. */
function quoteBytes(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const byte of Buffer.from(text)) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 0x20 && byte < 0x7f) quoted += String.fromCharCode(byte);
    else quoted += `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `${quoted}"`;
}

function signatureLine({ name, email, date }: Signature): string {
  const seconds = Math.floor(date.getTime() / 1000);
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new Error('a commit needs a date since 1970');
  return `${headerText(name) || 'unknown'} <${headerText(email).replaceAll(' ', '') || 'unknown'}> ${seconds} +0000`;
}

/** git's header has no escapes: what would end a field goes. */
function headerText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[<>]/g, '')
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
