/**
 * How the server gives back what a document states: zero values that vanish, defaults that replace an empty value,
 * quantities in the server's spelling, write-only fields.
 */
import { equalJson, isObject, type Json, type Path } from '../../json.ts';
import { contextOf, objectAt } from './context.ts';
import { encodeBase64 } from './derive.ts';
import { equalByMeaning } from './equal.ts';
import { applies, conditionsHold } from './explain.ts';
import type { Facts, KindSchema, ReadsBackField } from './kind-schema.ts';
import { compareQuantities, parseQuantity, roundToMilli } from './quantity.ts';
import { fateAt, type Match, matchesAlong } from './rules.ts';
import { initialAt } from './schema-default.ts';
import { typeAt } from './types.ts';

/** See `KindSchema.readsBack`. */
export function readsBack(facts: Facts, schema: KindSchema, field: ReadsBackField): boolean {
  const { path, stated, live } = field;
  if (equalByMeaning(stated, live, schema, path)) return true;
  const fate = fateAt(facts.rules, path);
  if (live === undefined && fate.vanish.some((value) => equalJson(value, withoutNulls(stated)))) return true;
  if (fate.rewritten.some((name) => isRewritten(name, field))) return true;
  if (isOverwritten(facts, schema, field)) return true;
  if (facts.origin === 'custom') return readsBackCustom(facts, schema, field);
  if (isEmptyMap(stated) && live === undefined) return typeAt(facts.type, path)?.map === true;
  if (stated === null || isEmptyList(stated)) {
    return live === undefined || isNullText(schema, path, live) || isGiven(facts, schema, field, live);
  }
  return replaces(facts, schema, field) || isRounded(schema, field);
}

/** A null is replaced by the default unless the schema allows null; all other values stay. */
function readsBackCustom(facts: Facts, schema: KindSchema, { path, stated, live }: ReadsBackField): boolean {
  if (stated !== null || typeAt(facts.type, path)?.nullable === true) return false;
  return live !== undefined && equalByMeaning(live, initialAt(facts, path), schema, path);
}

/** A null amid texts or amounts becomes an empty one. */
function isNullText(schema: KindSchema, path: Path, live: Json): boolean {
  if (schema.meaning(path) === 'quantity') return live === '0';
  return live === null || (live === '' && typeof path.at(-1) === 'number');
}

/** Some rule of the path gives this value to a document that leaves it open. */
function isGiven(facts: Facts, schema: KindSchema, field: ReadsBackField, live: Json): boolean {
  const { path, document, object } = field;
  if (document !== undefined && object !== undefined) {
    return schema.explain({ live: object, path, document, documentPath: undefined }) !== undefined;
  }
  return rulesAt(facts, path).some((match) => gives(match, schema, path, live));
}

/** A stated zero value that the default takes the place of. */
function replaces(facts: Facts, schema: KindSchema, field: ReadsBackField): boolean {
  const { path, stated, live } = field;
  if (live === undefined) return false;
  return rulesAt(facts, path).some(
    (match) =>
      match.rule.replaces.some((value) => equalJson(value, stated)) &&
      gives(match, schema, path, live) &&
      (match.rule.by === undefined || isDerived(facts, schema, field, match)),
  );
}

/** Without the objects at hand any outcome of a calculation will do. */
function isDerived(facts: Facts, schema: KindSchema, field: ReadsBackField, match: Match): boolean {
  const { path, document, object, live } = field;
  if (document === undefined || object === undefined) return true;
  const context = contextOf(schema, { live: object, path, document, documentPath: undefined }, live ?? null);
  return applies(facts, schema, context, match);
}

/** A rule without a fixed value may give any. */
function gives({ rule }: Match, schema: KindSchema, path: Path, live: Json): boolean {
  if (rule.is !== undefined) return equalByMeaning(live, rule.is, schema, path);
  return rule.oneOf === undefined || rule.oneOf.some((value) => equalByMeaning(live, value, schema, path));
}

/** Fields the server writes whatever the document states. */
function isOverwritten(facts: Facts, schema: KindSchema, field: ReadsBackField): boolean {
  for (const [depth, matches] of matchesAlong(facts.rules, field.path).entries()) {
    const path = field.path.slice(0, depth);
    if (matches.some((match) => match.rule.overwrites && meetsConditions(facts, schema, field, path, match)))
      return true;
  }
  return false;
}

function meetsConditions(
  facts: Facts,
  schema: KindSchema,
  field: ReadsBackField,
  path: Path,
  match: Match,
): boolean {
  if (match.rule.if.length === 0) return true;
  const { document, object } = field;
  if (document === undefined || object === undefined) return false;
  const context = contextOf(
    schema,
    { live: object, path, document, documentPath: undefined },
    field.live ?? null,
  );
  return conditionsHold(facts, schema, context, match);
}

function isRewritten(name: string, field: ReadsBackField): boolean {
  const { stated, live, path } = field;
  switch (name) {
    case 'gone':
      return live === undefined;
    case 'emptyText':
      return stated === null && live === '';
    case 'time':
      return isSameInstant(stated, live);
    case 'base64':
      return isSameBytes(stated, live) || isOverlaid(field);
    case 'stringData':
      return live === undefined && path.length === 1 && isStored(field);
    default:
      return false;
  }
}

/** Every entry of stringData stands in the live data, when the live object is at hand. */
function isStored({ stated, object }: ReadsBackField): boolean {
  if (object === undefined || !isObject(stated)) return true;
  const data = objectAt(object.data);
  return Object.entries(stated).every(
    ([key, text]) => typeof text !== 'string' || data[key] === encodeBase64(text),
  );
}

/** stringData wins over data for the same key. */
function isOverlaid({ path, live, document }: ReadsBackField): boolean {
  const text = objectAt(document?.stringData)[String(path.at(-1))];
  return typeof text === 'string' && live === encodeBase64(text);
}

function isSameBytes(stated: Json, live: Json | undefined): boolean {
  return typeof stated === 'string' && typeof live === 'string' && stated.replace(/\s/g, '') === live;
}

/** Both are times and name the same microsecond, in whatever zone. */
function isSameInstant(stated: Json, live: Json | undefined): boolean {
  const left = microseconds(stated);
  return left !== undefined && left === microseconds(live);
}

function microseconds(value: Json | undefined): bigint | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(.{19})(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(value);
  if (match === null) return undefined;
  const [, seconds = '', fraction = '', zone = ''] = match;
  const at = Date.parse(`${seconds}${zone.toUpperCase()}`);
  return Number.isNaN(at) ? undefined : BigInt(at) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}

/** Amounts finer than a thousandth are rounded up when they are stored. */
function isRounded(schema: KindSchema, { path, stated, live }: ReadsBackField): boolean {
  if (schema.meaning(path) !== 'quantity') return false;
  const written = parseQuantity(stated);
  const stored = parseQuantity(live);
  return (
    written !== undefined && stored !== undefined && compareQuantities(roundToMilli(written), stored) === 0
  );
}

function rulesAt(facts: Facts, path: Path): readonly Match[] {
  return matchesAlong(facts.rules, path)[path.length] ?? [];
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmptyMap(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** A map of nulls is an empty map to the server. */
function withoutNulls(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
