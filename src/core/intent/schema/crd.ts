/**
 * What a CustomResourceDefinition says about its objects, as type nodes: defaults, list types and keys, int-or-string,
 * quantities and durations.
 */
import { isObject, type Json, type JsonObject } from '../../json.ts';
import { crdTable } from './table.ts';
import { type Meaning, metadataType, type TypeNode } from './types.ts';

export interface CrdSchemas {
  /** The openAPIV3Schema of that version, when one is known. */
  get(apiVersion: string, kind: string): JsonObject | undefined;
}

/** Looks schemas up in CustomResourceDefinition objects. Other objects and versions without a schema are passed over. */
export function crdSchemasOf(crds: readonly JsonObject[]): CrdSchemas {
  const schemas = new Map<string, JsonObject>();
  for (const crd of crds) {
    const spec = memberOf(crd, 'spec');
    const group = spec.group;
    const kind = memberOf(spec, 'names').kind;
    if (crd.kind !== 'CustomResourceDefinition' || typeof group !== 'string' || typeof kind !== 'string')
      continue;
    for (const version of Array.isArray(spec.versions) ? spec.versions : []) {
      const schema = isObject(version) ? memberOf(version, 'schema').openAPIV3Schema : undefined;
      if (isObject(version) && isObject(schema))
        schemas.set(`${group}/${String(version.name)}/${kind}`, schema);
    }
  }
  return { get: (apiVersion, kind) => schemas.get(`${apiVersion}/${kind}`) };
}

/** The schemas of the Flux and Argo CD kinds, reduced to facts. */
export const builtinCrds: CrdSchemas = { get: (apiVersion, kind) => crdTable[`${apiVersion}/${kind}`] };

/** The root node of a custom resource. */
export function customType(schema: JsonObject): TypeNode {
  const root = nodeOf(schema);
  return {
    ...root,
    defaulted: root.defaulted,
    step: (key) => (key === 'metadata' ? metadataType() : root.step(key)),
  };
}

function nodeOf(schema: JsonObject): TypeNode {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  const listKeys = listType === 'map' && Array.isArray(keys) ? keys.map(String) : undefined;
  return {
    meaning: meaningOf(schema),
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    map: schema.additionalProperties !== undefined,
    set: listType === 'set',
    listKeys,
    keyDefaults: listKeys === undefined ? {} : keyDefaultsOf(memberOf(schema, 'items'), listKeys),
    initial: schema.default,
    nullable: schema.nullable === true,
    get defaulted() {
      const properties = Object.entries(memberOf(schema, 'properties'));
      return properties
        .filter(([, member]) => isObject(member) && member.default !== undefined)
        .map(([key]) => key);
    },
    step: (key) => stepInto(schema, key),
  };
}

function stepInto(schema: JsonObject, key: string | number): TypeNode | undefined {
  if (typeof key === 'number') return isObject(schema.items) ? nodeOf(schema.items) : undefined;
  const properties = memberOf(schema, 'properties');
  const named = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (isObject(named)) {
    // The server defaults nothing inside the metadata of an embedded object.
    return schema['x-kubernetes-embedded-resource'] === true && key === 'metadata'
      ? metadataType()
      : nodeOf(named);
  }
  return isObject(schema.additionalProperties) ? nodeOf(schema.additionalProperties) : undefined;
}

function keyDefaultsOf(item: JsonObject, keys: readonly string[]): Record<string, Json> {
  const found: Record<string, Json> = {};
  for (const key of keys) {
    const initial = memberOf(memberOf(item, 'properties'), key).default;
    if (initial !== undefined) found[key] = initial;
  }
  return found;
}

/**
 * An int-or-string whose pattern is that of resource quantities is a quantity: that is how generators write the type.
 * A string whose pattern admits only Go durations, or with `format: duration`, is a duration. Anything else is exact.
 */
function meaningOf(schema: JsonObject): Meaning {
  const { pattern, format } = schema;
  if (schema['x-kubernetes-int-or-string'] === true || format === 'int-or-string') {
    return typeof pattern === 'string' && pattern.includes('[KMGTPE]i') ? 'quantity' : 'int-or-string';
  }
  if (schema.type !== 'string') return 'exact';
  if (format === 'duration') return 'duration';
  return typeof pattern === 'string' && admitsOnlyDurations(pattern) ? 'duration' : 'exact';
}

const unitGroup = /\((?:\?:)?(?:ns|us|\u00b5s|ms|s|m|h)(?:\|(?:ns|us|\u00b5s|ms|s|m|h))*\)/g;
const digitsOnly = /^[\^$()+?*{}[\],.\\\d:-]*$/;

/** Like `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`: a group of Go's units, and besides it only digits. The pattern is never run. */
function admitsOnlyDurations(pattern: string): boolean {
  const rest = pattern.replace(unitGroup, '');
  return rest.length < pattern.length && digitsOnly.test(rest.replaceAll('\\d', ''));
}

function memberOf(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? value : {};
}
