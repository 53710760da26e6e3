/**
 * The index of a tree, made from the index of an earlier tree of the same folder: only what differs is looked at. Where more
 * than plain manifests differ, the answer is "make it anew".
 */
import { objectKey } from '../identity.ts';
import type { FolderIndex } from './folder-index.ts';
import type { IndexedDocument, IndexedFile } from './indexed-file.ts';
import { withReplaced } from './replaced.ts';
import { roleOf } from './role.ts';
import { relativeTo, type TreeEntry } from './tree.ts';

/** An index and the entries of the folder it was made from, in path order. */
export interface Indexed {
  readonly entries: readonly TreeEntry[];
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
export function isPlainDifference({ index }: Indexed, { changed, gone }: Difference): boolean {
  return (
    gone.every(({ path }) => index.files.has(path)) &&
    changed.every(
      ({ path, mode }) =>
        !index.others.has(path) && roleOf(relativeTo(path, index.folder), mode, index.ignore) === 'manifest',
    )
  );
}

/**
 * Undefined: make it anew. `files` holds the changed files as they are now; the difference is plain.
 */
export function updatedIndex(
  before: Indexed,
  now: readonly TreeEntry[],
  { changed, gone }: Difference,
  files: ReadonlyMap<string, IndexedFile>,
): Omit<FolderIndex, 'scope'> | undefined {
  const { index } = before;
  if (index.isEmpty || now.length === 0 || index.duplicates.length > 0) return undefined;
  const old = [...changed, ...gone].flatMap(({ path }) => index.files.get(path) ?? []);
  if (![...old, ...files.values()].every(isPlain)) return undefined;
  const documents = updatedDocuments(index.documents, old, [...files.values()]);
  if (documents === undefined) return undefined;
  const samePaths = gone.length === 0 && old.length === changed.length;
  return {
    ...index,
    files: samePaths ? withReplaced(index.files, files) : inOrder(index.files, files, now),
    documents,
  };
}

/** Says nothing of the folder beside its documents. */
function isPlain(file: IndexedFile): boolean {
  return (
    !file.isUnclear &&
    file.skipped === undefined &&
    file.documents.every(({ scales }) => scales === undefined)
  );
}

function inOrder(
  before: ReadonlyMap<string, IndexedFile>,
  changed: ReadonlyMap<string, IndexedFile>,
  now: readonly TreeEntry[],
): Map<string, IndexedFile> {
  const files = new Map<string, IndexedFile>();
  for (const { path } of now) {
    const file = changed.get(path) ?? before.get(path);
    if (file !== undefined) files.set(path, file);
  }
  return files;
}

/** Undefined when two documents claim one identity: their order among all others matters to what people are told. */
function updatedDocuments(
  before: FolderIndex['documents'],
  old: readonly IndexedFile[],
  now: readonly IndexedFile[],
): FolderIndex['documents'] | undefined {
  const changed = new Map<string, readonly IndexedDocument[]>();
  const named = (name: string) => changed.get(name) ?? before.get(name) ?? [];
  const paths = new Set(old.map(({ entry }) => entry.path));
  for (const { id } of old.flatMap((file) => file.documents)) {
    const rest = named(id.name).filter(({ path }) => !paths.has(path));
    changed.set(id.name, rest);
  }
  for (const document of now.flatMap((file) => file.documents)) {
    const known = named(document.id.name);
    if (known.some((other) => objectKey(other.id) === objectKey(document.id))) return undefined;
    changed.set(document.id.name, [...known, document].sort(inPlaceOrder));
  }
  const sameNames = [...changed].every(([name, some]) => some.length > 0 && before.has(name));
  if (sameNames) return withReplaced(before, changed);
  const documents = new Map(before);
  for (const [name, some] of changed) {
    if (some.length === 0) documents.delete(name);
    else documents.set(name, some);
  }
  return documents;
}

function inPlaceOrder(a: IndexedDocument, b: IndexedDocument): number {
  if (a.path === b.path) return a.index - b.index;
  return a.path < b.path ? -1 : 1;
}
