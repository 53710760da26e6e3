/**
 * Strategic-merge patches: an edit set in a patch that states the field, and an edit written as a patch of its own.
 */
import type { KindSchema } from '../intent/schema/index.ts';
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { keyFields, keyItems } from './keyed.ts';
import { member, NoPlace } from './source-form.ts';

type Maybe = Json | undefined;

interface Form {
  /** The patch's value; undefined when it says nothing here any more. */
  readonly patch: Maybe;
  /** What is wanted, without the edits that the patch took: those are as built. */
  readonly wanted: Maybe;
}

const identity = new Set(['apiVersion', 'kind']);

/** Sets in a patch the wanted values of the fields it states. Fields it does not state are left to others. */
export function patchForm(schema: KindSchema, patch: JsonObject, built: JsonObject, wanted: JsonObject) {
  const form = mapForm(schema, [], patch, built, wanted);
  return {
    patch: isObject(form.patch) ? form.patch : {},
    wanted: isObject(form.wanted) ? form.wanted : wanted,
  };
}

function valueForm(schema: KindSchema, path: Path, patch: Json, built: Maybe, wanted: Maybe): Form {
  if (equalJson(built, wanted)) return { patch, wanted };
  if (isObject(patch) && isObject(built) && isObject(wanted))
    return mapForm(schema, path, patch, built, wanted);
  if (Array.isArray(patch) && Array.isArray(built) && Array.isArray(wanted)) {
    const form = listForm(schema, path, patch, built, wanted);
    if (form !== undefined) return form;
  }
  // A patch that says null takes the field away; without it the field comes back.
  if (patch === null) return built === undefined ? { patch: undefined, wanted } : { patch, wanted };
  return equalJson(patch, built) ? { patch: wanted, wanted: built } : { patch, wanted };
}

function mapForm(
  schema: KindSchema,
  path: Path,
  patch: JsonObject,
  built: JsonObject,
  wanted: JsonObject,
): Form {
  const own: JsonObject = {};
  const rest: JsonObject = { ...wanted };
  for (const [key, value] of Object.entries(patch)) {
    if (isDirective(key) || isIdentity(path, key)) {
      own[key] = value;
      continue;
    }
    const form = valueForm(schema, [...path, key], value, member(built, key), member(wanted, key));
    if (form.patch !== undefined) own[key] = form.patch;
    if (form.wanted === undefined) delete rest[key];
    else rest[key] = form.wanted;
  }
  const isEmptied = Object.keys(own).length === 0 && Object.keys(patch).length > 0 && path.length > 0;
  return { patch: isEmptied ? undefined : own, wanted: rest };
}

function listForm(
  schema: KindSchema,
  path: Path,
  patch: readonly Json[],
  built: readonly Json[],
  wanted: readonly Json[],
): Form | undefined {
  const fields = keyFields(schema, path, [patch, built, wanted]);
  const patches = keyItems(schema, path, patch, fields);
  const builds = keyItems(schema, path, built, fields);
  const wants = keyItems(schema, path, wanted, fields);
  if (fields === undefined || patches === undefined || builds === undefined || wants === undefined)
    return undefined;
  const own: Json[] = [];
  const rest = new Map(wants.items);
  for (const key of patches.keys) {
    const item = patches.items.get(key) ?? {};
    const [before, after] = [builds.items.get(key), wants.items.get(key)];
    if (item.$patch === 'delete') {
      // Taken away by the patch and wanted again: the patch lets it through, the rest is compared later.
      if (after === undefined) own.push(item);
      continue;
    }
    if (before === undefined || after === undefined) {
      if (before === undefined) own.push(item);
      // Gone live: the patch says nothing of it any more; where it came from is somebody else's to find.
      continue;
    }
    const form = mapForm(schema, [...path, 0], item, before, after);
    if (isObject(form.patch) && !saysNothing(form.patch, fields)) own.push(form.patch);
    if (isObject(form.wanted)) rest.set(key, form.wanted);
  }
  const order = wants.keys.flatMap((key) => rest.get(key) ?? []);
  return { patch: own.length === 0 ? undefined : own, wanted: order };
}

/** Only the keys that name the item are left. */
function saysNothing(item: JsonObject, fields: readonly string[]): boolean {
  return Object.keys(item).every((key) => fields.includes(key));
}

function isDirective(key: string): boolean {
  return key.startsWith('$');
}

function isIdentity(path: Path, key: string): boolean {
  if (path.length === 0) return identity.has(key);
  return path.length === 1 && path[0] === 'metadata' && (key === 'name' || key === 'namespace');
}

/** How a list is written into a patch: item by item, or as a whole where kustomize knows no keys for the kind. */
export type ListStyle = 'by-key' | 'whole';

/**
 * The patch with everything in it that makes `built` the wanted value.
 * @throws NoPlace when a list changed in a way that no patch can say.
 */
export function authorForm(
  schema: KindSchema,
  patch: JsonObject,
  built: JsonObject,
  wanted: JsonObject,
  style: ListStyle,
): JsonObject {
  return authorMap({ schema, style }, [], patch, built, wanted);
}

interface Author {
  readonly schema: KindSchema;
  readonly style: ListStyle;
}

function authorMap(
  author: Author,
  path: Path,
  patch: JsonObject,
  built: JsonObject,
  wanted: JsonObject,
): JsonObject {
  const result: JsonObject = { ...patch };
  for (const key of new Set([...Object.keys(built), ...Object.keys(wanted)])) {
    const [before, after] = [member(built, key), member(wanted, key)];
    if (equalJson(before, after) || isIdentity(path, key)) continue;
    result[key] = authorValue(author, [...path, key], member(patch, key), before, after);
  }
  return result;
}

function authorValue(author: Author, path: Path, patch: Maybe, before: Maybe, after: Maybe): Json {
  if (after === undefined) return null;
  if (isObject(before) && isObject(after))
    return authorMap(author, path, isObject(patch) ? patch : {}, before, after);
  if (Array.isArray(before) && Array.isArray(after) && author.style === 'by-key') {
    return authorList(author, path, Array.isArray(patch) ? patch : [], before, after) ?? after;
  }
  return after;
}

/** Undefined when the items have no keys: the list is then one value. */
function authorList(
  author: Author,
  path: Path,
  patch: readonly Json[],
  before: readonly Json[],
  after: readonly Json[],
): Json[] | undefined {
  const { schema } = author;
  const fields = keyFields(schema, path, [patch, before, after]);
  const patches = keyItems(schema, path, patch, fields);
  const builds = keyItems(schema, path, before, fields);
  const wants = keyItems(schema, path, after, fields);
  if (fields === undefined || patches === undefined || builds === undefined || wants === undefined)
    return undefined;
  const own = new Map(patches.items);
  for (const key of wants.keys) {
    const [built, want] = [builds.items.get(key), wants.items.get(key) ?? {}];
    if (built === undefined) own.set(key, want);
    else if (!equalJson(built, want)) {
      const known = own.get(key) ?? pick(want, fields);
      own.set(key, authorMap(author, [...path, 0], known, built, want));
    }
  }
  for (const key of builds.keys) {
    if (wants.items.has(key)) continue;
    own.set(key, { $patch: 'delete', ...pick(builds.items.get(key) ?? {}, fields) });
  }
  const kept = wants.keys.filter((key) => builds.items.has(key));
  const order = builds.keys.filter((key) => wants.items.has(key));
  if (own.size === patches.items.size && !equalJson([...kept], [...order])) throw new NoPlace(path);
  return [...own.values()];
}

function pick(item: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = member(item, field);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** The patch without what the object says all the same; undefined when nothing is left. */
export function withoutRedundant(
  schema: KindSchema,
  patch: JsonObject,
  beneath: JsonObject,
): JsonObject | undefined {
  const rest = needed(schema, [], patch, beneath);
  if (!isObject(rest)) return undefined;
  const { metadata, ...body } = rest;
  const marks = isObject(metadata) ? Object.keys(metadata) : [];
  const isBare =
    Object.keys(body).every((key) => identity.has(key)) &&
    marks.every((key) => key === 'name' || key === 'namespace');
  return isBare ? undefined : rest;
}

function needed(schema: KindSchema, path: Path, patch: Json, beneath: Maybe): Maybe {
  if (patch === null) return beneath === undefined || beneath === null ? undefined : null;
  if (isObject(patch)) {
    if (!isObject(beneath)) return patch;
    const own = Object.entries(patch).flatMap(([key, value]): [string, Json][] => {
      if (isDirective(key) || isIdentity(path, key)) return [[key, value]];
      const rest = needed(schema, [...path, key], value, member(beneath, key));
      return rest === undefined ? [] : [[key, rest]];
    });
    return own.length === 0 ? undefined : Object.fromEntries(own);
  }
  if (Array.isArray(patch) && Array.isArray(beneath)) {
    if (equalJson(patch, beneath)) return undefined;
    return neededItems(schema, path, patch, beneath);
  }
  return equalJson(patch, beneath) ? undefined : patch;
}

function neededItems(
  schema: KindSchema,
  path: Path,
  patch: readonly Json[],
  beneath: readonly Json[],
): Maybe {
  const fields = keyFields(schema, path, [patch, beneath]);
  const patches = keyItems(schema, path, patch, fields);
  const others = keyItems(schema, path, beneath, fields);
  if (fields === undefined || patches === undefined || others === undefined) return [...patch];
  const own = patches.keys.flatMap((key): Json[] => {
    const item = patches.items.get(key) ?? {};
    const other = others.items.get(key);
    if (item.$patch === 'delete') return other === undefined ? [] : [item];
    if (other === undefined) return [item];
    const rest = needed(schema, [...path, 0], { ...item }, other);
    if (!isObject(rest)) return [];
    const named = { ...pick(item, fields), ...rest };
    return saysNothing(rest, fields) ? [] : [named];
  });
  return own.length === 0 ? undefined : own;
}
