/** The fields in which two documents of one object differ: what a commit message, an Event and `plan` name. */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { covers } from './judge.ts';
import { isKeyed } from './pairs.ts';
import { formatPath } from './path.ts';
import { isMissing, member } from './place.ts';
import { isOrdered, type KindSchema, pairItems } from './schema/index.ts';

export interface FieldChange {
  /** List positions are those of the new document; of the old one where the item is gone. */
  readonly path: Path;
  /** The path for people, list items by name. */
  readonly where: string;
  /** As in Git before and after; undefined when the field is not there. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The fields that differ, each as small as it goes: the value that changed, or the root of what was added or removed. */
export function changesBetween(schema: KindSchema, before: JsonObject, after: JsonObject): FieldChange[] {
  const found: FieldChange[] = [];
  const report = (path: Path, from: Json | undefined, to: Json | undefined): void => {
    found.push({ path, where: formatPath(path, to === undefined ? before : after), before: from, after: to });
  };
  const visit = (path: Path, from: Json, to: Json): void => {
    if (from === to) return;
    if (isObject(from) && isObject(to)) visitMap(path, from, to);
    else if (Array.isArray(from) && Array.isArray(to)) visitList(path, from, to);
    else report(path, from, to);
  };
  const visitMap = (path: Path, from: JsonObject, to: JsonObject): void => {
    for (const [key, value] of Object.entries(from)) {
      const other = member(to, key);
      if (other === undefined) report([...path, key], value, undefined);
      else visit([...path, key], value, other);
    }
    for (const [key, value] of Object.entries(to)) {
      if (!Object.hasOwn(from, key)) report([...path, key], undefined, value);
    }
  };
  const visitList = (path: Path, from: Json[], to: Json[]): void => {
    const pairs = pairChanged(schema, path, from, to);
    if (pairs === undefined) {
      report(path, from, to);
      return;
    }
    const paired = new Set(pairs);
    for (const [at, item] of from.entries()) if (!paired.has(at)) report([...path, at], item, undefined);
    for (const [index, item] of to.entries()) {
      const at = pairs[index];
      const own = at === undefined ? undefined : from[at];
      if (own === undefined) report([...path, index], undefined, item);
      else visit([...path, index], own, item);
    }
  };
  visit([], before, after);
  return found;
}

/** For each new item the old one; undefined when the list has to be told as one value. */
function pairChanged(
  schema: KindSchema,
  path: Path,
  from: readonly Json[],
  to: readonly Json[],
): (number | undefined)[] | undefined {
  if (schema.isSet(path) || isKeyed(schema, path, [from, to])) {
    const pairs = pairItems(schema, path, to, from);
    const positions = pairs.filter((at) => at !== undefined);
    const moved = positions.some((at, index) => index > 0 && at < (positions[index - 1] ?? 0));
    return moved && isOrdered(schema, path) ? undefined : pairs;
  }
  return from.length === to.length ? to.map((_item, index) => index) : undefined;
}

/**
 * Of the given changes those whose value in Git was changed by somebody else since the object was handled: the live value was
 * written over it.
 */
export function overwrittenOf(
  schema: KindSchema,
  changes: readonly FieldChange[],
  document: JsonObject,
  desired: JsonObject,
  handled: JsonObject,
): FieldChange[] {
  return changes.filter(({ path, before, after }) => {
    const found = locate(schema, after === undefined ? document : desired, handled, path);
    if (before === undefined) return isRemovedInGit(schema, document, handled, found);
    return !covers(schema, path, before, found?.value);
  });
}

/** Git dropped a field the object had when it was handled, and that no default explains. */
function isRemovedInGit(
  schema: KindSchema,
  document: JsonObject,
  handled: JsonObject,
  found: Found | undefined,
): boolean {
  if (found === undefined || isMissing(found.value)) return false;
  return schema.explain({ live: handled, path: found.path, document, documentPath: undefined }) === undefined;
}

interface Found {
  readonly path: Path;
  readonly value: Json;
}

/** The same place in another object, list items by their keys. */
function locate(schema: KindSchema, from: JsonObject, to: JsonObject, path: Path): Found | undefined {
  let [own, other]: [Json | undefined, Json | undefined] = [from, to];
  const there: (string | number)[] = [];
  for (const [depth, step] of path.entries()) {
    if (typeof step === 'number') {
      if (!Array.isArray(own) || !Array.isArray(other)) return undefined;
      const at: number | undefined = pairItems(schema, path.slice(0, depth), own, other)[step];
      if (at === undefined) return undefined;
      [own, other] = [own[step], other[at]];
      there.push(at);
    } else {
      [own, other] = [member(own, step), member(other, step)];
      there.push(step);
    }
    if (other === undefined) return undefined;
  }
  return other === undefined ? undefined : { path: there, value: other };
}
