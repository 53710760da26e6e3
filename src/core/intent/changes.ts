/** The fields in which two documents of one object differ: what a commit message, an Event and `plan` name. */
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../json.ts';
import { covers } from './judge.ts';
import { isKeyed } from './pairs.ts';
import { formatPath } from './path.ts';
import { isMissing, member } from './place.ts';
import { type KindSchema, pairItems } from './schema/index.ts';

export interface FieldChange {
  /** List positions are those of the new document; of the old one where the field is gone. */
  readonly path: Path;
  /** The path for people, list items by name. */
  readonly where: string;
  /** As in Git before and after; undefined when the field is not there. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** A change and where the field stands, or would stand, in the document before. */
export interface TracedChange {
  readonly field: FieldChange;
  readonly old: Path;
}

/** The fields that differ, each as small as it goes: the value that changed, or the root of what was added or removed. */
export function changesBetween(schema: KindSchema, before: JsonObject, after: JsonObject): FieldChange[] {
  return traceChanges(schema, before, after).map(({ field }) => field);
}

export function traceChanges(schema: KindSchema, before: JsonObject, after: JsonObject): TracedChange[] {
  const found: TracedChange[] = [];
  const report = (at: At, from: Json | undefined, to: Json | undefined): void => {
    const [path, holder] = to === undefined ? [at.old, before] : [at.now, after];
    const field = { path, where: formatPath(path, holder), before: from, after: to };
    found.push({ field, old: at.old });
  };
  const visit = (at: At, from: Json, to: Json): void => {
    if (from === to) return;
    if (isObject(from) && isObject(to)) visitMap(at, from, to);
    else if (Array.isArray(from) && Array.isArray(to)) visitList(at, from, to);
    else report(at, from, to);
  };
  const visitMap = (at: At, from: JsonObject, to: JsonObject): void => {
    for (const [key, value] of Object.entries(from)) {
      const other = member(to, key);
      if (other === undefined) report(inside(at, key, key), value, undefined);
      else visit(inside(at, key, key), value, other);
    }
    for (const [key, value] of Object.entries(to)) {
      if (!Object.hasOwn(from, key)) report(inside(at, key, key), undefined, value);
    }
  };
  const visitList = (at: At, from: Json[], to: Json[]): void => {
    const pairs = pairChanged(schema, at.now, from, to);
    if (pairs === undefined) {
      report(at, from, to);
      return;
    }
    const paired = new Set(pairs);
    for (const [index, item] of from.entries()) {
      if (!paired.has(index)) report(inside(at, index, index), item, undefined);
    }
    for (const [index, item] of to.entries()) {
      const old = pairs[index];
      const own = old === undefined ? undefined : from[old];
      if (own === undefined) report(inside(at, index, index), undefined, item);
      else visit(inside(at, old ?? index, index), own, item);
    }
  };
  visit({ old: [], now: [] }, before, after);
  return found;
}

/** One place in the document before and in the document after. */
interface At {
  readonly old: Path;
  readonly now: Path;
}

function inside(at: At, old: string | number, now: string | number): At {
  return { old: [...at.old, old], now: [...at.now, now] };
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
    return moved ? undefined : pairs;
  }
  return from.length === to.length ? to.map((_item, index) => index) : undefined;
}

/**
 * Of the given changes those whose value in Git was changed by somebody else since the object was handled: the live value was
 * written over it.
 */
export function overwrittenOf(
  schema: KindSchema,
  changes: readonly TracedChange[],
  document: JsonObject,
  desired: JsonObject,
  handled: JsonObject,
): FieldChange[] {
  const isForeign = ({ field: { path, before }, old }: TracedChange): boolean => {
    if (before !== undefined)
      return !covers(schema, path, before, locate(schema, document, handled, old)?.value);
    // Git dropped a field that the object had when it was handled and that no default explains.
    const isItem = typeof path.at(-1) === 'number';
    const found = isItem ? locate(schema, desired, handled, path) : locate(schema, document, handled, old);
    if (found === undefined || isMissing(found.value)) return false;
    return (
      schema.explain({ live: handled, path: found.path, document, documentPath: undefined }) === undefined
    );
  };
  return changes.filter(isForeign).map(({ field }) => field);
}

interface Found {
  readonly path: Path;
  readonly value: Json;
}

/** The same place in another object, list items by their keys. */
function locate(schema: KindSchema, from: JsonObject, to: JsonObject, path: Path): Found | undefined {
  let own: Json | undefined = from;
  let other: Json | undefined = to;
  const there: (string | number)[] = [];
  for (const [depth, step] of path.entries()) {
    let at: string | number | undefined = step;
    if (typeof step === 'number') {
      if (!Array.isArray(own) || !Array.isArray(other)) return undefined;
      at = pairItems(schema, path.slice(0, depth), own, other)[step];
      if (at === undefined) return undefined;
    }
    own = valueAt(own, [step]);
    other = valueAt(other, [at]);
    there.push(at);
    if (other === undefined) return undefined;
  }
  return { path: there, value: other };
}
