/**
 * Lists: sets by value, keyed lists item by item, all others as one value whose items keep their text where they can.
 */
import { canonicalJson, isObject, type Json, type Path } from '../json.ts';
import { isEdit, isPersons } from './judge.ts';
import { arrange, type Entry } from './order.ts';
import { inverse, isKeyed, pairLoosely } from './pairs.ts';
import { asList, type MergeRules, type MergeValue, type Place } from './place.ts';
import { equalByMeaning, pairItems } from './schema/index.ts';

export function mergeList(
  rules: MergeRules,
  place: Place,
  live: readonly Json[],
  merge: MergeValue,
): Json | undefined {
  const { schema } = rules;
  const stated = asList(place.document);
  const lists = place.bases.map(asList);
  // A base that cannot be paired has no items in common with the list as it is now.
  const bases = isKeyed(schema, place.path, [stated, live])
    ? lists.map((base) => (isKeyed(schema, place.path, [base]) ? base : []))
    : lists;
  const merged = schema.isSet(place.path)
    ? mergeSet(rules, place, stated, bases, live)
    : isKeyed(schema, place.path, [stated, live])
      ? mergeKeyed(rules, place, stated, bases, live, merge)
      : mergeSequence(rules, place, stated, bases, live, merge);
  if (merged === undefined || isSameList(merged, place.document)) return place.document;
  if (merged.length > 0 || Array.isArray(place.document)) return merged;
  return live.length === 0 && isEdit(rules, place) ? [] : place.document;
}

function isSameList(merged: readonly Json[], document: Json | undefined): boolean {
  return (
    Array.isArray(document) &&
    merged.length === document.length &&
    merged.every((item, index) => item === document[index])
  );
}

function mergeSet(
  rules: MergeRules,
  place: Place,
  stated: readonly Json[],
  bases: readonly (readonly Json[])[],
  live: readonly Json[],
): Json[] {
  const texts = (items: readonly Json[]) => new Set(items.map(canonicalJson));
  const [own, now] = [texts(stated), texts(live)];
  const before = bases.map(texts);
  const kept = stated.filter((item) => {
    const text = canonicalJson(item);
    if (now.has(text)) return true;
    return rules.policy !== 'whole' && before.some((base) => !base.has(text));
  });
  const added = live.filter((item, index) => {
    const text = canonicalJson(item);
    const known = before.map((base) => (base.has(text) ? item : undefined));
    return (
      !own.has(text) &&
      isEdit(rules, { path: [...place.path, index], document: undefined, bases: known, live: item })
    );
  });
  return [...kept, ...added];
}

/** Each item is its own field; the order is the file's, except where order means something. */
function mergeKeyed(
  rules: MergeRules,
  place: Place,
  stated: readonly Json[],
  bases: readonly (readonly Json[])[],
  live: readonly Json[],
  merge: MergeValue,
): Json[] {
  const { schema } = rules;
  const { path } = place;
  const baseOf = bases.map((base) => pairItems(schema, path, live, base));
  const statedOf = statedPartners(rules, path, stated, bases, live, baseOf);
  const liveOf = inverse(statedOf, stated.length);
  const entries: Entry[] = [];
  for (const [at, item] of stated.entries()) {
    const liveAt = liveOf[at];
    const value = merge(rules, {
      path: [...path, liveAt ?? at],
      document: item,
      bases: bases.map((base, index) => partnerOf(rules, path, base, item, baseOf[index], liveAt)),
      live: liveAt === undefined ? undefined : live[liveAt],
    });
    if (value !== undefined) entries.push({ value, live: liveAt, stated: at });
  }
  for (const [at, item] of live.entries()) {
    if (statedOf[at] !== undefined) continue;
    const own = bases.map((base, index) => base[baseOf[index]?.[at] ?? -1]);
    const value = newItem(rules, [...path, at], own, item, merge);
    if (value !== undefined) entries.push({ value, live: at, stated: undefined });
  }
  return arrange(schema, path, entries, leadingOrder(rules, path, baseOf[0] ?? [], statedOf));
}

/** An item the document lacks comes whole or not at all: a part of it would not be a valid item. */
function newItem(
  rules: MergeRules,
  path: Path,
  bases: readonly (Json | undefined)[],
  live: Json,
  merge: MergeValue,
): Json | undefined {
  const part = merge(rules, { path, document: undefined, bases, live });
  if (part === undefined || rules.policy === 'whole') return part;
  return (
    merge({ ...rules, policy: 'whole' }, { path, document: undefined, bases: [undefined], live }) ?? live
  );
}

/** The item of a base that is a stated item: by way of the live item when there is one. */
function partnerOf(
  rules: MergeRules,
  path: Path,
  base: readonly Json[],
  item: Json,
  baseOf: readonly (number | undefined)[] | undefined,
  liveAt: number | undefined,
): Json | undefined {
  const known = liveAt === undefined ? undefined : baseOf?.[liveAt];
  const at = known ?? pairItems(rules.schema, path, [item], base)[0];
  return at === undefined ? undefined : base[at];
}

/** For each live item the stated one. By way of the handled item, so that a rename on either side does not part them. */
function statedPartners(
  rules: MergeRules,
  path: Path,
  stated: readonly Json[],
  bases: readonly (readonly Json[])[],
  live: readonly Json[],
  baseOf: readonly (readonly (number | undefined)[])[],
): (number | undefined)[] {
  const direct = pairItems(rules.schema, path, live, stated);
  if (rules.policy !== 'handled') return direct;
  const [base = []] = bases;
  const through = pairItems(rules.schema, path, base, stated);
  const partners = live.map((_item, index) => through[baseOf[0]?.[index] ?? -1]);
  const taken = new Set(partners);
  return partners.map((partner, index) => {
    const other = direct[index];
    return (
      partner ??
      (other !== undefined && !taken.has(other) && baseOf[0]?.[index] === undefined ? other : undefined)
    );
  });
}

/** Whether the live order leads: somebody moved items there since. */
function leadingOrder(
  rules: MergeRules,
  path: Path,
  baseOf: readonly (number | undefined)[],
  statedOf: readonly (number | undefined)[],
): 'live' | 'document' {
  const before = rules.policy === 'whole' ? statedOf : baseOf;
  const positions = before.filter((position) => position !== undefined);
  const moved = positions.some((position, index) => index > 0 && position < (positions[index - 1] ?? 0));
  return moved && (rules.policy === 'whole' || isPersons(rules.verdict(path))) ? 'live' : 'document';
}

/** One value: as it is live, but a stated item that means the same keeps its text. */
function mergeSequence(
  rules: MergeRules,
  place: Place,
  stated: readonly Json[],
  bases: readonly (readonly Json[])[],
  live: readonly Json[],
  merge: MergeValue,
): Json[] | undefined {
  if (!isEdit(rules, place)) return undefined;
  const { schema } = rules;
  const { path } = place;
  const [base = []] = rules.policy === 'handled' ? bases : [];
  const baseOf = pairLoosely(schema, path, base, live);
  const through = pairLoosely(schema, path, stated, base);
  const direct = pairLoosely(schema, path, stated, live);
  return live.map((item, index) => {
    const baseAt = baseOf[index];
    const at = baseAt === undefined ? direct[index] : through[baseAt];
    const itemPath = [...path, index];
    const own = at === undefined ? undefined : stated[at];
    if (own !== undefined && equalByMeaning(own, item, schema, itemPath)) return own;
    if (!isObject(item) && !Array.isArray(item)) return item;
    const whole = { ...rules, policy: 'whole' } as const;
    const known = baseAt === undefined || own === undefined ? undefined : base[baseAt];
    const value =
      known === undefined
        ? merge(whole, { path: itemPath, document: own, bases: [own], live: item })
        : merge(rules, { path: itemPath, document: own, bases: [known], live: item });
    return value ?? item;
  });
}
