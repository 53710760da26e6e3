/**
 * Which items of two lists are the same item.
 *
 * Keyed lists pair by their keys, sets by value, the rest by content and order. Ports pair by name first: the name is what a person
 * sees and what stays when the number changes.
 */
import { canonicalJson, equalJson, isObject, type Json, type JsonObject, type Path } from '../../json.ts';
import { alignItems } from './alignment.ts';
import type { KindSchema } from './kind-schema.ts';

/** For each item of `left` the position of the same item in `right`, or undefined. No position comes twice. */
export function pairItems(
  schema: KindSchema,
  path: Path,
  left: readonly Json[],
  right: readonly Json[],
): (number | undefined)[] {
  if (schema.isSet(path)) return pairByText(left, right, canonicalJson);
  const keys = schema.listKeys(path);
  if (keys === undefined || !left.every(isObject) || !right.every(isObject))
    return alignItems(schema, path, left, right);
  const defaults = schema.keyDefaults(path);
  if (keys.length === 1 && !uniqueBy(left, keys, defaults, right))
    return alignItems(schema, path, left, right);
  const paired = isPortList(keys) ? pairByName(left, right) : left.map(() => undefined);
  return pairByKeys(left, right, keys, defaults, paired);
}

/** Where each step of a live path stands in the document, as deep as the document goes. */
export function alignPath(schema: KindSchema, live: JsonObject, document: JsonObject, path: Path): Path {
  const aligned: (string | number)[] = [];
  let from: Json | undefined = live;
  let to: Json | undefined = document;
  for (const [depth, step] of path.entries()) {
    let there: string | number = step;
    if (typeof step === 'number') {
      if (!Array.isArray(from) || !Array.isArray(to)) return aligned;
      const position = pairItems(schema, path.slice(0, depth), from, to)[step];
      if (position === undefined) return aligned;
      there = position;
    }
    from = memberAt(from, step);
    to = memberAt(to, there);
    if (to === undefined || to === null) return aligned;
    aligned.push(there);
  }
  return aligned;
}

function memberAt(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function pairByText(
  left: readonly Json[],
  right: readonly Json[],
  textOf: (item: Json) => string,
): (number | undefined)[] {
  const free = new Map<string, number[]>();
  for (const [index, item] of right.entries()) {
    const text = textOf(item);
    const positions = free.get(text);
    if (positions === undefined) free.set(text, [index]);
    else positions.push(index);
  }
  return left.map((item) => free.get(textOf(item))?.shift());
}

/** A list that repeats a key, or lacks one, has no pairs by key. */
function uniqueBy(
  left: readonly JsonObject[],
  keys: readonly string[],
  defaults: Readonly<Record<string, Json>>,
  right: readonly JsonObject[],
): boolean {
  return [left, right].every((items) => {
    const texts = items.map((item) => keyText(item, keys, defaults));
    return texts.every((text) => text !== undefined) && new Set(texts).size === texts.length;
  });
}

function isPortList(keys: readonly string[]): boolean {
  return keys.includes('port') || keys.includes('containerPort');
}

function pairByName(left: readonly JsonObject[], right: readonly JsonObject[]): (number | undefined)[] {
  const named = (items: readonly JsonObject[]): Map<string, number> => {
    const positions = new Map<string, number>();
    const repeated = new Set<string>();
    for (const [index, { name }] of items.entries()) {
      if (typeof name !== 'string' || name === '') continue;
      if (positions.has(name)) repeated.add(name);
      positions.set(name, index);
    }
    for (const name of repeated) positions.delete(name);
    return positions;
  };
  const ours = named(left);
  const theirs = named(right);
  return left.map(({ name }, index) => {
    if (typeof name !== 'string' || ours.get(name) !== index) return undefined;
    return theirs.get(name);
  });
}

/** Pairs what is not paired yet. Items that repeat a key pair with their equal first, then in order. */
function pairByKeys(
  left: readonly JsonObject[],
  right: readonly JsonObject[],
  keys: readonly string[],
  defaults: Readonly<Record<string, Json>>,
  paired: readonly (number | undefined)[],
): (number | undefined)[] {
  const taken = new Set(paired.filter((position) => position !== undefined));
  const groups = new Map<string, number[]>();
  for (const [index, item] of right.entries()) {
    const text = keyText(item, keys, defaults);
    if (taken.has(index) || text === undefined) continue;
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [index]);
    else group.push(index);
  }
  const result = [...paired];
  for (const choose of [isEqualItem, isAnyItem]) {
    for (const [index, item] of left.entries()) {
      if (result[index] !== undefined) continue;
      const group = groups.get(keyText(item, keys, defaults) ?? '') ?? [];
      const at = group.findIndex((position) => choose(item, right[position]));
      if (at >= 0) result[index] = group.splice(at, 1)[0];
    }
  }
  return result;
}

/** Everything that both state is the same. */
function isEqualItem(left: JsonObject, right: JsonObject | undefined): boolean {
  return (
    right !== undefined &&
    Object.keys(left).every((key) => !Object.hasOwn(right, key) || equalJson(left[key], right[key]))
  );
}

function isAnyItem(): boolean {
  return true;
}

function keyText(
  item: JsonObject,
  keys: readonly string[],
  defaults: Readonly<Record<string, Json>>,
): string | undefined {
  // The server takes an empty key for an absent one.
  const values = keys.map((key) => (item[key] === '' ? defaults[key] : (item[key] ?? defaults[key])));
  if (values.every((value) => value === undefined || value === null)) return undefined;
  return canonicalJson(values.map((value) => value ?? null));
}
