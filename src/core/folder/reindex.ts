/**
 * The index of a tree, made from the index of an earlier tree of the same folder: only what differs is looked at. Where more
 * than plain manifests differ, the answer is "make it anew".
 */
import { objectKey } from '../identity.ts';
import type { FileTable } from './file-table.ts';
import type { FolderIndex } from './folder-index.ts';
import type { IndexedFile } from './indexed-file.ts';
import { roleOf } from './role.ts';
import { relativeTo, type TreeEntry } from './tree.ts';

/** An index with its files as they are kept. */
export interface Indexed {
  readonly files: FileTable;
  readonly index: FolderIndex;
}

export interface Difference {
  /** New files, and files with another content or mode. */
  readonly changed: readonly TreeEntry[];
  readonly gone: readonly TreeEntry[];
}

/** Both lists in path order. Entries that are the same object cost nearly nothing. */
export function differenceOf(before: readonly TreeEntry[], now: readonly TreeEntry[]): Difference {
  const changed: TreeEntry[] = [];
  const gone: TreeEntry[] = [];
  let old = 0;
  for (const entry of now) {
    let other = before[old];
    while (other !== undefined && other !== entry && other.path < entry.path) {
      gone.push(other);
      other = before[++old];
    }
    if (other?.path !== entry.path) {
      changed.push(entry);
      continue;
    }
    if (other !== entry && (other.id !== entry.id || other.mode !== entry.mode)) changed.push(entry);
    old += 1;
  }
  return { changed, gone: [...gone, ...before.slice(old)] };
}

/** True when only files read for records differ. */
export function isPlainDifference({ index, files }: Indexed, { changed, gone }: Difference): boolean {
  return (
    gone.every(({ path }) => files.has(path)) &&
    changed.every(
      ({ path, mode }) =>
        !index.others.has(path) && roleOf(relativeTo(path, index.folder), mode, index.ignore) === 'manifest',
    )
  );
}

/**
 * The files of `now`; undefined: make it anew. `changed` holds the changed files as they are now, `old` those and the gone
 * ones as they were; the difference is plain.
 */
export function updatedFiles(
  { index, files }: Indexed,
  now: readonly TreeEntry[],
  old: readonly IndexedFile[],
  changed: readonly IndexedFile[],
): FileTable | undefined {
  if (index.isEmpty || now.length === 0 || index.duplicates.length > 0) return undefined;
  if (![...old, ...changed].every(saysNothingElse)) return undefined;
  const updated = files.updated(now, changed);
  return changed.every((file) => isAlone(file, updated)) ? updated : undefined;
}

/** Says nothing of the folder beside its documents. */
function saysNothingElse(file: IndexedFile): boolean {
  return (
    !file.isUnclear &&
    file.skipped === undefined &&
    file.documents.every(({ scales }) => scales === undefined)
  );
}

/** False when two documents claim one identity: their order among all others matters to what people are told. */
function isAlone({ documents }: IndexedFile, files: FileTable): boolean {
  return documents.every(({ id }) => {
    const same = files.documents.named(id.name, ({ group, kind }) => group === id.group && kind === id.kind);
    return same.filter((other) => objectKey(other.id) === objectKey(id)).length === 1;
  });
}
