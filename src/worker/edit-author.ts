/** Who made a live edit, as far as the object itself tells: the newest entries of its managedFields (proof: managedFields). */
import type { Author } from '../core/branch/state.ts';
import { isObject, type JsonObject } from '../core/json.ts';

/** Managers named in one commit at most; a fight of controllers must not fill the message. */
const managerLimit = 8;

/** A delete leaves no managers behind; its author stays unknown. */
export function editAuthor(object: JsonObject | undefined): Author {
  const managers = object === undefined ? [] : newestManagers(object);
  return { managers, proof: managers.length === 0 ? 'none' : 'managedFields' };
}

function newestManagers(object: JsonObject): string[] {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const entries = Array.isArray(metadata.managedFields) ? metadata.managedFields.filter(isObject) : [];
  // Status updates are never edits, however new they are.
  const own = entries.filter((entry) => entry.subresource !== 'status');
  const times = own.map((entry) => (typeof entry.time === 'string' ? entry.time : ''));
  const newest = times.toSorted().at(-1);
  // `kubectl scale` leaves an entry without a time: it may be the newest, so it is named beside it.
  const names = own.flatMap((entry, index) =>
    ['', newest].includes(times[index]) && typeof entry.manager === 'string' ? [entry.manager] : [],
  );
  return [...new Set(names)].sort().slice(0, managerLimit);
}
