/**
 * Takes out of an edited document what the edit need not have brought: fields that the server gives again by itself.
 *
 * Judged against the document *after* the edit, one field after the other: of two fields that explain each other one stays, and
 * a default that the edit turned into something else is written.
 */
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../json.ts';
import { isKeyed, pairLoosely } from './pairs.ts';
import { asList, isMissing, member } from './place.ts';
import { type Explanation, type KindSchema, pairItems } from './schema/index.ts';
import { removeAt, setAt } from './surgery.ts';

export interface Pruning {
  readonly schema: KindSchema;
  /** The document as Git has it; undefined for a new one. */
  readonly before: JsonObject | undefined;
  /** Everything the server returned. */
  readonly live: JsonObject;
  /** Whether a person owns the very field at a live path, so that an allocated value was in fact chosen. */
  isChosen(path: Path): boolean;
  /** Whether a default that was decided once may have left the value there, so that nobody chose it. */
  isLeftover(path: Path, value: Json): boolean;
  /** Whether only controllers own the place. */
  isControllers(path: Path): boolean;
}

/** One field seen from both objects; list positions differ. */
interface Pair {
  readonly path: Path;
  readonly livePath: Path;
  readonly before: Json | undefined;
}

export function prune(pruning: Pruning, edited: JsonObject): JsonObject {
  const { schema, live } = pruning;
  let current = edited;
  const before = pruning.before === undefined ? undefined : laidOutAs(schema, pruning.before, edited);

  const whyThere = (path: Path, livePath: Path): Explanation | undefined =>
    before === undefined
      ? schema.explain({ live, path: livePath, document: outline(current), documentPath: undefined })
      : schema.explain({
          live,
          path: livePath,
          document: removeAt(current, path),
          documentPath: path.slice(0, -1),
          before,
        });

  /** Items made of nothing but defaults still say that there is an item: `ports: [{protocol: TCP}]` is no open port list. */
  const isItemsOnly = (path: Path, livePath: Path, value: Json): boolean =>
    Array.isArray(value) &&
    value.some(isObject) &&
    leavesOf(value).every((leaf) => whyThere([...path, ...leaf], [...livePath, ...leaf])?.kind === 'default');

  const isNeedless = ({ path, livePath }: Pair, value: Json): boolean => {
    // It holds the name.
    if (path.length === 1 && path[0] === 'metadata') return false;
    const why = whyThere(path, livePath);
    if (why === undefined) return pruning.isLeftover(livePath, value);
    if (why.kind === 'allocated') return !pruning.isChosen(livePath);
    return why.kind !== 'default' || !isItemsOnly(path, livePath, value);
  };

  const visit = (pair: Pair, value: Json, liveValue: Json): void => {
    if (isMissing(pair.before) && typeof pair.path.at(-1) === 'string' && isNeedless(pair, value)) {
      current = pair.before === null ? setAt(current, pair.path, null) : removeAt(current, pair.path);
      return;
    }
    if (isObject(value) && isObject(liveValue)) visitMap(pair, value, liveValue);
    else if (Array.isArray(value) && Array.isArray(liveValue)) visitList(pair, value, liveValue);
  };

  const visitMap = (pair: Pair, value: JsonObject, liveValue: JsonObject): void => {
    if (!schema.isUnexplained(pair.livePath, value)) visitMembers(pair, value, liveValue);
    if (isBare(pair, liveValue)) current = removeAt(current, pair.path);
  };

  const visitMembers = (pair: Pair, value: JsonObject, liveValue: JsonObject): void => {
    for (const [key, inner] of Object.entries(value)) {
      const path = [...pair.path, key];
      const liveInner = member(liveValue, key);
      if (isMissing(liveInner) || isNaming(path)) continue;
      visit({ path, livePath: [...pair.livePath, key], before: member(pair.before, key) }, inner, liveInner);
    }
  };

  /** A map of names that lost its last one, while the live map holds only what others put there, has nothing left to say. */
  const isBare = ({ path, livePath, before: own }: Pair, liveValue: JsonObject): boolean => {
    if (!isFilled(own) || !isFilled(liveValue) || !schema.isMap(livePath)) return false;
    const left = valueAt(current, path);
    return isObject(left) && !isFilled(left);
  };

  const visitList = (pair: Pair, value: readonly Json[], liveValue: readonly Json[]): void => {
    const stated = asList(pair.before);
    const liveOf = pairUp(schema, pair.livePath, value, liveValue);
    const beforeOf = pairUp(schema, pair.livePath, value, stated);
    for (const [index, item] of value.entries()) {
      const [at, from] = [liveOf[index], beforeOf[index]];
      const liveItem = at === undefined ? undefined : liveValue[at];
      if (at === undefined || isMissing(liveItem)) continue;
      const path = [...pair.path, index];
      const own = from === undefined ? undefined : stated[from];
      visit({ path, livePath: [...pair.livePath, at], before: own }, item, liveItem);
      if (isEmptied(item, valueAt(current, path))) current = setAt(current, path, item);
    }
  };

  visit({ path: [], livePath: [], before: pruning.before ?? {} }, edited, live);
  return current;
}

function isFilled(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

function isEmptied(item: Json, pruned: Json | undefined): boolean {
  return (
    isObject(item) && Object.keys(item).length > 0 && isObject(pruned) && Object.keys(pruned).length === 0
  );
}

/** The paths of all scalars inside a value, and of its empty maps and lists. */
function leavesOf(value: Json): Path[] {
  const members: (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : isObject(value)
      ? Object.entries(value)
      : [];
  if (members.length === 0) return [[]];
  return members.flatMap(([step, inner]) => leavesOf(inner).map((leaf) => [step, ...leaf]));
}

/**
 * Adds live fields that the document left out as defaults and that are none any more after the edit: `targetPort` follows `port`
 * in a file, but not on the server.
 */
export function completeDefaults(pruning: Pruning, edited: JsonObject): JsonObject {
  const { schema, live, before } = pruning;
  if (before === undefined) return edited;
  let current = edited;
  const laidOut = laidOutAs(schema, before, edited);
  const explains = (document: JsonObject, path: Path, withBefore: boolean): boolean =>
    schema.explain({
      live,
      path,
      document,
      documentPath: undefined,
      ...(withBefore ? { before: laidOut } : {}),
    }) !== undefined;
  const visitNew = (path: Path, livePath: Path, value: Json): void => {
    if (explains(edited, livePath, true) || pruning.isControllers(livePath)) return;
    if (isObject(value) && Object.keys(value).length > 0) {
      for (const [key, inner] of Object.entries(value)) visitNew([...path, key], [...livePath, key], inner);
    } else if (explains(before, livePath, false)) {
      current = setAt(current, path, value);
    }
  };
  const visit = (path: Path, livePath: Path, value: Json, liveValue: Json): void => {
    if (isObject(value) && isObject(liveValue)) {
      for (const [key, inner] of Object.entries(liveValue)) {
        const stated = member(value, key);
        if (isNaming([...path, key]) || (path.length === 0 && key === 'status')) continue;
        if (isMissing(stated)) visitNew([...path, key], [...livePath, key], inner);
        else visit([...path, key], [...livePath, key], stated, inner);
      }
    } else if (Array.isArray(value) && Array.isArray(liveValue)) {
      const liveOf = pairUp(schema, livePath, value, liveValue);
      for (const [index, item] of value.entries()) {
        const at = liveOf[index];
        if (at !== undefined) visit([...path, index], [...livePath, at], item, liveValue[at] ?? null);
      }
    }
  };
  visit([], [], edited, live);
  return current;
}

/** For each item of a document's list the live one. */
function pairUp(
  schema: KindSchema,
  path: Path,
  items: readonly Json[],
  live: readonly Json[],
): (number | undefined)[] {
  if (schema.isSet(path) || isKeyed(schema, path, [items, live])) return pairItems(schema, path, items, live);
  const found = pairLoosely(schema, path, items, live);
  return items.map((_item, at) => {
    const index = found.indexOf(at);
    return index < 0 ? undefined : index;
  });
}

/** The document of before with its lists in the order of another one; positions it has no item for hold null. */
function laidOutAs(schema: KindSchema, before: JsonObject, model: JsonObject): JsonObject {
  const layOut = (value: Json, as: Json, path: Path): Json => {
    if (value === as) return value;
    if (isObject(value) && isObject(as)) {
      const members = Object.entries(value).map(([key, inner]): [string, Json] => {
        const other = member(as, key);
        return [key, isMissing(other) ? inner : layOut(inner, other, [...path, key])];
      });
      return Object.fromEntries(members);
    }
    if (!Array.isArray(value) || !Array.isArray(as)) return value;
    const pairs = pairUp(schema, path, as, value);
    return as.map((item, index) => {
      const at = pairs[index];
      return at === undefined ? null : layOut(value[at] ?? null, item, [...path, index]);
    });
  };
  const laidOut = layOut(before, model, []);
  return isObject(laidOut) ? laidOut : before;
}

/** A document that states nothing yet but what names it. */
function outline(document: JsonObject): JsonObject {
  const { apiVersion, kind, metadata } = document;
  return { apiVersion: apiVersion ?? null, kind: kind ?? null, metadata: metadata ?? null };
}

function isNaming(path: Path): boolean {
  if (path.length === 1) return path[0] === 'apiVersion' || path[0] === 'kind';
  return path.length === 2 && path[0] === 'metadata' && (path[1] === 'name' || path[1] === 'namespace');
}
