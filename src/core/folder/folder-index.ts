/**
 * The index of a folder: identity -> path and position, and what in the folder is not readable.
 *
 * Made for every plan, so it has to be cheap when little changed: the index of a folder is made from the one before.
 */
import { objectKey } from '../identity.ts';
import type { CachedFile, IndexCache } from './cache.ts';
import { FileTable } from './file-table.ts';
import { type IgnoreRules, ignoreNothing, readIgnoreFile } from './ignore.ts';
import { type IndexedDocument, type IndexedFile, indexFile, placedAt, type Skipped } from './indexed-file.ts';
import { FactsPool, packFile } from './packed-file.ts';
import { parseFile, type ScaleTarget } from './parsed-file.ts';
import { type PathScope, pathScope } from './path.ts';
import { differenceOf, isPlainDifference, updatedFiles } from './reindex.ts';
import { ignoreFileName, type Role, roleOf } from './role.ts';
import { joinPath, relativeTo, type Tree, type TreeEntry } from './tree.ts';

const maxIgnoreFileBytes = 256 * 1024;
/** Larger files are not even read; the reader's own limit is lower. */
const maxReadBytes = 16 * 1024 * 1024;
const groupFiles = 64;
const groupBytes = 512 * 1024;

export interface UnclearFile {
  readonly path: string;
  /** False when the file is too large to look for a name in it. */
  readonly searchable: boolean;
}

export interface FolderIndex {
  readonly folder: string;
  /** True when the tree holds no path under the folder. */
  readonly isEmpty: boolean;
  /** The files read for records, by repository path, in path order. */
  readonly files: ReadonlyMap<string, IndexedFile>;
  /** The roles of all other files, by repository path. */
  readonly others: ReadonlyMap<string, Role>;
  /** Records by `metadata.name`, in path and document order; see `findDocument`. */
  readonly documents: ReadonlyMap<string, readonly IndexedDocument[]>;
  /** Editable or encrypted documents of one identity; the first is named as the winner. */
  readonly duplicates: readonly (readonly IndexedDocument[])[];
  readonly kustomizations: readonly string[];
  /** Workloads whose size an autoscaler of this folder sets. */
  readonly scaled: readonly (ScaleTarget & { readonly namespace: string })[];
  /** Files that hold something we cannot read as one object; an object may stand there all the same. */
  readonly unclear: readonly UnclearFile[];
  /** What was skipped, once by path. */
  readonly skipped: readonly Skipped[];
  readonly ignore: IgnoreRules;
  /** For the path rules; made when first asked for, since only new documents need it. */
  scope(): PathScope;
}

/** Reads the folder. Only files the cache does not know are read and parsed, and only what differs from its last index is derived. */
export async function indexFolder(tree: Tree, folder: string, cache: IndexCache): Promise<FolderIndex> {
  const everything = tree.entries();
  const entries = entriesIn(everything, folder);
  const scope = remade(() => pathScope(everything, folder));
  const updated = await updateIndex(tree, folder, entries, cache);
  const { files, joined, ...index } = updated ?? (await buildIndex(tree, folder, entries, cache));
  const whole = { ...index, files, documents: files.documents, scope };
  cache.keepIndex({ files, index: whole }, joined);
  return whole;
}

/** In path order. Git lists them so already, unless names hold characters beyond the BMP. */
function entriesIn(everything: readonly TreeEntry[], folder: string): readonly TreeEntry[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const entries: TreeEntry[] = [];
  let isOrdered = true;
  let last = '';
  for (const entry of everything) {
    if (!entry.path.startsWith(prefix)) continue;
    isOrdered &&= last < entry.path;
    last = entry.path;
    entries.push(entry);
  }
  return isOrdered ? entries : entries.sort((a, b) => compareText(a.path, b.path));
}

type Made = Omit<FolderIndex, 'files' | 'documents' | 'scope'> & {
  readonly files: FileTable;
  /** Entries that the index before did not hold. */
  readonly joined: readonly TreeEntry[];
};

/** Undefined: it has to be made anew. */
async function updateIndex(
  tree: Tree,
  folder: string,
  entries: readonly TreeEntry[],
  cache: IndexCache,
): Promise<Made | undefined> {
  const before = cache.lastIndex(folder);
  if (before === undefined) return undefined;
  const difference = differenceOf(before.files.listing, entries);
  const { changed, gone } = difference;
  if (changed.length === 0 && gone.length === 0)
    return { ...before.index, files: before.files.in(entries), joined: [] };
  const old = [...changed, ...gone].flatMap(({ path }) => before.files.get(path) ?? []);
  cache.leave(old);
  if (!isPlainDifference(before, difference)) return undefined;
  const now = await indexedFiles(tree, changed, cache);
  const files = updatedFiles(before, entries, old, now);
  return files && { ...before.index, files, joined: changed };
}

async function buildIndex(
  tree: Tree,
  folder: string,
  entries: readonly TreeEntry[],
  cache: IndexCache,
): Promise<Made> {
  const ignore = await readIgnoreRules(tree, folder, entries);
  const manifests: TreeEntry[] = [];
  const others = new Map<string, Role>();
  for (const entry of entries) {
    const role = roleOf(relativeTo(entry.path, folder), entry.mode, ignore);
    if (role === 'manifest') manifests.push(entry);
    else others.set(entry.path, role);
  }
  const pool = new FactsPool();
  const packed = (await indexedFiles(tree, manifests, cache)).map((file) => packFile(file, pool)).values();
  const rows = entries.map(({ path }) => (others.has(path) ? undefined : packed.next().value));
  const files = new FileTable({ listing: entries, rows, pool });
  const { scaled, unclear, skipped } = collect(files);
  for (const { path, size } of entries) {
    const role = others.get(path);
    if (role === 'foreign' && path.endsWith('.json') && size <= maxReadBytes)
      unclear.push({ path, searchable: true });
    if (role === 'symlink') skipped.push({ path, reason: 'symbolic link, not followed' });
    if (role === 'submodule') skipped.push({ path, reason: 'submodule, not entered' });
  }
  return {
    folder,
    isEmpty: entries.length === 0,
    files,
    joined: entries,
    others,
    duplicates: [...files.documents.values()].flatMap(duplicatesAmong),
    kustomizations: [...others].flatMap(([path, role]) => (role === 'kustomization' ? [path] : [])),
    scaled,
    unclear,
    skipped: skipped.sort((a, b) => compareText(a.path, b.path)),
    ignore,
  };
}

/** In the order of the entries. */
async function indexedFiles(
  tree: Tree,
  entries: readonly TreeEntry[],
  cache: IndexCache,
): Promise<IndexedFile[]> {
  await readAhead(tree, entries, cache);
  const files: IndexedFile[] = [];
  for (const entry of entries) files.push(await indexedFile(tree, entry, cache));
  return files;
}

/**
 * Reads and parses what the cache lacks, many files at a time: one question after the other would wait for each answer.
 * A group is small enough that parsing it blocks nobody for long.
 */
async function readAhead(tree: Tree, entries: readonly TreeEntry[], cache: IndexCache): Promise<void> {
  let group = new Map<string, TreeEntry>();
  let bytes = 0;
  for (const entry of entries) {
    if (entry.size > maxReadBytes || group.has(entry.id) || cache.find(entry) !== undefined) continue;
    group.set(entry.id, entry);
    bytes += entry.size;
    if (group.size < groupFiles && bytes < groupBytes) continue;
    await readGroup(tree, group, cache);
    group = new Map();
    bytes = 0;
  }
  await readGroup(tree, group, cache);
}

async function readGroup(
  tree: Tree,
  group: ReadonlyMap<string, TreeEntry>,
  cache: IndexCache,
): Promise<void> {
  await Promise.all([...group.values()].map((entry) => readIntoCache(tree, entry, cache)));
}

async function indexedFile(tree: Tree, entry: TreeEntry, cache: IndexCache): Promise<IndexedFile> {
  const known = cache.find(entry) ?? (await readIntoCache(tree, entry, cache));
  return 'entry' in known ? placedAt(known, entry) : indexFile(entry, known);
}

async function readIgnoreRules(
  tree: Tree,
  folder: string,
  entries: readonly TreeEntry[],
): Promise<IgnoreRules> {
  const entry = entries.find((one) => one.path === joinPath(folder, ignoreFileName));
  if (entry === undefined || entry.mode === '120000' || entry.mode === '160000') return ignoreNothing;
  // A file too large to be a list of patterns hides nothing and is refused like a pattern that hides all.
  if (entry.size > maxIgnoreFileBytes) {
    return { ...ignoreNothing, refused: [`more than ${maxIgnoreFileBytes} bytes of patterns`] };
  }
  return readIgnoreFile(new TextDecoder().decode(await tree.read(entry.path)));
}

async function readIntoCache(tree: Tree, entry: TreeEntry, cache: IndexCache): Promise<CachedFile> {
  if (entry.size > maxReadBytes) {
    const message = `the file has ${entry.size} bytes, more than we read; split it`;
    return { ok: false, reason: 'TooLarge', message };
  }
  const file = parseFile(await tree.read(entry.path));
  cache.set(entry.id, file);
  return file;
}

interface Collected {
  readonly scaled: (ScaleTarget & { readonly namespace: string })[];
  readonly unclear: UnclearFile[];
  readonly skipped: Skipped[];
}

function collect(files: FileTable): Collected {
  const found: Collected = { scaled: [], unclear: [], skipped: [] };
  for (const { entry, documents, isUnclear, skipped } of files.unusual()) {
    for (const { scales, id } of documents)
      if (scales !== undefined) found.scaled.push({ ...scales, namespace: id.namespace });
    if (isUnclear) found.unclear.push({ path: entry.path, searchable: entry.size <= maxReadBytes });
    if (skipped !== undefined) found.skipped.push(skipped);
  }
  return found;
}

/** A document that cannot be edited does not claim its identity. */
function duplicatesAmong(documents: readonly IndexedDocument[]): IndexedDocument[][] {
  if (documents.length < 2) return [];
  const claims = Map.groupBy(
    documents.filter(({ notEditable }) => notEditable === undefined),
    (one: IndexedDocument) => objectKey(one.id),
  );
  return [...claims.values()].filter((some) => some.length > 1);
}

/** Made when first asked for, and again when its memory was needed meanwhile. */
function remade<T extends object>(make: () => T): () => T {
  let made: WeakRef<T> | undefined;
  return () => {
    const kept = made?.deref() ?? make();
    made = new WeakRef(kept);
    return kept;
  };
}

/** Plain code unit order: the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
