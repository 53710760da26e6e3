/**
 * What is known of files by blob id, the least recently used dropped first, and the last index of each folder. A later index of
 * the same folder reads and derives only what changed.
 */
import type { IndexedFile } from './indexed-file.ts';
import type { ParsedFile } from './parsed-file.ts';
import type { Indexed } from './reindex.ts';

/** As parsed, or as it stood where it was last looked at; one blob may stand at several paths. */
export type CachedFile = ParsedFile | IndexedFile;

export interface IndexCache {
  get(id: string): CachedFile | undefined;
  set(id: string, file: CachedFile): void;
  lastIndex(folder: string): Indexed | undefined;
  keepIndex(indexed: Indexed): void;
}

/** A branch has few folders; a caller with more of them makes some anew. */
const keptIndexes = 16;

/** `limit` counts documents, not files: that is what the memory goes by. */
export function createIndexCache(limit: number): IndexCache {
  const files = new Map<string, CachedFile>();
  const indexes = new Map<string, Indexed>();
  let held = 0;
  return {
    lastIndex: (folder) => indexes.get(folder),
    keepIndex(indexed) {
      const { folder } = indexed.index;
      indexes.delete(folder);
      indexes.set(folder, indexed);
      for (const oldest of indexes.keys()) {
        if (indexes.size <= keptIndexes) break;
        indexes.delete(oldest);
      }
    },
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
      if (before !== undefined) held -= weigh(before);
      files.delete(id);
      files.set(id, file);
      held += weigh(file);
      for (const [oldest, dropped] of files) {
        if (held <= limit || oldest === id) break;
        files.delete(oldest);
        held -= weigh(dropped);
      }
    },
  };
}

function weigh(file: CachedFile): number {
  if (!('entry' in file || file.ok)) return 1;
  // A document without content weighs nothing, whether it is still listed or not.
  return Math.max(
    1,
    'entry' in file ? file.filled : file.documents.filter(({ kind }) => kind !== 'empty').length,
  );
}
