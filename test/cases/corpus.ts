/** The cases from the field, read where they lie beside the project. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Tree } from '../../src/core/folder/index.ts';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import { decodeFile, readDocuments } from '../../src/core/yaml/index.ts';

const root = resolve(import.meta.dirname, '../../../shared/cases');

/** The folder of a case by its number, or undefined when the corpus is not there. */
export async function caseFolder(id: string): Promise<string | undefined> {
  if (!existsSync(root)) return undefined;
  const name = (await readdir(root)).find((one) => one.startsWith(`${id}-`));
  return name === undefined ? undefined : join(root, name);
}

export type Files = ReadonlyMap<string, Uint8Array>;

/** Every file below a folder, by relative path. */
export async function filesOf(folder: string): Promise<Files> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, Uint8Array>();
  for (const entry of found) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), await readFile(path));
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export async function objectsOf(path: string): Promise<JsonObject[]> {
  const decoded = decodeFile(await readFile(path));
  if (!decoded.ok) throw new Error(`${path}: ${decoded.message}`);
  return readDocuments(decoded.text).flatMap((document) =>
    document.kind === 'value' && isObject(document.value) ? [document.value] : [],
  );
}

export function treeOf(files: Files): Tree {
  const entries = [...files].map(([path, bytes]) => ({
    path,
    mode: '100644' as const,
    id: Buffer.from(bytes).toString('base64'),
    size: bytes.length,
  }));
  return {
    entries: () => entries,
    read: async (path) => files.get(path) ?? Promise.reject(new Error(`${path} is not in the tree`)),
  };
}
