/**
 * The index of a folder: identity -> path and position, and what in the folder is not readable.
 */
import type { ObjectId } from '../identity.ts';
import { objectKey } from '../identity.ts';
import type { IndexCache } from './cache.ts';
import { type IgnoreRules, ignoreNothing, readIgnoreFile } from './ignore.ts';
import { type FileDocument, type ParsedFile, parseFile, type ScaleTarget } from './parsed-file.ts';
import { type PathScope, pathScope } from './path.ts';
import { ignoreFileName, type Role, roleOf } from './role.ts';
import { isInside, joinPath, relativeTo, type Tree, type TreeEntry } from './tree.ts';

const maxIgnoreFileBytes = 256 * 1024;
/** Larger files are not even read; the reader's own limit is lower. */
const maxReadBytes = 16 * 1024 * 1024;

export interface IndexedDocument {
  /** As written: the namespace is '' when the document states none. */
  readonly id: ObjectId;
  readonly apiVersion: string;
  readonly path: string;
  /** Position among the documents of the file, empty ones counted. */
  readonly index: number;
  readonly notEditable?: string;
  readonly encrypted: boolean;
}

export interface IndexedFile {
  readonly entry: TreeEntry;
  readonly parsed: ParsedFile;
}

export interface Skipped {
  readonly path: string;
  /** A short phrase for a person. */
  readonly reason: string;
}

export interface UnclearFile {
  readonly path: string;
  /** False when the file is too large to look for a name in it. */
  readonly searchable: boolean;
}

export interface FolderIndex {
  readonly folder: string;
  /** Every file of the folder, by repository path. */
  readonly roles: ReadonlyMap<string, Role>;
  /** The files read for records, by repository path. */
  readonly files: ReadonlyMap<string, IndexedFile>;
  /** Records by group, kind and name, in path and document order. Namespaces are told apart by `findDocument`. */
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
  readonly scope: PathScope;
}

/** Reads the folder. Only files the cache does not know are read and parsed. */
export async function indexFolder(tree: Tree, folder: string, cache: IndexCache): Promise<FolderIndex> {
  const everything = tree.entries();
  const entries = everything
    .filter((entry) => isInside(entry.path, folder))
    .sort((a, b) => compareText(a.path, b.path));
  const ignore = await readIgnoreRules(tree, folder, entries);
  const roles = new Map<string, Role>();
  const files = new Map<string, IndexedFile>();
  for (const entry of entries) {
    const role = roleOf(relativeTo(entry.path, folder), entry.mode, ignore);
    roles.set(entry.path, role);
    if (role === 'manifest') files.set(entry.path, { entry, parsed: await parsed(tree, entry, cache) });
  }
  return {
    folder,
    roles,
    files,
    ...collect(files),
    kustomizations: entries.map((entry) => entry.path).filter((path) => roles.get(path) === 'kustomization'),
    unclear: entries
      .filter(({ path }) => isUnclear(path, roles.get(path), files.get(path)))
      .filter(({ path, size }) => size <= maxReadBytes || !path.endsWith('.json'))
      .map(({ path, size }) => ({ path, searchable: size <= maxReadBytes })),
    skipped: entries.flatMap((entry) => skippedAs(entry.path, roles.get(entry.path), files.get(entry.path))),
    ignore,
    scope: pathScope(everything, folder),
  };
}

/** The key of `FolderIndex.documents`. */
export function nameKey(id: ObjectId): string {
  return objectKey({ ...id, namespace: '' });
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

async function parsed(tree: Tree, entry: TreeEntry, cache: IndexCache): Promise<ParsedFile> {
  const known = cache.get(entry.id);
  if (known !== undefined) return known;
  if (entry.size > maxReadBytes) {
    return {
      ok: false,
      reason: 'TooLarge',
      message: `the file has ${entry.size} bytes, more than we read; split it`,
    };
  }
  const file = parseFile(await tree.read(entry.path));
  cache.set(entry.id, file);
  return file;
}

function collect(
  files: ReadonlyMap<string, IndexedFile>,
): Pick<FolderIndex, 'documents' | 'duplicates' | 'scaled'> {
  const documents = new Map<string, IndexedDocument[]>();
  const claims = new Map<string, IndexedDocument[]>();
  const scaled: (ScaleTarget & { namespace: string })[] = [];
  for (const [path, file] of files) {
    if (!file.parsed.ok) continue;
    for (const [index, document] of file.parsed.documents.entries()) {
      if (document.kind !== 'record') continue;
      const { id, apiVersion, notEditable, encrypted, scales } = document;
      if (scales !== undefined) scaled.push({ ...scales, namespace: id.namespace });
      const entry: IndexedDocument = {
        id,
        apiVersion,
        path,
        index,
        ...(notEditable === undefined ? {} : { notEditable }),
        encrypted,
      };
      push(documents, nameKey(id), entry);
      // A document that cannot be edited does not claim its identity.
      if (notEditable === undefined) push(claims, objectKey(id), entry);
    }
  }
  return { documents, duplicates: [...claims.values()].filter((some) => some.length > 1), scaled };
}

/** Holds text that could describe an object although it gave no record. JSON is not edited, but some appliers read it. */
function isUnclear(path: string, role: Role | undefined, file: IndexedFile | undefined): boolean {
  if (role === 'foreign') return path.endsWith('.json');
  if (file === undefined) return false;
  return !file.parsed.ok || file.parsed.documents.some((one) => isUnclearDocument(one));
}

function isUnclearDocument(document: FileDocument): boolean {
  if (document.kind === 'record') return isVariable(document.id.name) || isVariable(document.id.namespace);
  return document.kind !== 'empty';
}

/** A name that something replaces after Git: not yet the name of an object. */
function isVariable(text: string): boolean {
  return text.includes('${') || text.includes('{{');
}

function skippedAs(path: string, role: Role | undefined, file: IndexedFile | undefined): Skipped[] {
  if (role === 'symlink') return [{ path, reason: 'symbolic link, not followed' }];
  if (role === 'submodule') return [{ path, reason: 'submodule, not entered' }];
  if (file === undefined) return [];
  if (!file.parsed.ok) return [{ path, reason: `not readable: ${file.parsed.message}` }];
  const { documents } = file.parsed;
  for (const [index, document] of documents.entries()) {
    const where = documents.length > 1 ? `document ${index + 1}: ` : '';
    if (document.kind === 'unreadable') return [{ path, reason: `${where}not readable: ${document.reason}` }];
    if (document.kind === 'other') return [{ path, reason: `${where}${document.reason}` }];
  }
  return [];
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Plain code unit order: the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
