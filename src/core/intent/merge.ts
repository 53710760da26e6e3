/**
 * Puts the edits of a live object into its document: three-way, per field.
 *
 * Everything that is not an edit is returned as it stands in the document, the very same value, so an unchanged document is
 * recognised by identity. Server defaults are not looked at here; what is added is pruned afterwards (`prune.ts`), when the
 * document after the edit is known.
 */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { holdsUnowned, isUnowned } from '../sanitize/index.ts';
import { isEdit, isStated, vanishes } from './judge.ts';
import { mergeList } from './lists.ts';
import { isKeyed } from './pairs.ts';
import { isMissing, type MergeRules, member, type Place } from './place.ts';
import { equalByMeaning, type KindSchema } from './schema/index.ts';

/** The value at a place after the edits; undefined when it is absent or goes. */
export function mergeValue(rules: MergeRules, place: Place): Json | undefined {
  const { path, document, bases, live } = place;
  if (isIdentity(path)) return document;
  if (isMissing(live)) return mergeAbsent(rules, place);
  if (rules.policy === 'handled' && equalByMeaning(bases[0], live, rules.schema, path)) return document;
  if (document !== undefined && isStated(rules, path, document, live)) return document;
  if (isObject(live) && (isMissing(document) || isObject(document)))
    return mergeMap(rules, place, document, live);
  if (Array.isArray(live) && (isMissing(document) || Array.isArray(document))) {
    return mergeList(rules, place, live, mergeValue);
  }
  if (!isEdit(rules, place)) return document;
  return isObject(live) || Array.isArray(live) ? asLive(rules, path, live) : live;
}

/** The live value with everything but what controllers put there. */
export function asLive(rules: MergeRules, path: Path, live: Json): Json {
  const place = { path, document: undefined, bases: [undefined], live };
  return mergeValue({ ...rules, policy: 'whole' }, place) ?? live;
}

function mergeMap(
  rules: MergeRules,
  place: Place,
  document: JsonObject | null | undefined,
  live: JsonObject,
): Json | undefined {
  const inner = rulesInside(rules, place, document);
  if (inner === undefined) return place.document;
  const bases = inner === rules ? place.bases : [document ?? undefined];
  const members: [string, Json][] = [];
  let changed = false;
  const put = (key: string, stated: Json | undefined): void => {
    const path = [...place.path, key];
    const value = mergeValue(inner, {
      path,
      document: stated,
      bases: bases.map((base) => member(base, key)),
      live: member(live, key),
    });
    if (value !== undefined) members.push([key, value]);
    if (value !== stated) changed = true;
  };
  const known = document ?? {};
  for (const [key, stated] of Object.entries(known)) put(key, stated);
  for (const key of Object.keys(live)) if (!Object.hasOwn(known, key)) put(key, undefined);
  if (changed) return Object.fromEntries(members);
  const isNewEmpty = isMissing(document) && Object.keys(live).length === 0 && isEdit(rules, place);
  return isNewEmpty ? {} : place.document;
}

/**
 * An atomic map is one value: when it was edited it becomes as it is live, member by member so that unchanged text stays.
 * Undefined when it was not.
 */
function rulesInside(
  rules: MergeRules,
  place: Place,
  document: JsonObject | null | undefined,
): MergeRules | undefined {
  if (rules.policy === 'whole' || place.path.length === 0 || !rules.schema.isAtomicMap(place.path))
    return rules;
  if (isMissing(document) && place.bases.every(isMissing)) return rules;
  return isEdit(rules, place) ? { ...rules, policy: 'whole' } : undefined;
}

/**
 * The live object lacks the place. What a person removed goes; what Git alone added since stays, entry by entry in maps and
 * lists whose entries stand for themselves.
 */
function mergeAbsent(rules: MergeRules, place: Place): Json | undefined {
  const { path, document, bases } = place;
  if (isMissing(document) || isUnowned(rules.document, path)) return document;
  const wasThere = rules.policy === 'whole' || bases.every((base) => !isMissing(base));
  if (!wasThere || vanishes(rules, path, document)) return document;
  if (isObject(document) && hasOwnEntries(rules, path, document)) {
    return emptyIsAbsent(mergeMap(rules, place, document, {}));
  }
  if (Array.isArray(document) && hasOwnItems(rules.schema, path, document)) {
    return emptyIsAbsent(mergeList(rules, place, [], mergeValue));
  }
  return undefined;
}

/** Maps of names people choose; a part of any other map means nothing without the rest. */
const freeForm: ReadonlySet<string | number> = new Set([
  'labels',
  'annotations',
  'data',
  'binaryData',
  'nodeSelector',
  'matchLabels',
  'limits',
  'requests',
  'parameters',
]);

function hasOwnEntries(rules: MergeRules, path: Path, map: JsonObject): boolean {
  return freeForm.has(path.at(-1) ?? '') || holdsUnowned(rules.document, path, map);
}

function hasOwnItems(schema: KindSchema, path: Path, items: readonly Json[]): boolean {
  return schema.isSet(path) || isKeyed(schema, path, [items]);
}

function emptyIsAbsent(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.length > 0 ? value : undefined;
  return isObject(value) && Object.keys(value).length === 0 ? undefined : value;
}

/** What names the object is settled by the match of document and live object. */
function isIdentity(path: Path): boolean {
  const [first, second] = path;
  if (path.length === 1) return first === 'apiVersion' || first === 'kind';
  return path.length === 2 && first === 'metadata' && (second === 'name' || second === 'namespace');
}
