/**
 * Defaults that a CRD schema states. The server applies one where the key is absent and its parent is there; it invents a
 * parent only when that has a default itself.
 */
import { isObject, type Json, type Path, valueAt } from '../../json.ts';
import { type Context, hasParent } from './context.ts';
import { equalByMeaning } from './equal.ts';
import type { Facts, KindSchema } from './kind-schema.ts';
import { type TypeNode, typeAt } from './types.ts';

/** Is the live field what the schema fills in for this document? */
export function schemaDefault(facts: Facts, schema: KindSchema, context: Context): boolean {
  if (hasParent(context) && isKeptNull(facts, context)) return false;
  if (isDefault(facts, schema, context.path, context.value)) {
    if (hasParent(context) || context.path.length - 1 <= context.aligned.length) return true;
    const parent = context.path.slice(0, -1);
    if (hasOwnContent(facts, schema, parent, valueAt(context.live, parent) ?? null)) return true;
  }
  // A member of an object that is a default as a whole.
  for (let depth = context.path.length - 1; depth > context.aligned.length; depth -= 1) {
    const path = context.path.slice(0, depth);
    if (isDefault(facts, schema, path, valueAt(context.live, path) ?? null)) return true;
  }
  return false;
}

/** The value the schema gives an absent field at this path, with the defaults of its own members. */
export function initialAt(facts: Facts, path: Path): Json | undefined {
  const node = typeAt(facts.type, path);
  return node?.initial === undefined ? undefined : filled(node.initial, node);
}

/** The document states a null that the schema allows: the server keeps it. */
function isKeptNull(facts: Facts, context: Context): boolean {
  const path = [...context.aligned, context.path.at(-1) ?? ''];
  return typeAt(facts.type, context.path)?.nullable === true && valueAt(context.document, path) === null;
}

function isDefault(facts: Facts, schema: KindSchema, path: Path, value: Json): boolean {
  const initial = initialAt(facts, path);
  return initial !== undefined && equalByMeaning(value, initial, schema, path);
}

/** Something besides defaults stands in the parent, so it will be written. */
function hasOwnContent(facts: Facts, schema: KindSchema, path: Path, value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return true;
  const node = typeAt(facts.type, path);
  return Object.entries(value).some(([key, member]) => {
    const child = node?.step(key);
    if (child?.initial === undefined) return true;
    return !equalByMeaning(member, filled(child.initial, child), schema, [...path, key]);
  });
}

/** A default with the defaults of its own members. */
function filled(value: Json, node: TypeNode): Json {
  if (Array.isArray(value)) return value.map((item, index) => filledMember(item, node.step(index)));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key, filledMember(member, node.step(key))] as const,
  );
  const result = Object.fromEntries(members);
  for (const key of node.defaulted) {
    const child = node.step(key);
    if (!Object.hasOwn(result, key) && child?.initial !== undefined)
      result[key] = filled(child.initial, child);
  }
  return result;
}

function filledMember(value: Json, node: TypeNode | undefined): Json {
  return node === undefined ? value : filled(value, node);
}
