/** Merges a desired list into a block list: the result has the desired order, kept items keep their bytes. */
import type { Json, Path } from '../json.ts';
import { arrange, type Placement } from './arrange.ts';
import { itemLines } from './emit.ts';
import { entriesOf } from './entry.ts';
import { columnOf } from './lines.ts';
import { mergeItems } from './merge-parts.ts';
import type { ListNode } from './nodes.ts';
import type { Merge } from './place.ts';
import type { Splice } from './splice.ts';

/** Undefined when a change has no exact place. `desired` has at least one item. */
export function mergeList(
  merge: Merge,
  node: ListNode,
  desired: readonly Json[],
  path: Path,
): Splice[] | undefined {
  const { text } = merge.tree;
  const indent = columnOf(text, node.start);
  const merged = mergeItems(merge, node, desired, path, ({ start }) => ({
    kind: 'item',
    at: start + 1,
    indent,
  }));
  if (merged === undefined) return undefined;
  const { partners, inside } = merged;
  const order = partners.map((position, index): Placement => {
    if (position >= 0) return { keep: position };
    return { lines: itemLines(desired[index] as Json, indent, merge.style) };
  });
  const layout = { text, eol: merge.style.eol, entries: entriesOf(text, node.items, path.length === 0) };
  return arrange(layout, order, inside);
}
