/** Edits of kustomization files. Entries are found by name in the bytes as they stand; style and comments stay. */
import { joinPath } from '../folder/index.ts';
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../json.ts';
import type { EditOptions } from '../yaml/index.ts';
import { textOf } from './decode.ts';
import { parentOf, referenceTo, resolveReference } from './reference.ts';
import type { SetResult, Workspace } from './workspace.ts';

const options: EditOptions = {
  listKeys: (path: Path) => {
    if (path.length !== 1) return undefined;
    if (path[0] === 'images' || path[0] === 'replicas') return ['name'];
    return path[0] === 'configMapGenerator' ? ['name', 'namespace'] : undefined;
  },
};

/** Changes the fields of a kustomization. `change` returns the very value it got when there is nothing to do. */
export async function editKustomization(
  files: Workspace,
  file: string,
  change: (value: JsonObject) => JsonObject,
): Promise<SetResult> {
  const found = files.awaited(file) ?? (await kustomizationAt(files, file));
  if (found === undefined) return { ok: false, message: `${file} is not one readable kustomization` };
  const changed = change(found.value);
  if (changed === found.value || equalJson(changed, found.value)) return { ok: true };
  return await files.setLater(file, found.index, changed, options);
}

/** The fields of a kustomization as they stand; undefined when the file cannot be read as one. */
async function kustomizationAt(
  files: Workspace,
  file: string,
): Promise<{ readonly index: number; readonly value: JsonObject } | undefined> {
  const documents = await files.documents(file);
  const index = documents.findIndex(({ kind }) => kind === 'value');
  const document = documents[index];
  const isAlone = documents.filter(({ kind }) => kind === 'value').length === 1;
  return document?.kind === 'value' && isAlone && isObject(document.value)
    ? { index, value: document.value }
    : undefined;
}

/** Adds a file to `resources`, once. */
export function withResource(folder: string, path: string) {
  return (value: JsonObject): JsonObject => {
    const listed = listOf(value.resources);
    if (listed.some((one) => leadsTo(folder, one, path))) return value;
    return { ...value, resources: [...listed, styledLike(listed, referenceTo(folder, path))] };
  };
}

/** Entries with `./` before them make new ones look the same. */
function styledLike(listed: readonly Json[], reference: string): string {
  const isDotted =
    listed.length > 0 && listed.every((one) => typeof one === 'string' && /^\.{1,2}\//.test(one));
  return isDotted && !reference.startsWith('.') ? `./${reference}` : reference;
}

/** Takes a file out of `resources` and `bases`. An emptied list stays. */
export function withoutResource(folder: string, path: string) {
  return (value: JsonObject): JsonObject => {
    const result: JsonObject = { ...value };
    for (const field of ['resources', 'bases']) {
      const listed = listOf(value[field]);
      const kept = listed.filter((one) => !leadsTo(folder, one, path));
      if (kept.length < listed.length) result[field] = kept;
    }
    return result;
  };
}

/** Adds a patch file, once. */
export function withPatch(folder: string, path: string) {
  return (value: JsonObject): JsonObject => {
    const listed = listOf(value.patches);
    if (listed.some((one) => isObject(one) && leadsTo(folder, one.path, path))) return value;
    return { ...value, patches: [...listed, { path: referenceTo(folder, path) }] };
  };
}

/** Takes a patch file out; a list that is empty then goes with it, since we may have made it. */
export function withoutPatch(folder: string, path: string) {
  return (value: JsonObject): JsonObject => {
    const result: JsonObject = { ...value };
    for (const field of ['patches', 'patchesStrategicMerge']) {
      const listed = listOf(value[field]);
      const kept = listed.filter((one) => !leadsTo(folder, isObject(one) ? one.path : one, path));
      if (kept.length === listed.length) continue;
      if (kept.length === 0) delete result[field];
      else result[field] = kept;
    }
    return result;
  };
}

/** Sets fields of an `images` entry; '' takes one away. Without an entry of the name one is added at the end. */
export function withImage(index: number | undefined, name: string, set: Readonly<Record<string, string>>) {
  return (value: JsonObject): JsonObject => {
    const images = listOf(value.images);
    const at = positionOf(images, index, name);
    const before = at === undefined ? { name } : images[at];
    const entry: JsonObject = isObject(before) ? { ...before } : { name };
    for (const [field, text] of Object.entries(set)) {
      if (text === '') delete entry[field];
      else entry[field] = text;
    }
    if (at === undefined) return { ...value, images: [...images, entry] };
    return { ...value, images: images.map((one, position) => (position === at ? entry : one)) };
  };
}

/** Entries may share a name, so the position counts as long as the name stands there. */
function positionOf(entries: readonly Json[], index: number | undefined, name: string): number | undefined {
  const isNamed = (one: Json | undefined): boolean => isObject(one) && one.name === name;
  if (index !== undefined && isNamed(entries[index])) return index;
  const found = entries.findLastIndex(isNamed);
  return found < 0 ? undefined : found;
}

/** Sets the count of a `replicas` entry. */
export function withReplicas(name: string, count: Json) {
  return (value: JsonObject): JsonObject => {
    const entries = listOf(value.replicas);
    const at = entries.findLastIndex((one) => isObject(one) && one.name === name);
    if (at < 0) return { ...value, replicas: [...entries, { name, count }] };
    const set = (one: Json, position: number): Json =>
      position === at && isObject(one) ? { ...one, count } : one;
    return { ...value, replicas: entries.map(set) };
  };
}

export function withoutReplicas(name: string) {
  return (value: JsonObject): JsonObject => {
    const entries = listOf(value.replicas);
    const kept = entries.filter((one) => !isObject(one) || one.name !== name);
    if (kept.length === entries.length) return value;
    if (kept.length > 0) return { ...value, replicas: kept };
    const { replicas: _replicas, ...rest } = value;
    return rest;
  };
}

/** Changes the configMapGenerator entry of a name and namespace; undefined takes it away. */
export function withGenerator(
  name: string,
  namespace: string,
  change: (entry: JsonObject) => JsonObject | undefined,
) {
  return (value: JsonObject): JsonObject => {
    const isEntry = (one: Json): one is JsonObject =>
      isObject(one) && textOf(one.name) === name && textOf(one.namespace) === namespace;
    const entries = listOf(value.configMapGenerator);
    const changed = entries.flatMap((one): Json[] => {
      if (!isEntry(one)) return [one];
      const entry = change(one);
      return entry === undefined ? [] : [entry];
    });
    if (changed.length > 0) return { ...value, configMapGenerator: changed };
    const { configMapGenerator: _generators, ...rest } = value;
    return entries.length === 0 ? value : rest;
  };
}

function leadsTo(folder: string, reference: Json | undefined, path: string): boolean {
  return typeof reference === 'string' && resolveReference(folder, reference) === path;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Removes a patch file and every entry of it in the kustomization. */
export async function dropPatchFile(
  files: Workspace,
  kustomization: string,
  path: string,
): Promise<SetResult> {
  files.write(path, undefined);
  return await editKustomization(files, kustomization, withoutPatch(parentOf(kustomization), path));
}

/** Path of a file of ours beside a kustomization. */
export function besides(folder: string, kind: string, name: string, what: 'edits' | 'delete'): string {
  return joinPath(folder, `${kind.toLowerCase()}-${name.replaceAll(':', '-')}-${what}.yaml`);
}
