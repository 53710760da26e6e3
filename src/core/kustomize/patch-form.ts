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

interface Forming {
  readonly schema: KindSchema;
  readonly trusting: boolean;
}

const identity = new Set(['apiVersion', 'kind']);
/** First in a list of a patch: the list takes the place of the other one. */
const replaces: JsonObject = { $patch: 'replace' };

function replacing(list: Json): Json[] | undefined {
  return Array.isArray(list) && equalJson(list[0], replaces) ? list.slice(1) : undefined;
}

/**
 * Sets in a patch the wanted values of the fields it states. Fields it does not state are left to others.
 *
 * `trusting`: what the patch alone added or took away is taken for undone once the patch says nothing of it any more.
 */
export function patchForm(
  schema: KindSchema,
  views: { readonly patch: JsonObject; readonly built: JsonObject; readonly wanted: JsonObject },
  trusting: boolean,
) {
  const { patch, built, wanted } = views;
  const form = mapForm({ schema, trusting }, [], patch, built, wanted);
  return {
    patch: isObject(form.patch) ? form.patch : {},
    wanted: isObject(form.wanted) ? form.wanted : wanted,
  };
}

function valueForm(forming: Forming, path: Path, patch: Json, built: Maybe, wanted: Maybe): Form {
  if (equalJson(built, wanted)) return { patch, wanted };
  if (isObject(patch) && isObject(built) && isObject(wanted))
    return mapForm(forming, path, patch, built, wanted);
  const whole = replacing(patch);
  if (whole !== undefined && Array.isArray(wanted) && equalJson(whole, built))
    return { patch: [replaces, ...wanted], wanted: built };
  if (Array.isArray(patch) && Array.isArray(built) && Array.isArray(wanted)) {
    const form = listForm(forming, path, patch, built, wanted);
    if (form !== undefined) return form;
  }
  // A patch that says null takes the field away; without it the field comes back.
  if (patch === null)
    return built === undefined
      ? { patch: undefined, wanted: forming.trusting ? built : wanted }
      : { patch, wanted };
  return equalJson(patch, built) ? { patch: wanted, wanted: built } : { patch, wanted };
}

function mapForm(
  forming: Forming,
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
    const form = valueForm(forming, [...path, key], value, member(built, key), member(wanted, key));
    if (form.patch !== undefined) own[key] = form.patch;
    if (form.wanted === undefined) delete rest[key];
    else rest[key] = form.wanted;
  }
  const isEmptied = Object.keys(own).length === 0 && Object.keys(patch).length > 0 && path.length > 0;
  return { patch: isEmptied ? undefined : own, wanted: rest };
}

function listForm(
  forming: Forming,
  path: Path,
  patch: readonly Json[],
  built: readonly Json[],
  wanted: readonly Json[],
): Form | undefined {
  const { schema, trusting } = forming;
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
      else if (trusting) rest.delete(key);
      continue;
    }
    if (before === undefined || after === undefined) {
      if (before === undefined) own.push(item);
      // Gone live: the patch says nothing of it any more. What else states it is somebody else's to find.
      else if (trusting && equalJson(item, before)) rest.set(key, before);
      continue;
    }
    const form = mapForm(forming, [...path, 0], item, before, after);
    if (isObject(form.patch) && !saysNothing(form.patch, fields)) own.push(form.patch);
    if (isObject(form.wanted)) rest.set(key, form.wanted);
  }
  return { patch: own.length === 0 ? undefined : own, wanted: inOrder(rest, builds.keys, wants.keys) };
}

/** As wanted, but as built where only items that the patch alone gave came or went. */
function inOrder(
  items: ReadonlyMap<string, JsonObject>,
  built: readonly string[],
  wanted: readonly string[],
): JsonObject[] {
  const kept = (keys: readonly string[], others: readonly string[]): string[] =>
    keys.filter((key) => others.includes(key));
  const isAsBuilt =
    items.size === built.length &&
    built.every((key) => items.has(key)) &&
    equalJson(kept(built, wanted), kept(wanted, built));
  return (isAsBuilt ? built : [...items.keys()]).flatMap((key): JsonObject[] => {
    const item = items.get(key);
    return item === undefined ? [] : [item];
  });
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

/**
 * How a list is written into a patch: item by item; anew where items came, went or moved, when their order counts; or every
 * list as a whole, where kustomize knows no keys for the kind.
 */
export type ListStyle = 'by-key' | 'replace' | 'whole';

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
  if (!Array.isArray(before) || !Array.isArray(after)) return after;
  if (author.style === 'whole') return after;
  if (author.style === 'replace' && !sameItems(author, path, before, after))
    return after.every(isObject) ? [replaces, ...after] : after;
  return authorList(author, path, Array.isArray(patch) ? patch : [], before, after) ?? after;
}

function sameItems({ schema }: Author, path: Path, before: readonly Json[], after: readonly Json[]): boolean {
  const fields = keyFields(schema, path, [before, after]);
  const [from, to] = [keyItems(schema, path, before, fields), keyItems(schema, path, after, fields)];
  return (
    fields !== undefined && from !== undefined && to !== undefined && equalJson([...from.keys], [...to.keys])
  );
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
    if (equalJson(replacing(patch) ?? patch, beneath)) return undefined;
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
