/**
 * Parse results by blob id, the least recently used dropped first. A later index of the same folder reads only what changed.
 */
import type { ParsedFile } from './parsed-file.ts';

export interface IndexCache {
  get(id: string): ParsedFile | undefined;
  set(id: string, file: ParsedFile): void;
}

/** `limit` counts documents, not files: that is what the memory goes by. */
export function createIndexCache(limit: number): IndexCache {
  const files = new Map<string, ParsedFile>();
  let held = 0;
  return {
    get(id) {
      const file = files.get(id);
      if (file === undefined) return undefined;
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
      for (const [oldest, parsed] of files) {
        if (held <= limit || oldest === id) break;
        files.delete(oldest);
        held -= weigh(parsed);
      }
    },
  };
}

function weigh(file: ParsedFile): number {
  return file.ok ? Math.max(1, file.documents.length) : 1;
}
