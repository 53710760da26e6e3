/** The live changes a person describes with files: what is there now, what was handled last, what was deleted. */
import { describeObject, identify, type ObjectId, objectKey, parseObject } from '../core/identity.ts';
import type { JsonObject } from '../core/json.ts';
import type { Change } from '../core/plan/index.ts';
import { sanitize } from '../core/sanitize/index.ts';
import { BadInput } from './bad-input.ts';
import { readObjects } from './plan-objects.ts';

export interface GivenObjects {
  /** Files of live objects. */
  readonly live: readonly string[];
  /** Files of live objects as last handled. */
  readonly previous?: readonly string[];
  /** As `describeObject` prints them. */
  readonly deleted: readonly string[];
}

interface Given {
  readonly live: Objects;
  readonly previous: Objects | undefined;
  readonly deleted: readonly ObjectId[];
}

type Objects = ReadonlyMap<string, { readonly id: ObjectId; readonly object: JsonObject }>;

/** Throws BadInput when a file cannot be used, or when there is nothing to plan. */
export async function readChanges(
  files: GivenObjects,
  isApplied: (object: JsonObject) => boolean,
): Promise<Change[]> {
  const live = await readAll(files.live);
  const previous = files.previous === undefined ? undefined : await readAll(files.previous);
  const deleted = files.deleted.map(parseDeleted);
  if (live.size === 0 && deleted.length === 0 && previous === undefined) {
    throw new BadInput('nothing to plan: give --live, --previous or --deleted');
  }
  return changesOf({ live, previous, deleted }, isApplied);
}

/** All objects of the files by identity. One object in two places would have two live states. */
async function readAll(files: readonly string[]): Promise<Objects> {
  const all = new Map<string, { id: ObjectId; object: JsonObject }>();
  // One after the other: standard input can be read once.
  for (const file of files) {
    for (const object of (await readObjects(file)).objects) {
      const id = identify(object);
      if (id === undefined) continue;
      if (all.has(objectKey(id))) throw new BadInput(`${file}: ${describeObject(id)} is given twice`);
      all.set(objectKey(id), { id, object });
    }
  }
  return all;
}

function changesOf({ live, previous, deleted }: Given, isApplied: (object: JsonObject) => boolean): Change[] {
  const gone = new Map(deleted.map((id) => [objectKey(id), id]));
  const handledAs = (key: string) => {
    const object = previous?.get(key)?.object;
    return object === undefined ? {} : { handled: sanitize(object) };
  };
  const changes: Change[] = [];
  for (const [key, { object }] of live) {
    if (gone.has(key)) continue;
    changes.push({ kind: 'upsert', live: object, applierKnown: isApplied(object), ...handledAs(key) });
  }
  for (const [key, { id }] of previous ?? []) {
    if (live.has(key) || gone.has(key)) continue;
    changes.push({ kind: 'delete', id, reason: 'absent', ...handledAs(key) });
  }
  for (const [key, id] of gone) changes.push({ kind: 'delete', id, reason: 'observed', ...handledAs(key) });
  return changes;
}

function parseDeleted(text: string): ObjectId {
  const id = parseObject(text);
  if (id === undefined)
    throw new BadInput(`--deleted ${text}: not of the form KIND[.GROUP]/[NAMESPACE/]NAME`);
  return id;
}
