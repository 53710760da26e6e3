/** Which items of lists belong together where the schema alone does not say. */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { covers } from './judge.ts';
import type { KindSchema } from './schema/index.ts';

/** Above this many comparisons only the same positions are compared. */
const comparisonLimit = 40_000;

/** Whether the items of these lists can be told apart by the schema's keys. */
export function isKeyed(schema: KindSchema, path: Path, lists: readonly (readonly Json[])[]): boolean {
  const keys = schema.listKeys(path);
  if (keys === undefined) return false;
  const defaults = schema.keyDefaults(path);
  return lists.every((items) =>
    items.every((item) => isObject(item) && keys.some((key) => hasKey(item, key, defaults))),
  );
}

function hasKey(item: JsonObject, key: string, defaults: Readonly<Record<string, Json>>): boolean {
  const value = Object.hasOwn(item, key) ? item[key] : undefined;
  return value !== undefined && value !== null && !(Object.hasOwn(defaults, key) && defaults[key] === value);
}

/**
 * For each live item of an unkeyed list the position of the stated item it comes from: one that says the same first, then one
 * of the same name, then by position. No position comes twice.
 */
export function pairLoosely(
  schema: KindSchema,
  path: Path,
  stated: readonly Json[],
  live: readonly Json[],
): (number | undefined)[] {
  const pairs: (number | undefined)[] = live.map(() => undefined);
  const free = new Set(stated.keys());
  const take = (index: number, at: number | undefined): void => {
    if (at === undefined || !free.delete(at)) return;
    pairs[index] = at;
  };
  const says = (at: number, index: number): boolean =>
    covers(schema, [...path, index], stated[at] ?? null, live[index]);
  for (const index of live.keys()) if (index < stated.length && says(index, index)) take(index, index);
  if (stated.length * live.length <= comparisonLimit) {
    for (const index of live.keys()) {
      if (pairs[index] === undefined)
        take(
          index,
          free.values().find((at) => says(at, index)),
        );
    }
  }
  pairByName(stated, live, pairs, free, take);
  for (const index of live.keys()) {
    if (pairs[index] === undefined)
      take(
        index,
        free.values().find((at) => isObject(stated[at]) === isObject(live[index])),
      );
  }
  return pairs;
}

function pairByName(
  stated: readonly Json[],
  live: readonly Json[],
  pairs: readonly (number | undefined)[],
  free: ReadonlySet<number>,
  take: (index: number, at: number | undefined) => void,
): void {
  const names = new Map<string, number[]>();
  for (const at of free) {
    const name = nameOf(stated[at]);
    if (name !== undefined) names.set(name, [...(names.get(name) ?? []), at]);
  }
  for (const index of live.keys()) {
    const name = nameOf(live[index]);
    if (pairs[index] !== undefined || name === undefined) continue;
    const [at, ...others] = names.get(name) ?? [];
    if (others.length === 0) take(index, at);
  }
}

function nameOf(item: Json | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  const name = item.name ?? (isObject(item.metadata) ? item.metadata.name : undefined);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** Turns "for each left item the right one" around. */
export function inverse(pairs: readonly (number | undefined)[], length: number): (number | undefined)[] {
  const turned: (number | undefined)[] = Array.from({ length }, () => undefined);
  for (const [index, at] of pairs.entries()) if (at !== undefined) turned[at] = index;
  return turned;
}
