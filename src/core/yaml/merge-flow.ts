/** Merges desired collections into flow collections, `{a: 1}` and `[a, b]`, on one line or several, JSON included. */
import type { Json, JsonObject, Path } from '../json.ts';
import { type FlowStyle, flowPair, flowText } from './emit.ts';
import type { ListNode, MapNode, Node } from './nodes.ts';
import { pairItems } from './pair.ts';
import { forgetAnchors, type Merge, type Slot } from './place.ts';
import { risingRun } from './sequence.ts';
import { applySplices, type Splice } from './splice.ts';
import { memberKey, toJson } from './value.ts';

type FlowPlacement = { keep: number } | { text: string };

interface FlowEntry {
  readonly start: number;
  readonly end: number;
}

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
  return arrangeFlow(merge.tree.text, node.pairs, order, inside);
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
  return arrangeFlow(merge.tree.text, node.items, order, inside);
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

function arrangeFlow(
  text: string,
  entries: readonly FlowEntry[],
  order: readonly FlowPlacement[],
  inside: readonly (readonly Splice[])[],
): Splice[] | undefined {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const separator = separatorOf(text, entries);
  const kept = order.flatMap((placement) => ('keep' in placement ? [placement.keep] : []));
  if (risingRun(kept).length < kept.length) return reorder(text, entries, order, inside, separator);

  const splices: (readonly Splice[])[] = [];
  let previous = -1;
  let pending: string[] = [];
  for (const placement of [...order, { keep: entries.length }]) {
    if ('text' in placement) {
      pending.push(placement.text);
      continue;
    }
    const gap = fillFlowGap(text, entries, previous, placement.keep, pending, separator);
    if (gap === undefined) return undefined;
    splices.push(inside[placement.keep] ?? [], gap);
    previous = placement.keep;
    pending = [];
  }
  return splices.flat();
}

/** Removes the entries between two that stay and puts `added` there. Undefined when a comment would go with them. */
function fillFlowGap(
  text: string,
  entries: readonly FlowEntry[],
  previous: number,
  next: number,
  added: readonly string[],
  separator: string,
): Splice[] | undefined {
  const removed = entries.slice(previous + 1, next);
  const [firstRemoved, lastRemoved] = [removed[0], removed.at(-1)];
  const before = entries[previous];
  const after = entries[next];
  if (firstRemoved === undefined || lastRemoved === undefined) {
    if (added.length === 0) return [];
    if (before !== undefined) return [insertAt(before.end, added.map((item) => separator + item).join(''))];
    return [insertAt(after?.start ?? 0, added.map((item) => item + separator).join(''))];
  }
  let [start, end] = [firstRemoved.start, lastRemoved.end];
  if (added.length === 0 && after !== undefined) end = after.start;
  else if (added.length === 0 && before !== undefined) start = before.end;
  if (holdsComment(text, start, end, entries)) return undefined;
  return [{ start, end, text: added.join(separator) }];
}

function reorder(
  text: string,
  entries: readonly FlowEntry[],
  order: readonly FlowPlacement[],
  inside: readonly (readonly Splice[])[],
  separator: string,
): Splice[] | undefined {
  const start = entries[0]?.start ?? 0;
  const end = entries.at(-1)?.end ?? start;
  if (holdsComment(text, start, end, entries)) return undefined;
  const pieces: string[] = [];
  for (const placement of order) {
    const entry = 'keep' in placement ? entries[placement.keep] : undefined;
    if ('text' in placement) pieces.push(placement.text);
    else if (entry !== undefined) {
      const edited = applySplices(text, inside[placement.keep] ?? [], entry.start, entry.end);
      if (edited === undefined) return undefined;
      pieces.push(edited);
    }
  }
  return [{ start, end, text: pieces.join(separator) }];
}

function insertAt(at: number, text: string): Splice {
  return { start: at, end: at, text };
}

/** Whether a comment stands between entries of the stretch; a `#` within an entry is its own matter. */
function holdsComment(text: string, start: number, end: number, entries: readonly FlowEntry[]): boolean {
  let at = start;
  for (const entry of entries) {
    if (entry.end <= start || entry.start >= end) continue;
    if (text.slice(at, Math.max(entry.start, at)).includes('#')) return true;
    at = entry.end;
  }
  return at < end && text.slice(at, end).includes('#');
}

/** What parts two entries: the first such text without a comment, as it shows the line breaks of the collection. */
function separatorOf(text: string, entries: readonly FlowEntry[]): string {
  const [first, second] = entries;
  if (first === undefined || second === undefined) return ', ';
  const between = text.slice(first.end, second.start);
  return between.includes('#') || !between.includes(',') ? ', ' : between;
}
