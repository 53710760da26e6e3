/** The lines of one entry (a pair or a list item) of a block collection: what moves and goes with it. */
import { commentColumn, isBlankLine, lineStart, nextLine } from './lines.ts';

export interface Entry {
  /** The key, the `?` or the dash. */
  readonly start: number;
  readonly column: number;
  /** Whether nothing but white space precedes it on its line; false for what shares a line with an outer dash. */
  readonly ownLine: boolean;
  /** First character of its lines: comment lines directly above at the same column belong to it. */
  readonly head: number;
  /** Just after its last line, the comment after the value and deeper comment lines directly below included. */
  readonly tail: number;
}

/** The entries of a block collection. `isRoot`: comments above the first entry are the document's, not the entry's. */
export function entriesOf(
  text: string,
  parts: readonly { start: number; end: number }[],
  isRoot: boolean,
): Entry[] {
  const entries: Entry[] = [];
  parts.forEach(({ start, end }, index) => {
    const line = lineStart(text, start);
    const column = start - line;
    const ownLine = text.slice(line, start).trim() === '';
    const next = parts[index + 1];
    const limit = next === undefined ? text.length : lineStart(text, next.start);
    const floor = entries[index - 1]?.tail ?? 0;
    let head = ownLine ? line : start;
    if (ownLine && !(isRoot && index === 0)) head = headStart(text, line, column, floor);
    entries.push({ start, column, ownLine, head, tail: tailEnd(text, end, column, limit) });
  });
  return entries;
}

function headStart(text: string, line: number, column: number, floor: number): number {
  let head = line;
  while (head > floor) {
    const above = lineStart(text, head - 1);
    if (commentColumn(text, above) !== column) break;
    head = above;
  }
  return head;
}

/** End of the lines of a value that ends at `end` in an entry at `column`. */
export function tailEnd(text: string, end: number, column: number, limit = text.length): number {
  let tail = end > 0 && text[end - 1] === '\n' ? end : nextLine(text, end);
  while (tail < limit && commentColumn(text, tail) > column) tail = nextLine(text, tail);
  return tail;
}

/** Start of the run of blank lines that ends at `at`, not going above `floor`. */
export function blankRunStart(text: string, at: number, floor: number): number {
  let start = at;
  while (start > floor) {
    const above = lineStart(text, start - 1);
    if (above < floor || !isBlankLine(text, above)) break;
    start = above;
  }
  return start;
}

/** End of the run of blank lines that begins at `at`. */
export function blankRunEnd(text: string, at: number): number {
  let end = at;
  while (isBlankLine(text, end)) end = nextLine(text, end);
  return end;
}

/** Whether a literal block whose text stands at `column` may end at `at`: a deeper comment below would become text. */
export function literalMayEnd(text: string, at: number, column: number): boolean {
  const next = blankRunEnd(text, at);
  return commentColumn(text, next) < column;
}
