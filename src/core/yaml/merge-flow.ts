/** Merges desired collections into flow collections, `{a: 1}` and `[a, b]`, on one line or several, JSON included. */
import type { Json, JsonObject, Path } from '../json.ts';
import { arrangeFlow, type FlowPlacement } from './arrange-flow.ts';
import { type FlowStyle, flowPair, flowText } from './emit.ts';
import { mergeItems, mergePairs } from './merge-parts.ts';
import type { ListNode, MapNode, Node } from './nodes.ts';
import type { Merge, Slot } from './place.ts';
import type { Splice } from './splice.ts';
import { toJson } from './value.ts';

/** Undefined when the map has to be written anew. */
export function mergeFlowMap(
  merge: Merge,
  node: MapNode,
  desired: JsonObject,
  path: Path,
): Splice[] | undefined {
  const style = flowStyle(merge.tree.text, node);
  const merged = mergePairs(merge, node, desired, path, ({ colon, end }) => {
    const colonMissing = colon < 0;
    return flowSlot(colonMissing ? end : colon, style, colonMissing);
  });
  if (merged === undefined) return undefined;
  const { kept, added, inside } = merged;
  const order: FlowPlacement[] = [
    ...kept.map((keep) => ({ keep })),
    ...added.map((key) => ({ text: flowPair(key, desired[key] as Json, style) })),
  ];
  // A pair without braces is the only one its item can hold.
  if (merge.tree.text[node.start] !== '{' && (order.length !== 1 || added.length > 0)) return undefined;
  return arrangeFlow({ text: merge.tree.text, eol: merge.style.eol, entries: node.pairs }, order, inside);
}

/** Undefined when the list has to be written anew. */
export function mergeFlowList(
  merge: Merge,
  node: ListNode,
  desired: readonly Json[],
  path: Path,
): Splice[] | undefined {
  const style = flowStyle(merge.tree.text, node);
  const merged = mergeItems(merge, node, desired, path, ({ start }) => flowSlot(start, style, false));
  if (merged === undefined) return undefined;
  const { partners, inside } = merged;
  const order = partners.map((position, index): FlowPlacement => {
    return position >= 0 ? { keep: position } : { text: flowText(desired[index] as Json, style) };
  });
  return arrangeFlow({ text: merge.tree.text, eol: merge.style.eol, entries: node.items }, order, inside);
}

function flowSlot(at: number, style: FlowStyle, colonMissing: boolean): Slot {
  return { kind: 'flow', at, indent: 0, flow: { ...style, colonMissing } };
}

function flowStyle(text: string, node: MapNode | ListNode): FlowStyle {
  return { json: isJsonLike(node), padded: node.kind === 'map' && text[node.start + 1] === ' ' };
}

/** Whether every key and string directly in the collection is in double quotes. */
function isJsonLike(node: MapNode | ListNode): boolean {
  if (node.kind === 'map') return node.pairs.length > 0 && node.pairs.every((pair) => isDouble(pair.key));
  const values = node.items.map((item) => item.value);
  const strings = values.filter((value) => value.kind === 'scalar' && typeof toJson(value) === 'string');
  if (strings.length > 0) return strings.every(isDouble);
  return values.some((value) => (value.kind === 'map' || value.kind === 'list') && isJsonLike(value));
}

function isDouble(node: Node): boolean {
  return node.kind === 'scalar' && node.style === 'double';
}
