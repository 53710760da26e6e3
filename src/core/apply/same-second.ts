/**
 * Who made a write that shows in no entry of managedFields. Their times are whole seconds: a second write of one manager
 * within a second changes its entry only when it grows. Then the values tell, because after any write each value it changed
 * belongs to its manager alone or together with others who applied the same.
 */
import { fieldOwners } from '../intent/owners.ts';
import {
  canonicalJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type Path,
  parseJson,
} from '../json.ts';

/** What is kept of an edit to compare the next version with, as text. */
export interface Kept {
  /** Without its status and what only the server sets. */
  readonly values: string;
  /** The managedFields as the edit left them. */
  readonly managed: string;
}

export function keptOf(object: JsonObject): Kept {
  const { status: _status, metadata, ...rest } = object;
  const { labels = {}, annotations = {}, managedFields = [] } = isObject(metadata) ? metadata : {};
  return {
    values: canonicalJson({ ...rest, metadata: { labels, annotations } }),
    managed: canonicalJson(managedFields),
  };
}

/**
 * Managers that own what changed or was added; '' stands for nobody. Empty when nothing but removals is to be seen: what is
 * gone has no owner.
 */
export function ownersOfChange({ values }: Kept, object: JsonObject): readonly string[] {
  return ownersOf(object, changedPaths(parseJson(values), parseJson(keptOf(object).values)));
}

/** Managers that owned what is gone, as the edit left it; '' stands for nobody. */
export function ownersOfRemoval({ values, managed }: Kept, object: JsonObject): readonly string[] {
  const before = parseJson(values);
  if (!isObject(before)) return [];
  const gone = changedPaths(parseJson(keptOf(object).values), before);
  return ownersOf({ ...before, metadata: { managedFields: parseJson(managed) } }, gone);
}

function ownersOf(object: JsonObject, paths: readonly Path[]): readonly string[] {
  const owners = fieldOwners(object);
  const managers = paths.flatMap((path) => {
    const found = owners.of(path).map(({ manager }) => manager);
    return found.length === 0 ? [''] : found;
  });
  return [...new Set(managers)];
}

/** Places whose value is new or another one. An item of a list that became longer or shorter counts as a whole. */
function changedPaths(before: Json | undefined, after: Json, path: Path = []): Path[] {
  if (equalJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    return Object.entries(after).flatMap(([key, value]) =>
      changedPaths(Object.hasOwn(before, key) ? before[key] : undefined, value, [...path, key]),
    );
  }
  if (!Array.isArray(before) || !Array.isArray(after)) return [path];
  if (before.length === after.length)
    return after.flatMap((item, index) => changedPaths(before[index], item, [...path, index]));
  const isOld = (item: Json) => before.some((old) => equalJson(old, item));
  return after.flatMap((item, index) => (isOld(item) ? [] : [[...path, index]]));
}
