/**
 * One run of `git fast-import`, begun before its commits are decided: contents are handed over as they come, so that git
 * compresses them while the rest is still planned. Starts git with the first content; what no commit takes is left for
 * maintenance to drop.
 */
import { type Git, startGit, succeeded } from './command.ts';
import { failureOf, type GitFailure } from './failure.ts';
import { data, joinStream, type StreamPart } from './import-stream.ts';
import { removeLeftovers } from './leftovers.ts';
import type { Running } from './run.ts';

/** As much as a pipe holds. */
const chunkBytes = 64 * 1024;
/** Joined within a millisecond or two, before everything else has a turn. */
const pieceBytes = 256 * 1024;
// Force: our refs are set, not moved forward.
const importArgs = ['fast-import', '--quiet', '--force', '--done', '--date-format=raw', '--cat-blob-fd=1'];

export type Imported = { readonly kind: 'ok'; readonly output: string } | GitFailure;

export class Draft {
  readonly #repository: Git;
  readonly #marks = new Map<Uint8Array, string>();
  #running: Running | undefined;
  #parts: StreamPart[] = [];
  #bytes = 0;
  #ended = false;

  constructor(repository: Git) {
    this.#repository = repository;
  }

  /** Hands over a content that a commit will probably hold. */
  store(content: Uint8Array): void {
    if (this.#ended || this.#marks.has(content)) return;
    const mark = this.nextMark;
    this.#marks.set(content, `:${mark}`);
    this.#parts.push(`blob\nmark :${mark}\n`, ...data(content));
    this.#bytes += content.length;
    if (this.#bytes < chunkBytes) return;
    this.#process().write(joinStream(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
  }

  /** What names a stored content (the very same bytes in memory) in the rest of the stream. */
  markOf(content: Uint8Array): string | undefined {
    return this.#marks.get(content);
  }

  /** The first mark that is free. */
  get nextMark(): number {
    return this.#marks.size + 1;
  }

  /** Runs the rest of the stream to its end; all of it is stored, or the refs stay as they were. Once. */
  async finish(rest: readonly StreamPart[], doing: string): Promise<Imported> {
    if (this.#ended) throw new Error('a draft is finished once');
    this.#ended = true;
    const running = this.#process();
    const last = await writeInPieces(running, [...this.#parts, ...rest, 'done\n']);
    this.#parts = [];
    const result = await running.end(last);
    if (succeeded(result)) return { kind: 'ok', output: result.stdout.toString() };
    const stderr = result.stderr.replace(/^fast-import: dumping crash report.*$/m, '');
    const failure = failureOf({ ...result, stderr }, doing);
    // A crash report repeats the commands of the stream; a draft takes the room that others need.
    removeLeftovers(this.#repository);
    return failure;
  }

  /** Nothing of it is wanted; does nothing after `finish`. */
  async abandon(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#parts = [];
    // Ended in order, git leaves no half-written pack.
    await this.#running?.end('done\n');
  }

  #process(): Running {
    this.#running ??= startGit(this.#repository, importArgs);
    return this.#running;
  }
}

/** Returns what is left for the end. */
async function writeInPieces(running: Running, parts: readonly StreamPart[]): Promise<Buffer> {
  let piece: StreamPart[] = [];
  let bytes = 0;
  for (const part of parts) {
    piece.push(part);
    bytes += part.length;
    if (bytes < pieceBytes) continue;
    running.write(joinStream(piece));
    piece = [];
    bytes = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return joinStream(piece);
}
