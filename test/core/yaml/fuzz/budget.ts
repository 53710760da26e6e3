/**
 * How many lines an edit may touch, worked out from the values and from the `yaml` library's positions, not from the editor:
 * the lines of what went, and the lines that what came needs.
 */
import { diffArrays } from 'diff';
import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { equalJson, isObject, type Json } from '../../../../src/core/json.ts';
import { printDocument } from '../../../../src/core/yaml/index.ts';

/** Lines `after` needs where `before` stood, in the text the node comes from. */
export function lineBudget(text: string, node: unknown, before: Json, after: Json): number {
  if (equalJson(before, after)) return 0;
  const whole = sourceLines(text, node) + freshLines(after);
  // A flow collection over several lines, or with comments, may have to be written anew.
  if (!isNode(node) || (isCollection(node) && node.flow && sourceLines(text, node) > 1)) return whole;
  if (isMap(node) && isObject(before) && isObject(after)) {
    let budget = 0;
    for (const [index, pair] of node.items.entries()) {
      const key = keyOf(pair);
      const old = before[key];
      if (old === undefined) return whole;
      const now = after[key];
      if (now === undefined) budget += entryLines(text, node.items, index);
      else budget += lineBudget(text, pair.value, old, now);
    }
    for (const key of Object.keys(after))
      if (!Object.hasOwn(before, key)) budget += freshLines(after[key] ?? null);
    // An emptied collection is one line, and takes the comments in it with it.
    return Object.keys(after).length === 0 ? budget + 2 : Math.min(budget, whole);
  }
  if (isScalar(node) && node.type === 'BLOCK_LITERAL' && isText(before) && isText(after))
    return Math.min(changedLines(before, after) + 2, whole);
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
    const budget = listBudget(text, node.items, before, after);
    return after.length === 0 ? budget + 2 : Math.min(budget, whole);
  }
  return whole;
}

/** Whether a string can be a literal block to every reader. */
function isText(value: Json): value is string {
  return typeof value === 'string' && /^[\x20-\x7E\n]*[^\n ]\n?$/.test(value) && !/^\s/.test(value);
}

/** Lines of two texts that differ; the header may have to change too. */
function changedLines(before: string, after: string): number {
  return diffArrays(before.split('\n'), after.split('\n'))
    .filter((part) => part.added || part.removed)
    .reduce((sum, part) => sum + part.value.length, 0);
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

function listBudget(text: string, items: unknown[], before: Json[], after: Json[]): number {
  let start = 0;
  while (start < before.length && start < after.length && equalJson(before[start], after[start])) start += 1;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && equalJson(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  let budget = 0;
  old.forEach((_, index) => {
    budget += entryLines(text, items, start + index);
  });
  for (const item of now) budget += freshLines(item);
  // An entry that shares its line with an outer dash comes to a line of its own when another goes before it.
  if (start === 0) budget += 1;
  // Kept items bring their comments and their own layout with them when they move.
  const moved = now.length > 0 && old.length > 0 ? budget : 0;
  return budget + moved;
}

/** Lines of an entry with what stands between it and its neighbours. */
function entryLines(text: string, items: readonly unknown[], index: number): number {
  const [start] = span(items[index]);
  const before = index === 0 ? lineStart(text, start) : span(items[index - 1])[1];
  const after = index + 1 < items.length ? span(items[index + 1])[0] : nextBreak(text, span(items[index])[1]);
  // Comments above the first entry of a collection belong to it.
  const head = index === 0 ? commentsAbove(text, before) : before;
  return countLines(text.slice(head, after)) + 1 + blankLines(text, after);
}

function span(item: unknown): [number, number] {
  if (isNode(item)) return [item.range?.[0] ?? 0, item.range?.[1] ?? 0];
  const pair = item as Pair<Node | null, Node | null>;
  const start = pair.key?.range?.[0] ?? 0;
  return [start, pair.value?.range?.[1] ?? pair.key?.range?.[1] ?? start];
}

function sourceLines(text: string, node: unknown): number {
  if (!isNode(node) || isAlias(node) || node.range == null) return 1;
  const [start, , end] = node.range;
  return countLines(text.slice(commentsAbove(text, lineStart(text, start)), end)) + 1;
}

function commentsAbove(text: string, line: number): number {
  let head = line;
  while (head > 0 && /^\s*#/.test(text.slice(lineStart(text, head - 1), head)))
    head = lineStart(text, head - 1);
  return head;
}

function countLines(text: string): number {
  return text.split('\n').length;
}

function blankLines(text: string, at: number): number {
  return /^\s*/.exec(text.slice(at))?.[0].split('\n').length ?? 0;
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function nextBreak(text: string, at: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 ? text.length : found;
}

/** Lines of a fresh value; the key's or dash's line is one of them. */
function freshLines(value: Json): number {
  return printDocument({ k: value }).split('\n').length;
}
