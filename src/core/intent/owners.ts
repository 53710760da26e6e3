/**
 * Which field managers own a place of a live object, read from `metadata.managedFields`.
 *
 * The sets are walked as they stand (`f:` a member, `k:` a keyed item, `v:` an item of a set, `i:` a position), nothing is
 * indexed: an object has few managers and is asked about few places.
 */
import { equalJson, isObject, type Json, type JsonObject, type Path, parseJson } from '../json.ts';

export interface FieldOwner {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation: string;
  /** '' for the object itself; `status`, `scale`, … */
  readonly subresource: string;
}

export interface FieldOwnership {
  /** False when the object carries no managedFields, so that nobody is known to own anything. */
  readonly known: boolean;
  /** Whoever owns anything. */
  readonly all: readonly FieldOwner[];
  /**
   * Owners of the place or of something below it. When there are none, those of the nearest place around it that is owned as a
   * whole (an atomic list or map). A path holds list positions of the live object.
   */
  of(path: Path): readonly FieldOwner[];
  /** Owners that name the place or something below it, without looking around it. */
  exactly(path: Path): readonly FieldOwner[];
}

interface Entry {
  readonly owner: FieldOwner;
  readonly fields: JsonObject;
}

/** How far an entry follows a path: all the way, or to a leaf that many steps down, or not at all. */
type Reach = { kind: 'exact' } | { kind: 'around'; depth: number } | { kind: 'none' };

export function fieldOwners(live: JsonObject): FieldOwnership {
  const entries = entriesOf(live);
  const reach = (path: Path) =>
    entries.map(({ owner, fields }) => ({ owner, reach: follow(fields, live, path) }));
  return {
    known: entries.length > 0,
    all: entries.map(({ owner }) => owner),
    of(path) {
      const reached = reach(path);
      const exact = reached.filter((entry) => entry.reach.kind === 'exact');
      if (exact.length > 0) return exact.map(({ owner }) => owner);
      const depth = Math.max(
        -1,
        ...reached.map((entry) => (entry.reach.kind === 'around' ? entry.reach.depth : -1)),
      );
      return reached
        .filter((entry) => entry.reach.kind === 'around' && entry.reach.depth === depth)
        .map(({ owner }) => owner);
    },
    exactly(path) {
      return reach(path)
        .filter((entry) => entry.reach.kind === 'exact')
        .map(({ owner }) => owner);
    },
  };
}

/** Stands for whoever wrote the object before the first server-side apply; it proves nothing about a field. */
const unknownPast = 'before-first-apply';

function entriesOf(live: JsonObject): Entry[] {
  const managed = isObject(live.metadata) ? live.metadata.managedFields : undefined;
  if (!Array.isArray(managed)) return [];
  return managed.flatMap((entry) => {
    if (!isObject(entry) || typeof entry.manager !== 'string' || !isObject(entry.fieldsV1)) return [];
    if (entry.manager === unknownPast) return [];
    const owner = {
      manager: entry.manager,
      operation: typeof entry.operation === 'string' ? entry.operation : '',
      subresource: typeof entry.subresource === 'string' ? entry.subresource : '',
    };
    return [{ owner, fields: entry.fieldsV1 }];
  });
}

function follow(fields: JsonObject, live: JsonObject, path: Path): Reach {
  let node = fields;
  let value: Json | undefined = live;
  for (const [depth, step] of path.entries()) {
    const child: JsonObject | undefined =
      typeof step === 'string' ? memberOf(node, `f:${step}`) : itemOf(node, value, step);
    if (child === undefined) return around(node, depth);
    node = child;
    value = stepInto(value, step);
  }
  return { kind: 'exact' };
}

/** A leaf owns all that is below it; a set with members owns only those. */
function around(node: JsonObject, depth: number): Reach {
  return depth > 0 && Object.keys(node).length === 0 ? { kind: 'around', depth } : { kind: 'none' };
}

function memberOf(node: JsonObject, key: string): JsonObject | undefined {
  const child = Object.hasOwn(node, key) ? node[key] : undefined;
  return isObject(child) ? child : undefined;
}

function itemOf(node: JsonObject, list: Json | undefined, index: number): JsonObject | undefined {
  const item = Array.isArray(list) ? list[index] : undefined;
  if (item === undefined) return undefined;
  const key = Object.keys(node).find((candidate) => names(candidate, item, index));
  return key === undefined ? undefined : memberOf(node, key);
}

function names(key: string, item: Json, index: number): boolean {
  if (key.startsWith('i:')) return key.slice(2) === String(index);
  if (!key.startsWith('k:') && !key.startsWith('v:')) return false;
  const stated = parseStated(key.slice(2));
  if (key.startsWith('v:')) return equalJson(stated, item);
  if (!isObject(stated) || !isObject(item)) return false;
  return Object.entries(stated).every(([name, value]) => equalJson(item[name], value));
}

function parseStated(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function stepInto(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
