/**
 * Brings the entries of a block collection into a wanted order by moving whole lines. Entries that keep their place in the
 * order are not touched; the fewest possible are moved.
 */
import { blankRunEnd, blankRunStart, type Entry } from './entry.ts';
import { commentColumn, lineStart } from './lines.ts';
import { risingRun } from './sequence.ts';
import { applySplices, type Splice } from './splice.ts';

/** What stands at one position of the result: an entry that is there already, or new lines. */
export type Placement = { keep: number } | { lines: string[] };

export interface Layout {
  text: string;
  eol: string;
  entries: readonly Entry[];
}

/**
 * Splices that turn the entries into `order`. `inside[i]` are the splices within entry i; they are applied where it ends up.
 * At least one placement must be given. Undefined when an entry cannot be moved.
 */
export function arrange(
  layout: Layout,
  order: readonly Placement[],
  inside: readonly (readonly Splice[])[],
): Splice[] | undefined {
  const kept = order.flatMap((placement) => ('keep' in placement ? [placement.keep] : []));
  const anchors = new Set(risingRun(kept));
  const splices: (readonly Splice[])[] = [];
  let previous = -1;
  let pending = '';
  for (const placement of order) {
    if ('lines' in placement) {
      pending += placement.lines.map((line) => line + layout.eol).join('');
    } else if (anchors.has(placement.keep)) {
      splices.push(inside[placement.keep] ?? [], fillGap(layout, previous, placement.keep, pending));
      previous = placement.keep;
      pending = '';
    } else {
      const moved = ownText(layout, placement.keep, inside[placement.keep] ?? []);
      if (moved === undefined) return undefined;
      pending += moved;
    }
  }
  splices.push(fillGap(layout, previous, layout.entries.length, pending));
  return splices.flat();
}

/** The lines of an entry with its own edits in them, indented as on a line of its own. */
function ownText({ text, entries }: Layout, index: number, inside: readonly Splice[]): string | undefined {
  const entry = entries[index];
  if (entry === undefined) return undefined;
  const edited = applySplices(text, inside, entry.head, entry.tail);
  if (edited === undefined) return undefined;
  return entry.ownLine ? edited : ' '.repeat(entry.column) + edited;
}

/** Removes the entries between two that stay and puts `added` there instead. */
function fillGap(layout: Layout, previous: number, next: number, added: string): Splice[] {
  const { entries } = layout;
  const removed = entries.slice(previous + 1, next);
  const [firstRemoved, ...otherRemoved] = removed;
  if (firstRemoved === undefined && added === '') return [];
  const first = entries[0];
  if (previous < 0 && first !== undefined && !first.ownLine)
    return fillDashLine(layout, first, removed, entries[next], added);
  if (added === '') return removeEntries(layout, previous + 1, next);
  if (firstRemoved !== undefined) {
    const rest = otherRemoved.map(({ head, tail }) => ({ start: head, end: tail, text: '' }));
    return [{ start: firstRemoved.head, end: firstRemoved.tail, text: added }, ...rest];
  }
  const at = previous < 0 ? (first?.head ?? 0) : (entries[previous]?.tail ?? 0);
  return [{ start: at, end: at, text: added }];
}

/** As fillGap, at the top of a collection whose first entry shares its line with an outer dash. */
function fillDashLine(
  { text }: Layout,
  first: Entry,
  removed: readonly Entry[],
  next: Entry | undefined,
  added: string,
): Splice[] {
  const onDashLine = added.slice(first.column);
  const last = removed.at(-1);
  if (last === undefined)
    return [{ start: first.start, end: first.start, text: onDashLine + ' '.repeat(first.column) }];
  if (added !== '') {
    const rest = removed.slice(1).map(({ head, tail }) => ({ start: head, end: tail, text: '' }));
    return [{ start: first.start, end: first.tail, text: onDashLine }, ...rest];
  }
  if (next === undefined) return [];
  // A comment between stays; it may follow the dash.
  const comment = text.slice(last.tail, next.start).search(/#/);
  const end = comment < 0 ? next.start : last.tail + comment;
  return [{ start: first.start, end, text: '' }];
}

/** Removes entries `from` to `to`, with the blank lines that parted them from their neighbours. */
export function removeEntries(layout: Layout, from: number, to: number): Splice[] {
  const { text, entries } = layout;
  const regions: { start: number; end: number }[] = [];
  for (const { head, tail } of entries.slice(from, to)) {
    const before = regions.at(-1);
    if (before !== undefined && text.slice(before.end, head).trim() === '') before.end = tail;
    else regions.push({ start: head, end: tail });
  }
  const floor = from === 0 ? 0 : (entries[from - 1]?.tail ?? 0);
  return regions.map(({ start, end }, index) => {
    const isFirst = from === 0 && index === 0;
    const isLast = to === entries.length && index === regions.length - 1;
    return { ...withBlankLines(text, start, end, floor, isFirst, isLast), text: '' };
  });
}

/** Widens a removal so that it leaves one gap where there were two, and none at the edge of the collection. */
function withBlankLines(
  text: string,
  start: number,
  end: number,
  floor: number,
  isFirst: boolean,
  isLast: boolean,
): { start: number; end: number } {
  const before = blankRunStart(text, start, floor);
  if (isLast) return { start: commentColumn(text, end) < 0 ? before : start, end };
  const followsComment = start > 0 && commentColumn(text, lineStart(text, start - 1)) >= 0;
  const closes = before < start || (isFirst && !followsComment);
  return { start, end: closes ? blankRunEnd(text, end) : end };
}
