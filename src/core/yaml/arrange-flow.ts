/** Brings the entries of a flow collection into a wanted order, between its brackets, without losing comments of others. */
import { commentColumn, lineEnd, lineStart, nextLine } from './lines.ts';
import { risingRun } from './sequence.ts';
import { applySplices, type Splice } from './splice.ts';

/** What stands at one position of the result: an entry that is there already, or the text of a new one. */
export type FlowPlacement = { keep: number } | { text: string };

interface FlowEntry {
  readonly start: number;
  readonly end: number;
}

interface FlowLayout {
  text: string;
  eol: string;
  entries: readonly FlowEntry[];
}

/**
 * Splices that turn the entries into `order`; `inside[i]` are those within entry i. Undefined when the collection has no
 * entry to start from, or a comment stands where it cannot stay.
 */
export function arrangeFlow(
  layout: FlowLayout,
  order: readonly FlowPlacement[],
  inside: readonly (readonly Splice[])[],
): Splice[] | undefined {
  if (layout.entries.length === 0) return undefined;
  const kept = order.flatMap((placement) => ('keep' in placement ? [placement.keep] : []));
  if (risingRun(kept).length < kept.length) return reorder(layout, order, inside);

  const splices: (readonly Splice[])[] = [];
  let previous = -1;
  let pending: string[] = [];
  for (const placement of [...order, { keep: layout.entries.length }]) {
    if ('text' in placement) {
      pending.push(placement.text);
      continue;
    }
    const gap = fillGap(layout, previous, placement.keep, pending);
    if (gap === undefined) return undefined;
    splices.push(inside[placement.keep] ?? [], gap);
    previous = placement.keep;
    pending = [];
  }
  return splices.flat();
}

/** Removes the entries between two that stay and puts `added` there. */
function fillGap(
  layout: FlowLayout,
  previous: number,
  next: number,
  added: readonly string[],
): Splice[] | undefined {
  const { text, entries } = layout;
  const removed = entries.slice(previous + 1, next);
  const [firstRemoved, lastRemoved] = [removed[0], removed.at(-1)];
  const before = entries[previous];
  const after = entries[next];
  if (firstRemoved === undefined || lastRemoved === undefined) return insert(layout, before, after, added);
  let [start, end] = [firstRemoved.start, lastRemoved.end];
  if (added.length === 0 && after !== undefined) end = after.start;
  else if (added.length === 0 && before !== undefined) start = before.end;
  if (!holdsComment(text, start, end, entries))
    return [{ start, end, text: added.join(separatorOf(layout)) }];
  const lines = removed.map((entry) => ownLines(text, entry));
  const inserted = insert(layout, before, after, added);
  if (inserted === undefined || lines.includes(undefined)) return undefined;
  return [...inserted, ...lines.filter((line) => line !== undefined)];
}

/** Puts new entries after one or before one; undefined when there is neither. */
function insert(
  layout: FlowLayout,
  before: FlowEntry | undefined,
  after: FlowEntry | undefined,
  added: readonly string[],
): Splice[] | undefined {
  if (added.length === 0) return [];
  const { text, eol } = layout;
  const separator = separatorOf(layout);
  if (before === undefined) {
    if (after === undefined) return undefined;
    return [insertAt(after.start, added.map((item) => item + separator).join(''))];
  }
  const rest = text.slice(before.end, lineEnd(text, before.end));
  if (!/^[ \t]*,?[ \t]*#/.test(rest) || ownLines(text, before) === undefined)
    return [insertAt(before.end, added.map((item) => separator + item).join(''))];
  // The comment on the line speaks of the entry before, so the new ones get lines of their own.
  const pad = eol + ' '.repeat(before.start - lineStart(text, before.start));
  const isLast = !/^[ \t]*,/.test(rest);
  const lines = isLast ? pad + added.join(`,${pad}`) : added.map((item) => `${pad}${item},`).join('');
  const atLineEnd = insertAt(lineEnd(text, before.end), lines);
  return isLast ? [insertAt(before.end, ','), atLineEnd] : [atLineEnd];
}

/** The whole lines of an entry that shares them with nothing but its comma and comment, comment lines above included. */
function ownLines(text: string, entry: FlowEntry): Splice | undefined {
  let start = lineStart(text, entry.start);
  const column = entry.start - start;
  const rest = text.slice(entry.end, lineEnd(text, entry.end));
  if (text.slice(start, entry.start).trim() !== '' || !/^[ \t]*,?[ \t]*(?:#.*)?$/.test(rest))
    return undefined;
  while (start > 0 && commentColumn(text, lineStart(text, start - 1)) === column)
    start = lineStart(text, start - 1);
  return { start, end: nextLine(text, entry.end), text: '' };
}

function reorder(
  layout: FlowLayout,
  order: readonly FlowPlacement[],
  inside: readonly (readonly Splice[])[],
): Splice[] | undefined {
  const { text, entries } = layout;
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
  return [{ start, end, text: pieces.join(separatorOf(layout)) }];
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
function separatorOf({ text, entries }: FlowLayout): string {
  const [first, second] = entries;
  if (first === undefined || second === undefined) return ', ';
  const between = text.slice(first.end, second.start);
  return between.includes('#') || !between.includes(',') ? ', ' : between;
}
