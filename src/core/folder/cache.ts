/**
 * What is known of files by blob id, the least recently used dropped first. A later index of the same folder reads and derives
 * only what changed.
 */
import type { IndexedFile } from './indexed-file.ts';
import type { ParsedFile } from './parsed-file.ts';

export interface CachedFile {
  readonly parsed: ParsedFile;
  /** What was derived where the blob stood last; one blob may stand at several paths. */
  placed?: IndexedFile;
}

export interface IndexCache {
  get(id: string): CachedFile | undefined;
  set(id: string, file: CachedFile): void;
}

/** `limit` counts documents, not files: that is what the memory goes by. */
export function createIndexCache(limit: number): IndexCache {
  const files = new Map<string, CachedFile>();
  let held = 0;
  return {
    get(id) {
      const file = files.get(id);
      // Far from full nothing will be dropped, so the order need not be kept.
      if (file === undefined || held * 2 < limit) return file;
      files.delete(id);
      files.set(id, file);
      return file;
    },
    set(id, file) {
      const before = files.get(id);
      if (before !== undefined) held -= weigh(before.parsed);
      files.delete(id);
      files.set(id, file);
      held += weigh(file.parsed);
      for (const [oldest, dropped] of files) {
        if (held <= limit || oldest === id) break;
        files.delete(oldest);
        held -= weigh(dropped.parsed);
      }
    },
  };
}

function weigh(file: ParsedFile): number {
  return file.ok ? Math.max(1, file.documents.length) : 1;
}
