/** Merges desired collections into flow collections, `{a: 1}` and `[a, b]`, on one line or several, JSON included. */
import type { Json, JsonObject, Path } from '../json.ts';
import { arrangeFlow, type FlowPlacement } from './arrange-flow.ts';
import { type FlowStyle, flowPair, flowText } from './emit.ts';
import type { ListNode, MapNode, Node } from './nodes.ts';
import { pairItems } from './pair.ts';
import { forgetAnchors, type Merge, type Slot } from './place.ts';
import type { Splice } from './splice.ts';
import { memberKey, toJson } from './value.ts';

/** Undefined when the map has to be written anew. */
export function mergeFlowMap(
  merge: Merge,
  node: MapNode,
  desired: JsonObject,
  path: Path,
): Splice[] | undefined {
  const style = flowStyle(merge.tree.text, node);
  const added = new Set(Object.keys(desired));
  const order: FlowPlacement[] = [];
  const inside: Splice[][] = [];
  for (const [index, pair] of node.pairs.entries()) {
    inside.push([]);
    const key = memberKey(pair, desired);
    if (key === undefined || !added.delete(key)) {
      forgetAnchors(merge, pair.value);
      continue;
    }
    const colonMissing = pair.colon < 0;
    const slot = flowSlot(colonMissing ? pair.end : pair.colon, style, colonMissing);
    const splices = merge.mergeValue(merge, slot, pair.value, desired[key] as Json, [...path, key]);
    if (splices === undefined) return undefined;
    inside[index] = splices;
    order.push({ keep: index });
  }
  for (const key of [...added].sort()) order.push({ text: flowPair(key, desired[key] as Json, style) });
  // A pair without braces is the only one its item can hold.
  if (merge.tree.text[node.start] !== '{' && (order.length !== 1 || added.size > 0)) return undefined;
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
    const slot = flowSlot(item.start, style, false);
    const splices = merge.mergeValue(merge, slot, item.value, desired[index] as Json, [...path, index]);
    if (splices === undefined) return undefined;
    inside[position] = splices;
  }
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
