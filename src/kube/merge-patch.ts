/** The JSON merge patch (RFC 7386) that turns one object into another. */
import { equalJson, isObject, type JsonObject } from '../core/json.ts';

/**
 * Undefined when they are equal. A null in `to` counts as absent, because a merge patch cannot write one.
 */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const [key, wanted] of Object.entries(to)) {
    const present = from[key];
    if (isObject(wanted) && isObject(present)) {
      const inner = mergePatch(present, wanted);
      if (inner !== undefined) patch[key] = inner;
    } else if (!equalJson(present ?? null, wanted)) {
      patch[key] = wanted;
    }
  }
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key) && from[key] !== null) patch[key] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
