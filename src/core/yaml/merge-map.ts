/** Merges a desired map into a block map: git's order of keys stays, new keys go last, sorted among themselves. */
import type { Json, JsonObject, Path } from '../json.ts';
import { arrange, type Placement } from './arrange.ts';
import { pairLines } from './emit.ts';
import { entriesOf } from './entry.ts';
import { columnOf } from './lines.ts';
import { mergePairs } from './merge-parts.ts';
import type { MapNode } from './nodes.ts';
import type { Merge } from './place.ts';
import type { Splice } from './splice.ts';

/** Undefined when a change has no exact place. `desired` has at least one key. */
export function mergeMap(merge: Merge, node: MapNode, desired: JsonObject, path: Path): Splice[] | undefined {
  const { text } = merge.tree;
  const indent = columnOf(text, node.start);
  const merged = mergePairs(merge, node, desired, path, ({ colon }) => ({ kind: 'pair', at: colon, indent }));
  if (merged === undefined) return undefined;
  const { kept, added, inside } = merged;
  // Without a colon there is no place to write to.
  if (node.pairs.some(({ colon }, index) => colon < 0 && (inside[index]?.length ?? 0) > 0)) return undefined;
  const order: Placement[] = [
    ...kept.map((keep) => ({ keep })),
    ...added.map((key) => ({ lines: pairLines(key, desired[key] as Json, indent, merge.style) })),
  ];
  const layout = { text, eol: merge.style.eol, entries: entriesOf(text, node.pairs, path.length === 0) };
  return arrange(layout, order, inside);
}
