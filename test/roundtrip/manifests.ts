/** The manifests of the round trip: whole files of the shared corpora, with the objects that stand in them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { identify, type ObjectId } from '../../src/core/identity.ts';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import { type DocumentSlice, decodeFile, readDocuments } from '../../src/core/yaml/index.ts';

const shared = resolve(import.meta.dirname, '../../../shared');

export interface Manifest {
  readonly id: ObjectId;
  readonly value: JsonObject;
  readonly slice: DocumentSlice;
  /** The document as it stands in the file. */
  readonly text: string;
}

export interface ManifestFile {
  /** Relative to the shared folder. */
  readonly path: string;
  readonly text: string;
  readonly manifests: readonly Manifest[];
}

export interface Collection {
  readonly files: readonly ManifestFile[];
  /** Why how many files or documents are none of the round trip. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** All files with at least one object, in path order; undefined when the corpora are not there. */
export function collectManifests(): Collection | undefined {
  if (!existsSync(join(shared, 'corpora')) || !existsSync(join(shared, 'cases'))) return undefined;
  const leftOut = new Map<string, number>();
  const count = (why: string) => leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
  const files = [...yamlFiles('corpora'), ...yamlFiles('cases').filter(isBefore)].flatMap((path) => {
    const text = textOf(path);
    const why = notPlain(path, text);
    if (why === undefined)
      return [{ path: relative(shared, path), text, manifests: manifestsIn(text, count) }];
    count(why);
    return [];
  });
  return { files: files.filter(({ manifests }) => manifests.length > 0), leftOut };
}

function yamlFiles(folder: string): string[] {
  return readdirSync(join(shared, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function isBefore(path: string): boolean {
  return path.includes('/before/');
}

function textOf(path: string): string {
  const decoded = decodeFile(readFileSync(path));
  if (!decoded.ok) throw new Error(`${path}: ${decoded.message}`);
  return decoded.text;
}

function notPlain(path: string, text: string): string | undefined {
  if (/\/kustomization\.ya?ml$/.test(path)) return 'kustomization files';
  return text.includes('{{') ? 'files with templates' : undefined;
}

/** The objects of a file, in order. `leaveOut` hears of each document that holds none. */
export function manifestsIn(text: string, leaveOut: (why: string) => void = () => undefined): Manifest[] {
  return readDocuments(text).flatMap((document) => {
    if (document.kind === 'unreadable') leaveOut('unreadable documents');
    if (document.kind !== 'value') return [];
    const id = identify(document.value);
    if (id !== undefined && isObject(document.value)) {
      return [{ id, value: document.value, slice: document.slice, text: document.text }];
    }
    leaveOut('documents that are no whole object');
    return [];
  });
}
