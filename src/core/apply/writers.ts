/**
 * Who made the newest write of an object, from its managedFields before and after. A write shows as an entry that is new,
 * newer or grown; an entry that only shrank lost its fields to the writer. Times are compared for being different, never
 * for order: order is that of the stream (contracts 1).
 */
import { isObject, type JsonObject } from '../json.ts';

/** What the entries of an object said, by manager, operation and subresource. */
export type WriterPrint = ReadonlyMap<string, { readonly time: string; readonly size: number }>;

interface Entry {
  readonly key: string;
  readonly manager: string;
  readonly time: string;
  /** Length of its set of fields: it grows with what it owns. Printed when asked for only: every event is looked at. */
  size(): number;
}

export function printOf(object: JsonObject): WriterPrint {
  return new Map(entriesOf(object).map(({ key, time, size }) => [key, { time, size: size() }]));
}

/**
 * Managers of the newest write. Without a print of the state before, those with the newest time, where a tie names several.
 * Empty when nothing tells.
 */
export function newestWriters(before: WriterPrint | undefined, object: JsonObject): readonly string[] {
  const entries = entriesOf(object);
  const wrote = before === undefined ? newestOf(entries) : entries.filter((entry) => isNewer(before, entry));
  return [...new Set(wrote.map(({ manager }) => manager))];
}

/** When one of the managers last wrote, in seconds since the epoch; undefined when none did. */
export function lastWriteOf(managers: readonly string[], object: JsonObject): number | undefined {
  const times = entriesOf(object)
    .filter(({ manager, time }) => managers.includes(manager) && time !== '')
    .map(({ time }) => Math.trunc(Date.parse(time) / 1000));
  return times.length === 0 ? undefined : Math.max(...times);
}

function isNewer(before: WriterPrint, entry: Entry): boolean {
  const old = before.get(entry.key);
  // A loss of fields keeps the time of the entry; a second write within one second may only show as growth.
  return old === undefined || old.time !== entry.time || entry.size() > old.size;
}

function newestOf(entries: readonly Entry[]): readonly Entry[] {
  const newest = entries
    .map(({ time }) => time)
    .toSorted()
    .at(-1);
  // Entries of the scale subresource carry no time: they may be the newest.
  return entries.filter(({ time }) => time === newest || time === '');
}

/** Status updates are never edits. */
function entriesOf(object: JsonObject): Entry[] {
  const managed = isObject(object.metadata) ? object.metadata.managedFields : undefined;
  if (!Array.isArray(managed)) return [];
  return managed.filter(isObject).flatMap((entry) => {
    const { manager, operation, subresource, time, fieldsV1 } = entry;
    if (typeof manager !== 'string' || subresource === 'status') return [];
    const key = JSON.stringify([manager, operation ?? '', subresource ?? '']);
    const size = () => (isObject(fieldsV1) ? JSON.stringify(fieldsV1).length : 0);
    return [{ key, manager, time: typeof time === 'string' ? time : '', size }];
  });
}
