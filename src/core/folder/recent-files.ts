/** Files by blob id, of no more documents than allowed: the least recently used are dropped first. */
import type { CachedFile } from './cache.ts';

export class RecentFiles {
  readonly #limit: number;
  readonly #files = new Map<string, CachedFile>();
  /** Documents. */
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(id: string): CachedFile | undefined {
    const file = this.#files.get(id);
    // Far from full nothing will be dropped, so the order need not be kept.
    if (file === undefined || this.#held * 2 < this.#limit) return file;
    this.#files.delete(id);
    this.#files.set(id, file);
    return file;
  }

  /** The newest stays whatever its size. */
  set(id: string, file: CachedFile): void {
    this.delete(id);
    this.#files.set(id, file);
    this.#held += weigh(file);
    this.shrink(this.#limit);
  }

  delete(id: string): void {
    const file = this.#files.get(id);
    if (file === undefined) return;
    this.#files.delete(id);
    this.#held -= weigh(file);
  }

  /** Drops the oldest until no more documents than this are left, or only the newest file. */
  shrink(limit: number): void {
    for (const id of this.#files.keys()) {
      if (this.#held <= limit || this.#files.size === 1) return;
      this.delete(id);
    }
  }
}

function weigh(file: CachedFile): number {
  if (!('entry' in file || file.ok)) return 1;
  // A document without content weighs nothing, whether it is still listed or not.
  return Math.max(
    1,
    'entry' in file ? file.filled : file.documents.filter(({ kind }) => kind !== 'empty').length,
  );
}
