/**
 * Builds `builtin-crds.json` from the CRDs that Flux and Argo CD ship in their Go modules: per kind and version the schema,
 * reduced to defaults, list types and keys, atomic maps, and scalars that compare by value.
 *
 * `node test/core/schema/generate-crds.ts` downloads what the module cache lacks and writes the file;
 * `npx biome check --write` lays it out.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { customType } from '../../../src/core/intent/schema/crd.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';

/** Module, version, folder of the CRDs. The newest versions the Go proxy serves as whole modules. */
const sources = [
  ['github.com/fluxcd/source-controller', 'v1.9.6', 'config/crd/bases'],
  ['github.com/fluxcd/kustomize-controller', 'v1.9.6', 'config/crd/bases'],
  ['github.com/fluxcd/helm-controller', 'v1.6.4', 'config/crd/bases'],
  ['github.com/fluxcd/notification-controller', 'v1.9.3', 'config/crd/bases'],
  ['github.com/fluxcd/image-reflector-controller', 'v1.2.4', 'config/crd/bases'],
  ['github.com/fluxcd/image-automation-controller', 'v1.2.4', 'config/crd/bases'],
  ['github.com/argoproj/argo-cd/v3', 'v3.5.7', 'manifests/crds'],
] as const;

export const tableFile = fileURLToPath(
  new URL('../../../src/core/intent/schema/builtin-crds.json', import.meta.url),
);

/** The folders with the CRDs in the module cache; undefined when one is not there. */
export function crdFolders(): string[] | undefined {
  const cache = moduleCache();
  if (cache === undefined) return undefined;
  const folders = sources.map(([module, version, folder]) => `${cache}/${module}@${version}/${folder}`);
  return folders.every((folder) => existsSync(folder)) ? folders : undefined;
}

/** `group/version/Kind` -> reduced schema, of all CRDs in the folders. */
export function crdTableOf(folders: readonly string[]): Record<string, Json> {
  const table: Record<string, Json> = {};
  for (const crd of folders.flatMap(readCrds)) {
    const spec = objectIn(crd, 'spec');
    for (const version of Array.isArray(spec.versions) ? spec.versions : []) {
      if (!isObject(version)) continue;
      const schema = objectIn(objectIn(version, 'schema'), 'openAPIV3Schema');
      const { status, metadata, apiVersion, kind, ...properties } = objectIn(schema, 'properties');
      const name = `${String(spec.group)}/${String(version.name)}/${String(objectIn(spec, 'names').kind)}`;
      table[name] = factsOf({ ...schema, properties }) ?? {};
    }
  }
  return Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The facts of a schema, or undefined when it has none. */
function factsOf(schema: JsonObject): JsonObject | undefined {
  const facts: JsonObject = {};
  const listType = schema['x-kubernetes-list-type'];
  if (schema.default !== undefined) facts.default = schema.default;
  if (schema.nullable === true) facts.nullable = true;
  if (listType === 'map' || listType === 'set') facts['x-kubernetes-list-type'] = listType;
  if (listType === 'map') facts['x-kubernetes-list-map-keys'] = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-map-type'] === 'atomic') facts['x-kubernetes-map-type'] = 'atomic';
  Object.assign(facts, meaningFacts(schema));
  const properties = Object.entries(objectIn(schema, 'properties')).flatMap(([name, member]) => {
    const inner = isObject(member) ? factsOf(member) : undefined;
    return inner === undefined ? [] : [[name, inner] as const];
  });
  if (properties.length > 0) facts.properties = Object.fromEntries(properties);
  for (const key of ['items', 'additionalProperties'] as const) {
    const inner = isObject(schema[key]) ? factsOf(schema[key]) : undefined;
    if (inner !== undefined) facts[key] = inner;
  }
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function meaningFacts(schema: JsonObject): JsonObject {
  const { meaning } = customType(schema);
  if (meaning === 'exact') return {};
  if (meaning === 'duration') return { type: 'string', format: 'duration' };
  const quantity = meaning === 'quantity' ? { pattern: '[KMGTPE]i' } : {};
  return { 'x-kubernetes-int-or-string': true, ...quantity };
}

function readCrds(folder: string): JsonObject[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  const documents = files.flatMap((file) => parseAllDocuments(readFileSync(`${folder}/${file}`, 'utf8')));
  return documents
    .map((document): Json => document.toJS())
    .filter(isObject)
    .filter((document) => document.kind === 'CustomResourceDefinition');
}

function moduleCache(): string | undefined {
  try {
    return execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function objectIn(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? value : {};
}

if (import.meta.main) {
  for (const [module, version] of sources) {
    execFileSync('go', ['mod', 'download', `${module}@${version}`], { cwd: tmpdir(), stdio: 'inherit' });
  }
  const folders = crdFolders();
  if (folders === undefined)
    throw new Error('the modules are not in the Go module cache after their download');
  writeFileSync(tableFile, `${JSON.stringify(crdTableOf(folders))}\n`);
}
