/** The order of a keyed list after its items are merged. */
import type { Json, Path } from '../json.ts';
import { isOrdered, type KindSchema } from './schema/index.ts';

export interface Entry {
  readonly value: Json;
  /** Position in the live list; undefined for an item only the document has. */
  readonly live: number | undefined;
  /** Position in the document; undefined for a new item. */
  readonly stated: number | undefined;
}

/**
 * Entries come with the stated ones first, in the file's order, then the new ones in live order. That is the result, unless order
 * means something at this path: then new items stand where they stand live, and all follow live when that is what leads.
 */
export function arrange(
  schema: KindSchema,
  path: Path,
  entries: readonly Entry[],
  leading: 'live' | 'document',
): Json[] {
  if (!isOrdered(schema, path)) return entries.map(({ value }) => value);
  const placed = leading === 'live' ? followLive(entries) : insertNew(entries);
  return placed.map(({ value }) => value);
}

function followLive(entries: readonly Entry[]): Entry[] {
  const placed = entries
    .filter(({ live }) => live !== undefined)
    .sort((a, b) => (a.live ?? 0) - (b.live ?? 0));
  for (const [index, entry] of entries.entries()) {
    if (entry.live !== undefined) continue;
    // An item Git alone has stays behind the item it follows in the file.
    const before = index === 0 ? undefined : entries[index - 1];
    placed.splice(before === undefined ? 0 : placed.indexOf(before) + 1, 0, entry);
  }
  return placed;
}

function insertNew(entries: readonly Entry[]): Entry[] {
  const placed = entries.filter(({ stated }) => stated !== undefined);
  for (const entry of entries) {
    if (entry.stated !== undefined) continue;
    const at = entry.live ?? 0;
    const before = placed
      .filter(({ live }) => live !== undefined && live < at)
      .reduce<Entry | undefined>(
        (last, other) => ((other.live ?? -1) > (last?.live ?? -1) ? other : last),
        undefined,
      );
    placed.splice(before === undefined ? 0 : placed.indexOf(before) + 1, 0, entry);
  }
  return placed;
}
