/** Merges a desired list into a block list: the result has the desired order, kept items keep their bytes. */
import type { Json, Path } from '../json.ts';
import { arrange, type Placement } from './arrange.ts';
import { itemLines } from './emit.ts';
import { entriesOf } from './entry.ts';
import { columnOf } from './lines.ts';
import type { ListNode } from './nodes.ts';
import { pairItems } from './pair.ts';
import { forgetAnchors, type Merge } from './place.ts';
import type { Splice } from './splice.ts';
import { toJson } from './value.ts';

/** Undefined when a change has no exact place. `desired` has at least one item. */
export function mergeList(
  merge: Merge,
  node: ListNode,
  desired: readonly Json[],
  path: Path,
): Splice[] | undefined {
  const { text } = merge.tree;
  const indent = columnOf(text, node.start);
  const partners = pairItems(
    node.items.map((item) => toJson(item.value)),
    desired,
    merge.listKeys(path),
  );
  const wanted = new Map(partners.map((position, index) => [position, index]));
  const inside: Splice[][] = [];
  for (const [position, item] of node.items.entries()) {
    inside.push([]);
    const index = wanted.get(position);
    if (index === undefined) {
      forgetAnchors(merge, item.value);
      continue;
    }
    const slot = { kind: 'item', at: item.start + 1, indent } as const;
    const splices = merge.mergeValue(merge, slot, item.value, desired[index] as Json, [...path, index]);
    if (splices === undefined) return undefined;
    inside[position] = splices;
  }
  const order = partners.map((position, index): Placement => {
    if (position >= 0) return { keep: position };
    return { lines: itemLines(desired[index] as Json, indent, merge.style) };
  });
  const layout = { text, eol: merge.style.eol, entries: entriesOf(text, node.items, path.length === 0) };
  return arrange(layout, order, inside);
}
