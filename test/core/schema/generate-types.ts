/**
 * Builds `builtin-types.json` from the API server's OpenAPI v3 documents: which lists of the built-in kinds are keyed or
 * sets, which maps are one value, which scalars compare by value. Facts only; fields that say none of these are left out.
 *
 * Type text: `quantity`, `int-or-string`, `duration`, or the name of a type; before it `[]` a list, `[=]` a set,
 * `[name,protocol=TCP]` a list paired by these keys (with the server's default of a key), `{}` a map, `!` one atomic value.
 *
 * `node test/core/schema/generate-types.ts` asks a real API server and writes the file; `npx biome check --write` lays it out.
 */
import { writeFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { startControlPlane } from '../../cluster/control-plane.ts';
import { read } from '../../kube/server-defaults-samples.ts';

const tableFile = new URL('../../../src/core/intent/schema/builtin-types.json', import.meta.url);

export interface TypeTable {
  readonly kinds: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const reference = '#/components/schemas/';
const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const scalars: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'int-or-string',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Duration': 'duration',
};
const scalarNames = new Set(Object.values(scalars));

/** The OpenAPI documents of the built-in groups. */
export async function openApiDocuments(read: (path: string) => Promise<JsonObject>): Promise<JsonObject[]> {
  const paths = objectIn(await read('/openapi/v3'), 'paths');
  const wanted = Object.keys(paths).filter((path) => builtinGroup.test(path));
  return Promise.all(wanted.sort().map((path) => read(String(objectIn(paths, path).serverRelativeURL))));
}

const builtinGroup = /^api\/v1$|^apis\/(?:[a-z]+|[a-z.]+\.k8s\.io)\/v\w+$/;

/** The table of every kind that the documents describe. */
export function typesOf(documents: readonly JsonObject[]): TypeTable {
  const schemas = new Map<string, JsonObject>();
  for (const document of documents) {
    const components = objectIn(objectIn(document, 'components'), 'schemas');
    for (const [name, schema] of Object.entries(components)) if (isObject(schema)) schemas.set(name, schema);
  }
  const types = prune(new Map([...schemas].map(([name, schema]) => [name, fieldsOf(schema, schemas)])));
  const kinds = [...schemas].flatMap(([name, schema]) => kindsOf(name, schema));
  const used = reachable(
    kinds.map(([, type]) => type),
    types,
  );
  return {
    kinds: Object.fromEntries(
      kinds
        .filter(([, type]) => types.has(type))
        .map(([kind, type]) => [kind, shortName(type)])
        .sort(byKey),
    ),
    types: Object.fromEntries(
      [...used]
        .sort()
        .map((name) => [shortName(name), Object.fromEntries(shortFields(types.get(name) ?? new Map()))]),
    ),
  };
}

type Fields = ReadonlyMap<string, string>;

function fieldsOf(schema: JsonObject, schemas: ReadonlyMap<string, JsonObject>): Fields {
  const fields = new Map<string, string>();
  for (const [field, value] of Object.entries(objectIn(schema, 'properties'))) {
    if (!isObject(value) || field === 'status') continue;
    const text = typeText(value, schemas);
    if (text !== '') fields.set(field, text);
  }
  return fields;
}

/** The type text of a field, with long type names; '' when there is nothing to say. */
function typeText(schema: JsonObject, schemas: ReadonlyMap<string, JsonObject>): string {
  const target = targetOf(schema);
  if (target !== undefined) {
    // What the field says wins over what its type says: a claimRef is granular, other references are not.
    const own = schema['x-kubernetes-map-type'] ?? schemas.get(target)?.['x-kubernetes-map-type'];
    const atomic = own === 'atomic';
    return `${atomic ? '!' : ''}${scalars[target] ?? target}`;
  }
  if (schema.type === 'array') {
    const items = objectIn(schema, 'items');
    return `${listText(schema, items, schemas)}${typeText(items, schemas)}`;
  }
  const values = schema.additionalProperties;
  if (isObject(values)) return `${isAtomic(schema) ? '!' : ''}{}${typeText(values, schemas)}`;
  return schema.format === 'int-or-string' ? 'int-or-string' : '';
}

function listText(schema: JsonObject, items: JsonObject, schemas: ReadonlyMap<string, JsonObject>): string {
  if (schema['x-kubernetes-list-type'] === 'set') return '[=]';
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!Array.isArray(keys)) return '[]';
  const item = schemas.get(targetOf(items) ?? '') ?? items;
  const properties = objectIn(item, 'properties');
  return `[${keys.map((key) => keyText(String(key), properties)).join(',')}]`;
}

function keyText(key: string, properties: JsonObject): string {
  const initial = objectIn(properties, key).default;
  return typeof initial === 'string' && initial !== '' ? `${key}=${initial}` : key;
}

function isAtomic(schema: JsonObject): boolean {
  return schema['x-kubernetes-map-type'] === 'atomic';
}

function targetOf(schema: JsonObject): string | undefined {
  const all: Json[] = Array.isArray(schema.allOf) ? schema.allOf : [];
  const target =
    schema.$ref ??
    all
      .filter(isObject)
      .map((part) => part.$ref)
      .find((ref) => ref !== undefined);
  return typeof target === 'string' ? target.slice(reference.length) : undefined;
}

/** Drops fields that lead to no fact, until none is left. */
function prune(all: ReadonlyMap<string, Fields>): Map<string, Fields> {
  const telling = new Set<string>();
  for (let grown = true; grown; ) {
    grown = false;
    for (const [name, fields] of all) {
      if (telling.has(name) || ![...fields.values()].some((text) => tells(text, telling))) continue;
      telling.add(name);
      grown = true;
    }
  }
  const kept = new Map<string, Fields>();
  for (const name of telling) {
    const fields = [...(all.get(name) ?? [])].filter(([, text]) => tells(text, telling));
    kept.set(name, new Map(fields.map(([field, text]) => [field, withoutDeadEnd(text, telling)])));
  }
  return kept;
}

function tells(text: string, telling: ReadonlySet<string>): boolean {
  const base = baseOf(text);
  return scalarNames.has(base) || telling.has(base) || /!|\{\}|\[[^\]]/.test(text);
}

function withoutDeadEnd(text: string, telling: ReadonlySet<string>): string {
  const base = baseOf(text);
  if (scalarNames.has(base) || telling.has(base)) return text;
  return text.slice(0, text.length - base.length);
}

function baseOf(text: string): string {
  return text.replace(/^(?:!|\{\}|\[[^\]]*\])*/, '');
}

function reachable(roots: readonly string[], types: ReadonlyMap<string, Fields>): Set<string> {
  const seen = new Set<string>();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const fields = types.get(name);
    if (fields === undefined || seen.has(name)) continue;
    seen.add(name);
    open.push(...[...fields.values()].map(baseOf));
  }
  return seen;
}

function shortFields(fields: Fields): [string, string][] {
  return [...fields]
    .map(([field, text]): [string, string] => {
      const base = baseOf(text);
      return [field, `${text.slice(0, text.length - base.length)}${shortName(base)}`];
    })
    .sort(byKey);
}

/** `io.k8s.api.core.v1.Pod` -> `core.v1.Pod`; still unique. */
function shortName(name: string): string {
  return name.replace(/^io\.k8s\.(?:api\.|apimachinery\.pkg\.apis\.|(?:[a-z-]+\.)+pkg\.apis\.)?/, '');
}

function kindsOf(name: string, schema: JsonObject): [string, string][] {
  if (targetOf(objectIn(objectIn(schema, 'properties'), 'metadata')) !== objectMeta) return [];
  const kinds = schema['x-kubernetes-group-version-kind'];
  if (!Array.isArray(kinds)) return [];
  return kinds.filter(isObject).map(({ group, version, kind }): [string, string] => {
    return [`${group === '' ? '' : `${group}/`}${version}/${kind}`, name];
  });
}

function objectIn(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? value : {};
}

function byKey([a = '']: readonly string[], [b = '']: readonly string[]): number {
  return a < b ? -1 : 1;
}

if (import.meta.main) {
  const cluster = await startControlPlane({ flags: ['--runtime-config=api/beta=true'], controllers: false });
  const documents = await openApiDocuments((path) => read(cluster, path));
  writeFileSync(tableFile, `${JSON.stringify(typesOf(documents))}\n`);
  await cluster.stop();
}
