/** Whether a difference at one place is an edit, and whether a stated value is what the live object shows. */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { asList, isMissing, type MergeRules, member, type Place } from './place.ts';
import { equalByMeaning, type KindSchema, pairItems } from './schema/index.ts';

/** Whether the live value at a place, which is there and differs from the document, is an edit. */
export function isEdit(rules: MergeRules, place: Place): boolean {
  const { path, bases, live } = place;
  if (rules.autoscaled && isReplicas(path)) return false;
  if (rules.policy === 'whole') return !rules.isControllers(path);
  const verdict = rules.verdict(path);
  switch (rules.policy) {
    case 'handled':
      return isPersons(verdict) && !equalByMeaning(bases[0], live, rules.schema, path);
    case 'candidates':
      // A candidate may be an older revision: its value is only the applier's leftover unless a person claims it.
      return bases.some((base, index) => isCandidate(rules, index, path, base, live))
        ? verdict === 'person'
        : verdict !== 'controller';
  }
}

/** Nobody owns what a person removed, and what older servers or bare files do not track. */
export function isPersons(verdict: string): boolean {
  return verdict === 'person' || verdict === 'nobody';
}

export function isReplicas(path: Path): boolean {
  return path.length === 2 && path[0] === 'spec' && path[1] === 'replicas';
}

/** Whether a stated value is how the server would give it back at this place, the defaults inside it aside. */
export function isStated(rules: MergeRules, path: Path, stated: Json, live: Json | undefined): boolean {
  return rules.schema.readsBack({ path, stated, live, document: rules.document, object: rules.live });
}

/** Whether the server drops what the document states, so that its absence tells nothing. */
export function vanishes(rules: MergeRules, path: Path, stated: Json): boolean {
  if (isStated(rules, path, stated, undefined)) return true;
  if (!isObject(stated)) return false;
  const members = Object.entries(stated);
  return members.length > 0 && members.every(([key, value]) => vanishes(rules, [...path, key], value));
}

/** Everything the first value states stands in the second by meaning; the second may hold more. */
export function covers(
  schema: KindSchema,
  path: Path,
  stated: Json | undefined,
  live: Json | undefined,
): boolean {
  if (isMissing(stated)) return true;
  if (isObject(stated)) {
    if (!isObject(live)) return Object.keys(stated).length === 0 && isMissing(live);
    return Object.entries(stated).every(([key, value]) =>
      covers(schema, [...path, key], value, member(live, key)),
    );
  }
  if (Array.isArray(stated)) {
    if (!Array.isArray(live) || live.length !== stated.length) return false;
    const pairs = pairItems(schema, path, stated, live);
    return stated.every((item, index) => {
      const at = pairs[index];
      return at !== undefined && covers(schema, [...path, index], item, live[at]);
    });
  }
  return schema.readsBack({ path, stated, live });
}

/** Whether the live value is what applying the candidate document gives. */
function isCandidate(
  rules: MergeRules,
  index: number,
  path: Path,
  stated: Json | undefined,
  live: Json | undefined,
): boolean {
  const document = rules.candidates[index];
  if (document === undefined) return false;
  return showsCandidate(rules, document, path, stated, live);
}

function showsCandidate(
  rules: MergeRules,
  document: JsonObject,
  path: Path,
  stated: Json | undefined,
  live: Json | undefined,
): boolean {
  const { schema } = rules;
  if (isMissing(live)) return isMissing(stated) || vanishes(rules, path, stated);
  if (isMissing(stated)) {
    return schema.explain({ live: rules.live, path, document, documentPath: undefined }) !== undefined;
  }
  if (isStated(rules, path, stated, live)) return true;
  if (isObject(stated) && isObject(live)) {
    const keys = new Set([...Object.keys(stated), ...Object.keys(live)]);
    return [...keys].every((key) =>
      showsCandidate(rules, document, [...path, key], member(stated, key), member(live, key)),
    );
  }
  if (!Array.isArray(stated) || !Array.isArray(live) || stated.length !== live.length) return false;
  const pairs = pairItems(schema, path, live, stated);
  return live.every((item, index) => {
    const at = pairs[index];
    return at !== undefined && showsCandidate(rules, document, [...path, index], asList(stated)[at], item);
  });
}
