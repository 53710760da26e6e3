/** The verdict of the API server on one of our objects, without an API server. */
import type * as z from 'zod';
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../core/json.ts';
import { objectSchemaOf } from './crd.ts';
import type { KindDefinition } from './definition.ts';
import { oldField } from './old-spellings.ts';
import type { StructuralSchema } from './structural.ts';

export interface Violation {
  readonly path: Path;
  readonly problem: string;
  readonly fix?: string;
}

/** What a strict API server would refuse in an object of the kind; an old spelling is named with its successor. */
export function violationsOf(definition: KindDefinition, object: JsonObject): Violation[] {
  const schema = objectSchemaOf(definition);
  const { properties = {} } = schema;
  const strict = { ...schema, properties: { ...properties, metadata: metadataSchema } };
  const unknown = unknownFields(definition.kind, object, strict, []);
  // The server drops the status of what people apply, and fields that are null.
  const { status: _, ...rest } = withoutNulls(object);
  const result = definition.schema.safeParse(rest);
  const invalid = result.success ? [] : result.error.issues.map((issue) => violationOf(issue, rest));
  // Whoever wrote the old name of a field has not forgotten the new one.
  const forgotten = invalid.filter(
    ({ path }) => !unknown.some(({ fix }) => fix === `write ${fieldText(path)}`),
  );
  return [...unknown, ...nameProblems(object), ...forgotten];
}

/** `spec.rules[0].resources`. */
export function fieldText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

const text: StructuralSchema = { type: 'string' };
const textMap: StructuralSchema = { type: 'object', additionalProperties: text };
const opaqueList: StructuralSchema = { type: 'array' };
const metadataSchema: StructuralSchema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    labels: textMap,
    annotations: textMap,
    finalizers: opaqueList,
    ownerReferences: opaqueList,
    managedFields: opaqueList,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: { type: 'integer' },
    selfLink: text,
  },
};

function unknownFields(kind: string, value: Json, schema: StructuralSchema, path: Path): Violation[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) => unknownFields(kind, item, items, [...path, index]));
  }
  if (!isObject(value) || schema.type !== 'object') return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, key];
    const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    const inner = known ?? schema.additionalProperties;
    return inner === undefined ? [unknownField(kind, at, schema)] : unknownFields(kind, member, inner, at);
  });
}

function unknownField(kind: string, path: Path, schema: StructuralSchema): Violation {
  const pattern = path
    .map((step) => (typeof step === 'number' ? '[]' : `.${step}`))
    .join('')
    .slice(1);
  const old = oldField(kind, pattern);
  if (old !== undefined) return { path, ...old };
  const names = Object.keys(schema.properties ?? {});
  const written = String(path.at(-1));
  const alike = names.find((name) => name.toLowerCase() === written.toLowerCase());
  const known = names.length === 0 || names.length > maxNamesShown ? '' : `; known here: ${names.join(', ')}`;
  const fix = alike === undefined ? `remove it${known}` : `write ${alike}`;
  return { path, problem: 'unknown field', fix };
}

/** More field names than this are no help on one line. */
const maxNamesShown = 12;

function withoutNulls(object: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [key, member] of Object.entries(object)) {
    if (member !== null) result[key] = withoutNullMembers(member);
  }
  return result;
}

function withoutNullMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNullMembers);
  return isObject(value) ? withoutNulls(value) : value;
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function nameProblems({ metadata }: JsonObject): Violation[] {
  const name = isObject(metadata) ? metadata.name : undefined;
  if (typeof name !== 'string' || (subdomain.test(name) && name.length <= 253)) return [];
  return [
    {
      path: ['metadata', 'name'],
      problem: `${JSON.stringify(name)} is not a name Kubernetes takes`,
      fix: 'use lower-case letters, digits, - and .',
    },
  ];
}

const missing = 'is required';

function violationOf(issue: z.core.$ZodIssue, object: JsonObject): Violation {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  const problem = problemOf(issue, valueAt(object, path));
  return problem === missing ? { path, problem, fix: 'set it' } : { path, problem };
}

function problemOf(issue: z.core.$ZodIssue, value: Json | undefined): string {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined ? missing : `must be ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((allowed) => String(allowed)).join(' or ')}`;
    case 'too_small':
      return `must ${issue.origin === 'number' || issue.origin === 'int' ? 'be' : 'have'} at least ${amount(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${issue.origin === 'number' || issue.origin === 'int' ? 'be' : 'have'} at most ${amount(issue.origin, issue.maximum)}`;
    default:
      return issue.message;
  }
}

function withArticle(type: string): string {
  const words: Readonly<Record<string, string>> = {
    array: 'a list',
    boolean: 'true or false',
    int: 'an integer',
    number: 'a number',
    object: 'a map',
    record: 'a map',
    string: 'a text; put it in quotes',
  };
  return words[type] ?? `of type ${type}`;
}

function amount(origin: string, bound: number | bigint): string {
  if (origin === 'string') return `${bound} ${bound === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `${bound} ${bound === 1 ? 'item' : 'items'}`;
  return String(bound);
}
