/**
 * Whether a file after an edit differs from the file before in exactly the lines of that edit. Judged by bytes: the planner's
 * own idea of what it changed is not asked.
 */
import { structuredPatch } from 'diff';
import { type JsonObject, type Path, valueAt } from '../../src/core/json.ts';
import type { LiveEdit } from './edits.ts';
import type { Span, Stated } from './stated.ts';

/** What is wrong with the file after the edit; undefined when it is exact. `live` is the object as it is now. */
export function inexact(edit: LiveEdit, before: string, after: string, live: JsonObject): string | undefined {
  const [place] = edit.stated;
  if (edit.kind === 'add') return notOnlyAdded(edit, before, after);
  if (place === undefined) return 'the edit is about no stated place';
  if (edit.kind === 'change') return notOnlyChanged(place.value, place.kind, before, after);
  const problem = notOnlyRemoved(edit.stated, before, after);
  if (problem === undefined) return undefined;
  // What is removed and has a default comes back with it, and what held nothing else may stay, empty.
  const kept = isItem(edit.path) ? edit.stated.slice(1) : edit.stated;
  const left = kept.find(({ path }) => valueAt(live, path) !== undefined);
  return left === undefined ? problem : notOnlyChanged(left.entry, left.kind, before, after);
}

export function isItem(path: Path): boolean {
  return typeof path.at(-1) === 'number';
}

/** All bytes outside the span stay; inside it something else stands. A scalar on one line stays on one. */
function notOnlyChanged(span: Span, kind: Stated['kind'], before: string, after: string): string | undefined {
  const head = before.slice(0, span.start);
  const tail = before.slice(span.end);
  if (!after.startsWith(head)) return 'bytes before the value changed';
  if (!after.endsWith(tail)) return 'bytes after the value changed';
  if (after.length < head.length + tail.length) return 'more than the value went';
  const [old, now] = [
    before.slice(span.start, span.end),
    after.slice(head.length, after.length - tail.length),
  ];
  const isPlain = kind === 'scalar' && countLines(old) === 0 && !now.startsWith('|');
  return isPlain && countLines(now) > 0 ? 'a scalar on one line takes several' : undefined;
}

/** The file before is the file after with one run of bytes more: whole lines, or a part of a line in flow style. */
function notOnlyAdded(
  { stated: [around], path }: LiveEdit,
  before: string,
  after: string,
): string | undefined {
  const levels = path.length - 1 - (around?.path.length ?? 0);
  const lines = levels + (isItem(path) ? 2 : 1);
  const added = countLines(after) - countLines(before);
  if (around !== undefined && around.size === 0) {
    return added > lines ? `${added} lines added` : notOnlyChanged(around.entry, around.kind, before, after);
  }
  if (sharedHead(before, after) + sharedTail(before, after) < before.length)
    return 'something else than an insertion';
  const expected = around?.flow === true ? 0 : lines;
  return added === expected ? undefined : `${added} lines added, not ${expected}`;
}

/** The file after is the file before with one run of bytes less, and these lie in the entry's lines or its comment's. */
function notOnlyRemoved(stated: readonly Stated[], before: string, after: string): string | undefined {
  const removed = before.length - after.length;
  if (removed <= 0) return 'nothing was removed';
  const [longestHead, longestTail] = [sharedHead(before, after), sharedTail(before, after)];
  if (longestHead + longestTail < after.length) return 'something else than a removal';
  const fits = stated.some(({ entry }) => {
    const lines = linesOf(before, entry);
    const from = Math.max(lines.start, after.length - longestTail);
    return from <= longestHead && from + removed <= lines.end;
  });
  return fits ? undefined : 'lines around the entry went with it';
}

/** From the comment right above the entry (or the newline before it, at the end of a file) to the end of its last line. */
function linesOf(text: string, { start, end }: Span): Span {
  let from = text.lastIndexOf('\n', start - 1) + 1;
  for (;;) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    if (from === 0 || !/^[ \t]*#/.test(text.slice(above, from))) break;
    from = above;
  }
  const last = end > 0 && text[end - 1] === '\n' ? end - 1 : end;
  const newline = text.indexOf('\n', last);
  if (newline < 0) return { start: from - 1, end: text.length };
  // After the dash of a list item the next entry moves up to the entry's place.
  const isFirstOfItem = /^[ \t]*(?:- +)+$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start));
  const indent = isFirstOfItem ? (/^[ \t]*/.exec(text.slice(newline + 1))?.[0].length ?? 0) : 0;
  // A blank line that parted it from the next entry has nothing to part any more.
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text.slice(newline + 1))?.[0].length ?? 0;
  return { start: from, end: newline + 1 + Math.max(indent, blank) };
}

/** The lines that differ, for people. */
export function changedLines(before: string, after: string): string {
  const hunks = structuredPatch('', '', before, after, '', '', { context: 0 }).hunks;
  return JSON.stringify(hunks.flatMap(({ lines }) => lines).slice(0, 20));
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

function sharedHead(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function sharedTail(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[a.length - 1 - length] === b[b.length - 1 - length])
    length += 1;
  return length;
}
