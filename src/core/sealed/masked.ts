/**
 * The remembered state of a sensitive object: every value replaced by a keyed digest of itself and its place. It tells which
 * values changed, and no value can be read from it.
 */
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../json.ts';

/** A keyed digest of a value at a place; the same for the same value at the same place. */
export type Mask = (path: Path, value: Json) => string;

/** The object with its values masked; what says which object it is stays. */
export function masked(object: JsonObject, mask: Mask): JsonObject {
  return walk(object, [], (path, value) => (isOpen(path) ? value : mask(path, value)));
}

/** The masked object with the values back that `plain` still has; a value that is another one now stays masked. */
export function unmasked(object: JsonObject, plain: JsonObject, mask: Mask): JsonObject {
  return walk(object, [], (path, value) => {
    const now = isOpen(path) ? undefined : valueAt(plain, path);
    return now !== undefined && typeof now !== 'object' && mask(path, now) === value ? now : value;
  });
}

function isOpen([top, field, ...rest]: Path): boolean {
  if (top === 'apiVersion' || top === 'kind') return field === undefined;
  return top === 'metadata' && (field === 'name' || field === 'namespace') && rest.length === 0;
}

function walk(object: JsonObject, path: Path, leaf: (path: Path, value: Json) => Json): JsonObject {
  const visit = (value: Json, place: Path): Json => {
    if (isObject(value)) return walk(value, place, leaf);
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...place, index]));
    return value === null ? value : leaf(place, value);
  };
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, visit(value, [...path, key])]),
  );
}
