/**
 * An edit of an object whose document is written in another version of its API.
 *
 * Fields move, split and change their type between versions, and only the API server converts. So an edit is carried over only
 * where it means the same in both: a single value that the document states at the same path, as it was or as it is now live.
 */
import type { FieldChange } from '../intent/index.ts';
import { equalJson, isObject, type Json, type JsonObject, type Path, valueAt } from '../json.ts';

/** The document with the edits set; undefined when one of them may mean something else there. */
export function carryOver(edits: readonly FieldChange[], document: JsonObject): JsonObject | undefined {
  let desired = document;
  for (const { path, before, after } of edits) {
    const stated = valueAt(document, path);
    if (!isScalar(before) || !isScalar(after) || typeof before !== typeof after) return undefined;
    if (!equalJson(stated, before) && !equalJson(stated, after)) return undefined;
    const changed = withMember(desired, path, after);
    if (changed === undefined) return undefined;
    desired = changed;
  }
  return desired;
}

/** Only through maps: positions in lists need not agree. */
function withMember(map: JsonObject, path: Path, value: Json): JsonObject | undefined {
  const [key, ...rest] = path;
  if (typeof key !== 'string') return undefined;
  if (rest.length === 0) return { ...map, [key]: value };
  const member = map[key];
  const inner = isObject(member) ? withMember(member, rest, value) : undefined;
  return inner === undefined ? undefined : { ...map, [key]: inner };
}

function isScalar(value: Json | undefined): value is string | number | bigint | boolean {
  return value !== undefined && value !== null && typeof value !== 'object';
}
