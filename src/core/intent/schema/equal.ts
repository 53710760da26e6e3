/**
 * Equality by meaning: quantities, int-or-string and durations by value where the schema says so, everything else exactly;
 * null and absent are equal.
 */
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../../json.ts';
import { parseDuration } from './duration.ts';
import type { KindSchema } from './kind-schema.ts';
import { pairItems } from './pairing.ts';
import { compareQuantities, parseQuantity } from './quantity.ts';
import type { Meaning } from './types.ts';

/** Lists whose order matters although their items have keys. */
const ordered: ReadonlySet<string | number> = new Set(['initContainers', 'env', 'envFrom']);

/** Does the order of this list mean something? Unkeyed lists always follow their order. */
export function isOrdered(schema: KindSchema, path: Path): boolean {
  if (schema.isSet(path)) return false;
  return schema.listKeys(path) === undefined || ordered.has(path.at(-1) ?? '');
}

/** Are two values at this path the same to Kubernetes? Lists paired by key and sets compare in any order. */
export function equalByMeaning(
  a: Json | undefined,
  b: Json | undefined,
  schema: KindSchema,
  path: Path,
): boolean {
  if (a === b) return true;
  if (a === null || a === undefined) return b === null || b === undefined;
  if (b === null || b === undefined) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b, schema, path);
  if (isObject(a)) return isObject(b) && equalObjects(a, b, schema, path);
  if (isObject(b) || Array.isArray(b)) return false;
  return equalScalars(a, b, schema.meaning(path));
}

/** Are two scalars the same under a meaning? Text that does not fit the meaning compares exactly. */
export function equalScalars(a: Json, b: Json, meaning: Meaning): boolean {
  if (equalJson(a, b)) return true;
  switch (meaning) {
    case 'exact':
      return false;
    case 'int-or-string':
      return isIntegerText(a) && isIntegerText(b) && BigInt(String(a)) === BigInt(String(b));
    case 'duration': {
      const left = parseDuration(a);
      return left !== undefined && left === parseDuration(b);
    }
    case 'quantity': {
      const left = parseQuantity(a);
      const right = parseQuantity(b);
      return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
    }
  }
}

function isIntegerText(value: Json): boolean {
  return /^-?\d{1,20}$/.test(String(value));
}

function equalObjects(a: JsonObject, b: JsonObject, schema: KindSchema, path: Path): boolean {
  for (const [key, value] of Object.entries(a)) {
    const other = Object.hasOwn(b, key) ? b[key] : undefined;
    if (!equalByMeaning(value, other, schema, [...path, key])) return false;
  }
  return Object.entries(b).every(([key, value]) => value === null || Object.hasOwn(a, key));
}

function equalLists(a: readonly Json[], b: readonly Json[], schema: KindSchema, path: Path): boolean {
  if (a.length !== b.length) return false;
  const pairs = isOrdered(schema, path) ? a.map((_item, index) => index) : pairItems(schema, path, a, b);
  return a.every((item, index) => {
    const at = pairs[index];
    return at !== undefined && equalByMeaning(item, b[at], schema, [...path, index]);
  });
}
