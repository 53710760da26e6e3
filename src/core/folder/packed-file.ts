/**
 * One file of an index in few bytes. Most files hold one plain record that is named like the file, and thousands of them share
 * all else they state: such a file is no more than a pointer to what it shares.
 */
import type { ObjectId } from '../identity.ts';
import type { IndexedDocument, IndexedFile } from './indexed-file.ts';
import type { TreeEntry } from './tree.ts';

type Facts = Omit<ObjectId, 'name'> & Pick<IndexedDocument, 'apiVersion' | 'encrypted'>;

/** A file of one plain record; its name is the stem of the path. */
interface Plain {
  readonly facts: Facts;
}

/** A file of one plain record of another name. */
interface Named extends Plain {
  readonly name: string;
}

export type PackedFile = Plain | Named | IndexedFile;

/** Says which records are wanted by all but their name. */
export type Wants = (facts: Omit<ObjectId, 'name'>) => boolean;

/** More kinds and namespaces than this in one folder, and some are kept twice. */
const mostShared = 1_000;

/** What the files of a folder share. It only saves memory: what is taken out of it never changes. */
export class FactsPool {
  readonly #known = new Map<string, Plain>();

  of({ id: { group, kind, namespace }, apiVersion, encrypted }: IndexedDocument): Plain {
    const key = JSON.stringify([group, kind, namespace, apiVersion, encrypted]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= mostShared) this.#known.clear();
    const plain: Plain = { facts: { group, kind, namespace, apiVersion, encrypted } };
    this.#known.set(key, plain);
    return plain;
  }
}

export function packFile(file: IndexedFile, pool: FactsPool): PackedFile {
  const [document] = file.documents;
  if (document === undefined || !isOnePlainRecord(file, document)) return file;
  const plain = pool.of(document);
  const { name } = document.id;
  return isStem(file.entry.path, name) ? plain : { facts: plain.facts, name };
}

/** The file as it was packed, at the place it has now. */
export function unpackFile(packed: PackedFile, entry: TreeEntry): IndexedFile {
  if ('documents' in packed) return packed.entry === entry ? packed : { ...packed, entry };
  return { entry, documents: [recordOf(packed, entry.path)], filled: 1, isUnclear: false };
}

/** The records of that name, in document order. */
export function recordsNamed(
  packed: PackedFile,
  path: string,
  name: string,
  wants: Wants,
): readonly IndexedDocument[] {
  if ('documents' in packed)
    return packed.documents.filter((document) => document.id.name === name && wants(document.id));
  return holdsName(packed, path, name) && wants(packed.facts) ? [recordOf(packed, path)] : [];
}

export function holdsName(packed: PackedFile, path: string, name: string): boolean {
  if ('documents' in packed) return packed.documents.some(({ id }) => id.name === name);
  return 'name' in packed ? packed.name === name : isStem(path, name);
}

/** Each name once, in document order. */
export function namesOf(packed: PackedFile, path: string): readonly string[] {
  if ('documents' in packed) return [...new Set(packed.documents.map(({ id }) => id.name))];
  return ['name' in packed ? packed.name : stemOf(path)];
}

export function countRecords(packed: PackedFile): number {
  return 'documents' in packed ? packed.documents.length : 1;
}

function isOnePlainRecord(file: IndexedFile, { index, notEditable, scales }: IndexedDocument): boolean {
  return (
    file.documents.length === 1 &&
    file.filled === 1 &&
    index === 0 &&
    notEditable === undefined &&
    scales === undefined &&
    file.parsed === undefined &&
    file.skipped === undefined &&
    !file.isUnclear
  );
}

function recordOf(packed: Plain | Named, path: string): IndexedDocument {
  const { group, kind, namespace, apiVersion, encrypted } = packed.facts;
  const name = 'name' in packed ? packed.name : stemOf(path);
  return { apiVersion, id: { group, kind, namespace, name }, encrypted, path, index: 0 };
}

/** The last segment of a path without its ending. */
function stemOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, endOfStem(path));
}

function isStem(path: string, name: string): boolean {
  const start = path.lastIndexOf('/') + 1;
  return endOfStem(path) - start === name.length && path.startsWith(name, start);
}

function endOfStem(path: string): number {
  const dot = path.lastIndexOf('.');
  return dot > path.lastIndexOf('/') ? dot : path.length;
}
