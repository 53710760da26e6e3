/**
 * What is known of files: the last index of each folder, so that a later one reads and derives only what changed, and by blob id
 * what no index holds, the least recently used dropped first.
 */
import type { IndexedFile } from './indexed-file.ts';
import type { ParsedFile } from './parsed-file.ts';
import { RecentFiles } from './recent-files.ts';
import type { Indexed } from './reindex.ts';
import { isInside, type TreeEntry } from './tree.ts';

/** As parsed, or as it stood where it was last looked at; one blob may stand at several paths. */
export type CachedFile = ParsedFile | IndexedFile;

export interface IndexCache {
  /** What is known of a blob that no index holds. */
  get(id: string): CachedFile | undefined;
  set(id: string, file: CachedFile): void;
  /** The same, or what an index holds at this path. */
  find(entry: TreeEntry): CachedFile | undefined;
  lastIndex(folder: string): Indexed | undefined;
  /** These left an index. For a while they stay known by their ids: somebody may move them, or go back to them. */
  leave(files: readonly IndexedFile[]): void;
  /** These entries joined the index: it is what knows them now. */
  keepIndex(indexed: Indexed, joined: readonly TreeEntry[]): void;
}

/** A branch has few folders; a caller with more of them makes some anew. */
const keptIndexes = 16;
/** Documents. */
const keptEarlier = 1_000;

/** `limit` counts documents, not files: that is what the memory goes by. */
export function createIndexCache(limit: number): IndexCache {
  const fresh = new RecentFiles(limit);
  const earlier = new RecentFiles(limit);
  const indexes = new Map<string, Indexed>();

  function get(id: string): CachedFile | undefined {
    return fresh.get(id) ?? earlier.get(id);
  }

  return {
    get,
    set: (id, file) => fresh.set(id, file),
    find(entry) {
      for (const { index, files } of indexes.values()) {
        const file = isInside(entry.path, index.folder) ? files.getSame(entry) : undefined;
        if (file !== undefined) return file;
      }
      return get(entry.id);
    },
    lastIndex: (folder) => indexes.get(folder),
    leave(files) {
      for (const file of files) earlier.set(file.entry.id, file);
    },
    keepIndex(indexed, joined) {
      const { folder } = indexed.index;
      indexes.delete(folder);
      indexes.set(folder, indexed);
      for (const { id } of joined) fresh.delete(id);
      earlier.shrink(keptEarlier);
      for (const [oldest, { files }] of indexes) {
        if (indexes.size <= keptIndexes) break;
        indexes.delete(oldest);
        for (const file of files.values()) fresh.set(file.entry.id, file);
      }
    },
  };
}
