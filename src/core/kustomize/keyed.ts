/** Lists whose items are told apart by keys, as kustomize and the API server merge them. */
import type { KindSchema } from '../intent/schema/index.ts';
import { canonicalJson, isObject, type Json, type JsonObject, type Path } from '../json.ts';

export interface Keyed {
  /** The key of every item, in order. */
  readonly keys: readonly string[];
  readonly items: ReadonlyMap<string, JsonObject>;
}

/** The items by key; undefined when one has no key or two share one. `keys`: undefined where the schema knows none. */
export function keyItems(
  schema: KindSchema,
  path: Path,
  list: readonly Json[],
  fields: readonly string[] | undefined = keyFields(schema, path, [list]),
): Keyed | undefined {
  if (fields === undefined) return undefined;
  const items = new Map<string, JsonObject>();
  const keys: string[] = [];
  for (const item of list) {
    if (!isObject(item)) return undefined;
    const values = fields.map((field) => item[field] ?? null);
    const key = canonicalJson(values);
    if (values[0] === null || items.has(key)) return undefined;
    items.set(key, item);
    keys.push(key);
  }
  return { keys, items };
}

/**
 * The fields that tell the items of all these lists apart: the schema's, or fewer of them where an item leaves one to its
 * default, or `name`.
 */
export function keyFields(
  schema: KindSchema,
  path: Path,
  lists: readonly (readonly Json[])[],
): readonly string[] | undefined {
  const own = schema.listKeys(path);
  const candidates = own === undefined ? [['name']] : [own, own.slice(0, 1), ['name']];
  return candidates.find(
    (fields) =>
      fields.length > 0 && lists.every((list) => keyItems(schema, path, list, fields) !== undefined),
  );
}
