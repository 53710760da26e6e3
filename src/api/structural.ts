/** zod schema -> structural OpenAPI v3 schema, as a CustomResourceDefinition wants it. */
import * as z from 'zod';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../core/json.ts';

/** What a structural schema of ours may hold; anything else zod emits is a mistake and stops the generator. */
export interface StructuralSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'number';
  description?: string;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  required?: string[];
  default?: Json;
  enum?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  'x-kubernetes-validations'?: { rule: string; message: string; fieldPath?: string }[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
}

/** Keywords in the order they are printed. */
const keywords = [
  'description',
  'type',
  'format',
  'enum',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'properties',
  'additionalProperties',
  'items',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const;

const types = new Set<Json>(['object', 'array', 'string', 'integer', 'boolean', 'number']);

/** Throws when the schema uses something a structural schema cannot say: unions, nullable, references. */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const json = parseJson(JSON.stringify(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' })));
  return toStructural(json, 'schema');
}

function toStructural(json: Json | undefined, at: string): StructuralSchema {
  if (!isObject(json) || json.type === undefined || !types.has(json.type)) {
    throw new Error(`${at}: a structural schema needs one type, got ${printJson(json ?? null)}`);
  }
  const source = withoutNoise(json);
  const unknown = Object.keys(source).filter((key) => !keywords.some((keyword) => keyword === key));
  if (unknown.length > 0) throw new Error(`${at}: a structural schema cannot say ${unknown.join(', ')}`);
  const result: JsonObject = {};
  for (const keyword of keywords) {
    const value = source[keyword];
    if (value !== undefined) result[keyword] = nested(keyword, value, at);
  }
  // Every keyword was checked against the list above, so the shape is the interface's.
  const structural = result as unknown as StructuralSchema;
  // The API server runs the rules on a default before it fills the defaults inside it.
  if (structural.default !== undefined) structural.default = withDefaults(structural.default, structural);
  return structural;
}

/** A value with the defaults of its schema filled in, as the API server does it. */
export function withDefaults(value: Json, schema: StructuralSchema): Json {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => withDefaults(item, items));
  }
  if (!isObject(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const result: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const inner = properties[key] ?? additionalProperties;
    result[key] = inner === undefined ? member : withDefaults(member, inner);
  }
  for (const [key, property] of Object.entries(properties)) {
    if (result[key] === undefined && property.default !== undefined) result[key] = property.default;
  }
  return result;
}

function nested(keyword: (typeof keywords)[number], value: Json, at: string): Json {
  if (keyword === 'items' || keyword === 'additionalProperties') {
    return toStructural(value, `${at}.${keyword}`) as unknown as JsonObject;
  }
  if (keyword !== 'properties' || !isObject(value)) return value;
  const entries = Object.entries(value).map(([name, property]) => [
    name,
    toStructural(property, `${at}.${name}`),
  ]);
  return Object.fromEntries(entries);
}

/** Drops what zod adds and an API server either refuses or does not need. */
function withoutNoise(json: JsonObject): JsonObject {
  const { minimum, maximum, ...rest } = json;
  const clean: JsonObject = { ...rest };
  if (minimum !== undefined && Number(minimum) > Number.MIN_SAFE_INTEGER) clean.minimum = minimum;
  if (maximum !== undefined && Number(maximum) < Number.MAX_SAFE_INTEGER) clean.maximum = maximum;
  // zod spells a format out as a pattern of 300 characters; the API server knows the format.
  if (clean.format === 'date-time') delete clean.pattern;
  if (isObject(clean.properties) && Object.keys(clean.properties).length === 0) delete clean.properties;
  if (clean.properties !== undefined) delete clean.additionalProperties;
  return clean;
}
