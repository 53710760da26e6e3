/** Merges a desired map into a block map: git's order of keys stays, new keys go last, sorted among themselves. */
import type { Json, JsonObject, Path } from '../json.ts';
import { arrange, type Placement } from './arrange.ts';
import { pairLines } from './emit.ts';
import { entriesOf } from './entry.ts';
import { columnOf } from './lines.ts';
import type { MapNode } from './nodes.ts';
import { forgetAnchors, type Merge } from './place.ts';
import type { Splice } from './splice.ts';
import { memberKey } from './value.ts';

/** Undefined when a change has no exact place. `desired` has at least one key. */
export function mergeMap(merge: Merge, node: MapNode, desired: JsonObject, path: Path): Splice[] | undefined {
  const { text } = merge.tree;
  const indent = columnOf(text, node.start);
  const added = new Set(Object.keys(desired));
  const order: Placement[] = [];
  const inside: Splice[][] = [];
  for (const [index, pair] of node.pairs.entries()) {
    inside.push([]);
    const key = memberKey(pair, desired);
    if (key === undefined || !added.delete(key)) {
      forgetAnchors(merge, pair.value);
      continue;
    }
    const value = desired[key] as Json;
    const slot = { kind: 'pair', at: pair.colon, indent } as const;
    const splices = merge.mergeValue(merge, slot, pair.value, value, [...path, key]);
    if (splices === undefined || (splices.length > 0 && pair.colon < 0)) return undefined;
    inside[index] = splices;
    order.push({ keep: index });
  }
  for (const key of [...added].sort())
    order.push({ lines: pairLines(key, desired[key] as Json, indent, merge.style) });
  const layout = { text, eol: merge.style.eol, entries: entriesOf(text, node.pairs, path.length === 0) };
  return arrange(layout, order, inside);
}
