/** The parts of a collection that stay, merged each on its own; what is put around them is up to the collection's style. */
import type { Json, JsonObject, Path } from '../json.ts';
import type { ListNode, MapNode } from './nodes.ts';
import { pairItems } from './pair.ts';
import { forgetAnchors, type Merge, type Slot } from './place.ts';
import type { Splice } from './splice.ts';
import { memberKey, toJson } from './value.ts';

type Pair = MapNode['pairs'][number];
type Item = ListNode['items'][number];

export interface MergedItems {
  /** For each desired item the position of the one that becomes it, -1 for a new one. */
  readonly partners: readonly number[];
  /** Splices inside each item of the node. */
  readonly inside: readonly Splice[][];
}

/** Undefined when a change has no exact place. */
export function mergeItems(
  merge: Merge,
  { items }: ListNode,
  desired: readonly Json[],
  path: Path,
  slotOf: (item: Item) => Slot,
): MergedItems | undefined {
  const values = items.map((item) => toJson(item.value));
  const partners = pairItems(values, desired, merge.listKeys(path));
  const wanted = new Map(partners.map((position, index) => [position, index]));
  const inside: Splice[][] = [];
  for (const [position, item] of items.entries()) {
    const index = wanted.get(position);
    if (index === undefined) forgetAnchors(merge, item.value);
    const splices =
      index === undefined
        ? []
        : merge.mergeValue(merge, slotOf(item), item.value, desired[index] as Json, [...path, index]);
    if (splices === undefined) return undefined;
    inside.push(splices);
  }
  return { partners, inside };
}

export interface MergedPairs {
  /** Positions of the pairs that stay, in the order of the text. */
  readonly kept: readonly number[];
  /** Keys without a pair, sorted. */
  readonly added: readonly string[];
  /** Splices inside each pair of the node. */
  readonly inside: readonly Splice[][];
}

/** Undefined when a change has no exact place. */
export function mergePairs(
  merge: Merge,
  { pairs }: MapNode,
  desired: JsonObject,
  path: Path,
  slotOf: (pair: Pair) => Slot,
): MergedPairs | undefined {
  const added = new Set(Object.keys(desired));
  const kept: number[] = [];
  const inside: Splice[][] = [];
  for (const [index, pair] of pairs.entries()) {
    const key = memberKey(pair, desired);
    if (key === undefined || !added.delete(key)) {
      forgetAnchors(merge, pair.value);
      inside.push([]);
      continue;
    }
    const splices = merge.mergeValue(merge, slotOf(pair), pair.value, desired[key] as Json, [...path, key]);
    if (splices === undefined) return undefined;
    inside.push(splices);
    kept.push(index);
  }
  return { kept, added: [...added].sort(), inside };
}
