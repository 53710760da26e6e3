/** Who made a live edit, as far as the object itself tells: the newest entries of its managedFields (proof: managedFields). */
import type { Author } from '../core/branch/state.ts';
import { knownAppliers } from '../core/intent/managers.ts';
import { isObject, type JsonObject } from '../core/json.ts';

const appliers: ReadonlySet<string> = new Set(Object.values(knownAppliers).flat());
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
  const named = (time: string | undefined) =>
    own.flatMap((entry, index) =>
      times[index] === time && typeof entry.manager === 'string' ? [entry.manager] : [],
    );
  const people = named(newest).filter((manager) => !appliers.has(manager));
  // `kubectl scale` leaves an entry without a time. Where else only an applier is newest, that one made the edit.
  const timeless = people.length > 0 ? [] : named('');
  const names = people.length > 0 ? people : timeless.length > 0 ? timeless : named(newest);
  return [...new Set(names)].sort().slice(0, managerLimit);
}
