/**
 * Why the server, not a person, put a field there.
 */
import { equalJson, isObject, type Json, type JsonObject, type Path, valueAt } from '../../json.ts';
import {
  type Context,
  contextOf,
  elsewhere,
  isNew,
  memberContext,
  readDocument,
  readLive,
} from './context.ts';
import { derivations } from './derive.ts';
import { equalByMeaning } from './equal.ts';
import type { ExplainField, Explanation, Facts, KindSchema } from './kind-schema.ts';
import { type Condition, isSilent, type Match, matchesAlong, type Rule } from './rules.ts';
import { schemaDefault } from './schema-default.ts';

/** See `KindSchema.explain`. */
export function explain(facts: Facts, schema: KindSchema, field: ExplainField): Explanation | undefined {
  const value = valueAt(field.live, field.path);
  if (value === undefined) return undefined;
  const context = contextOf(schema, field, value);
  const within = explainWithin(facts, schema, context);
  return 'kind' in within ? within : undefined;
}

/** See `KindSchema.mayOutlive`. */
export function mayOutlive(facts: Facts, path: Path, value: Json): boolean {
  const matches = matchesAlong(facts.rules, path)[path.length] ?? [];
  return matches.some(({ rule }) => rule.sticky && (rule.oneOf ?? []).some((one) => equalJson(one, value)));
}

/** The paths inside a live-only field that nothing explains; a container with none of its own gives its own path. */
export function unexplainedWithin(facts: Facts, schema: KindSchema, field: ExplainField): readonly Path[] {
  const value = valueAt(field.live, field.path);
  if (value === undefined) return [];
  const within = explainWithin(facts, schema, contextOf(schema, field, value));
  return 'kind' in within ? [] : within;
}

/** See `KindSchema.isUnexplained`. Said of the whole, because the data of a ConfigMap may be thousands of entries. */
export function isUnexplained(facts: Facts, path: Path, value: Json): boolean {
  return (
    facts.origin === 'builtin' &&
    membersOf(value).every(([, inner]) => inner !== null && typeof inner !== 'object') &&
    isSilent(facts.rules, path)
  );
}

function explainWithin(facts: Facts, schema: KindSchema, context: Context): Explanation | readonly Path[] {
  if (context.value === null) return { kind: 'default' };
  const own = explainItself(facts, schema, context);
  if (own !== undefined) return own;
  const members = membersOf(context.value);
  if (members.length === 0) return [context.path];
  if (isUnexplained(facts, context.path, context.value))
    return members.map(([step]) => [...context.path, step]);
  let first: Explanation | undefined;
  const paths: Path[] = [];
  for (const [step, value] of members) {
    const within = explainWithin(facts, schema, memberContext(context, step, value));
    if ('kind' in within) first = first === undefined || first.kind === 'default' ? within : first;
    else paths.push(...within);
  }
  return paths.length === 0 && first !== undefined ? first : paths;
}

function explainItself(facts: Facts, schema: KindSchema, context: Context): Explanation | undefined {
  const along = matchesAlong(facts.rules, context.path);
  for (const match of along[context.path.length] ?? []) {
    if (applies(facts, schema, context, match)) return { kind: match.rule.why };
  }
  if (facts.origin === 'custom' && schemaDefault(facts, schema, context)) return { kind: 'default' };
  return explainByAncestor(facts, schema, context, along);
}

/** A member of a subtree that belongs to the server as a whole, like status. */
function explainByAncestor(
  facts: Facts,
  schema: KindSchema,
  context: Context,
  along: readonly (readonly Match[])[],
): Explanation | undefined {
  for (const [depth, matches] of along.entries()) {
    if (depth === 0 || depth >= context.path.length) continue;
    for (const match of matches) {
      if (!givesSubtree(match.rule)) continue;
      if (!match.rule.overwrites && context.aligned.length >= depth) continue;
      const path = context.path.slice(0, depth);
      const value = valueAt(context.live, path) ?? null;
      const aligned = context.aligned.slice(0, depth - 1);
      if (applies(facts, schema, { ...context, path, value, aligned }, match))
        return { kind: match.rule.why };
    }
  }
  return undefined;
}

function givesSubtree(rule: Rule): boolean {
  return rule.why !== 'default' && rule.is === undefined && rule.oneOf === undefined;
}

/** Does this rule give the live value? */
export function applies(facts: Facts, schema: KindSchema, context: Context, match: Match): boolean {
  const { rule } = match;
  if (rule.stated && isNew(context.document)) return false;
  if (rule.is !== undefined && !equalByMeaning(context.value, rule.is, schema, context.path)) return false;
  if (
    rule.oneOf !== undefined &&
    !rule.oneOf.some((value) => equalByMeaning(context.value, value, schema, context.path))
  ) {
    return false;
  }
  if (!conditionsHold(facts, schema, context, match)) return false;
  if (rule.by === undefined) return true;
  const questions = {
    equal: (a: Json, b: Json) => equalByMeaning(a, b, schema, context.path),
    isExplained: (path: Path, value: Json) =>
      'kind' in explainWithin(facts, schema, elsewhere(schema, context, path, value)),
  };
  return derivations[rule.by]?.(context, match, questions) ?? false;
}

/** Do all conditions of a rule hold for the field? */
export function conditionsHold(facts: Facts, schema: KindSchema, context: Context, match: Match): boolean {
  return match.rule.if.every((condition) => holds(facts, schema, context, match, condition));
}

function holds(
  facts: Facts,
  schema: KindSchema,
  context: Context,
  match: Match,
  condition: Condition,
): boolean {
  const value =
    condition.in === 'live'
      ? readLive(context, match.base, condition.at)
      : stated(facts, schema, context, match, condition);
  if (condition.stated === true) return value !== undefined && value !== null;
  if (condition.set !== undefined) return condition.set === isSet(value);
  if (condition.is !== undefined) return condition.is.some((wanted) => value === wanted);
  return !(condition.not ?? []).some((unwanted) => value === unwanted);
}

/**
 * What the document will state. Read from the live object, a value counts as stated unless it is the field under question
 * or a plain default, because neither will be written.
 */
function stated(
  facts: Facts,
  schema: KindSchema,
  context: Context,
  match: Match,
  condition: Condition,
): Json | undefined {
  const reading = readDocument(context, match.base, condition.at);
  if (reading === undefined) return undefined;
  if (reading.of === 'document' || reading.value === undefined) return reading.value;
  if (
    samePath(reading.livePath, context.path) ||
    isPlainDefault(facts, schema, reading.livePath, reading.value)
  )
    return undefined;
  return reading.value;
}

function isPlainDefault(facts: Facts, schema: KindSchema, path: Path, value: Json): boolean {
  const matches = matchesAlong(facts.rules, path)[path.length] ?? [];
  return matches.some(
    ({ rule }) =>
      rule.is !== undefined && rule.if.length === 0 && equalByMeaning(value, rule.is, schema, path),
  );
}

/** Null and empty count as absent. */
function isSet(value: Json | undefined): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

function membersOf(value: Json): readonly (readonly [string | number, Json])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item] as const);
  return isObject(value) ? Object.entries(value satisfies JsonObject) : [];
}
