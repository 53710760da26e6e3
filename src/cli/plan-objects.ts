/** Kubernetes objects from files a person names: YAML with several documents, JSON, lists, standard input. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '../core/identity.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { readDocuments } from '../core/yaml/index.ts';
import { BadInput, reasonOf } from './bad-input.ts';
import { callerPath } from './caller-path.ts';
import { inputText } from './input-text.ts';

export interface ObjectFile {
  /** As the person wrote it; `-` is standard input. */
  readonly file: string;
  readonly objects: readonly JsonObject[];
}

/** Reads objects with an identity; lists are opened. Throws BadInput naming file and reason. */
export async function readObjects(file: string): Promise<ObjectFile> {
  const objects = (await readValues(file)).flatMap((value, position) => {
    const where = `${file} (document ${position + 1})`;
    return openList(value, where).map((object) => checked(object, where));
  });
  return { file, objects };
}

/** Reads every YAML and JSON file directly in a folder, or the one file. Documents that are no objects are passed over. */
export async function readObjectFolder(folder: string): Promise<JsonObject[]> {
  const path = callerPath(folder);
  try {
    const isFolder = (await stat(path)).isDirectory();
    const names = isFolder ? (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort() : [];
    const files = isFolder ? names.map((name) => join(path, name)) : [path];
    const values = await Promise.all(files.map((one) => readValues(one)));
    return values.flat().filter((value) => isObject(value));
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(`${folder}: ${reasonOf(error)}`, { cause: error });
  }
}

/** The values of a file, empty documents left out. */
export async function readValues(file: string): Promise<Json[]> {
  const text = await inputText(file);
  if (file.endsWith('.json') || isJson(text)) return [jsonOf(file, text)];
  return readDocuments(text).flatMap((document) => {
    if (document.kind === 'empty') return [];
    if (document.kind === 'unreadable')
      throw new BadInput(`${file}: line ${document.line}: ${document.message}`);
    return [document.value];
  });
}

/** YAML flow maps start with a brace, too, so only what parses as JSON is JSON. */
function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function jsonOf(file: string, text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new BadInput(`${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** A `List` holds whole objects; in a typed list the items leave out what the list says already. */
function openList(value: Json, where: string): Json[] {
  if (!isObject(value) || typeof value.kind !== 'string' || !value.kind.endsWith('List')) return [value];
  if (!Array.isArray(value.items)) {
    // A kind of one's own may end in List, too.
    if (identify(value) !== undefined) return [value];
    throw new BadInput(`${where}: a ${value.kind} without items`);
  }
  const kind = value.kind.slice(0, -'List'.length);
  const shared = kind === '' ? {} : { apiVersion: value.apiVersion ?? null, kind };
  return value.items.map((item) => (isObject(item) ? { ...shared, ...item } : item));
}

function checked(value: Json, where: string): JsonObject {
  if (!isObject(value)) throw new BadInput(`${where}: not a Kubernetes object`);
  if (identify(value) === undefined) {
    throw new BadInput(`${where}: not a Kubernetes object, it needs apiVersion, kind and metadata.name`);
  }
  return value;
}
