import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parseAllDocuments } from 'yaml';
import {
  crdSchemasOf,
  type KindSchema,
  kindSchema,
  unexplained,
} from '../../src/core/intent/schema/index.ts';
import { typesTable } from '../../src/core/intent/schema/table.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  type Path,
  parseJson,
  printJson,
} from '../../src/core/json.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { part } from '../cluster/parts.ts';

const folder = new URL('testdata/kinds/', import.meta.url);

/** Requests and subresources, and kinds no one can create; a manifest of them means nothing. */
const notObjects =
  /Review$|TokenRequest$|^v1\/Binding$|ComponentStatus$|\/Scale$|\/Eviction$|v\d+beta\d+\/|StorageVersionMigration$|LeaseCandidate$/;

interface Sample {
  readonly name: string;
  readonly sent: JsonObject;
  readonly live: JsonObject;
  readonly schema: KindSchema;
}

describe('server defaults, measured on a real API server', () => {
  let cluster: ControlPlane;
  let samples: Sample[] = [];

  before(async function () {
    this.timeout(90_000);
    try {
      part('kube-apiserver');
    } catch (error) {
      console.log(`    skipped: ${error instanceof Error ? error.message : String(error)}`);
      return this.skip();
    }
    cluster = await startControlPlane();
    samples = await createAll(cluster);
  });

  after(async () => cluster?.stop());

  it('creates every built-in kind', () => {
    const made = new Set(samples.map(({ sent }) => `${sent.apiVersion}/${sent.kind}`));
    const missing = Object.keys(typesTable.kinds).filter((kind) => !notObjects.test(kind) && !made.has(kind));
    assert.deepEqual(missing, []);
  });

  it('explains every field the server added and finds every stated one again', () => {
    const left = samples.flatMap(({ name, sent, live, schema }) =>
      unexplained(live, sent, schema).map((path) => `${name}: ${path.join('.')}`),
    );
    assert.deepEqual(left, []);
  });

  it('explains them still after the controllers have written', async () => {
    const left: string[] = [];
    for (const { name, sent, live, schema } of samples) {
      const now = await call(cluster, 'GET', await pathOf(cluster, live));
      if (now.status === 404) continue;
      left.push(...unexplained(objectOf(now.body), sent, schema).map((path) => `${name}: ${path.join('.')}`));
    }
    assert.deepEqual(left, []);
  });

  it('notices a changed value of a field that only the server wrote', () => {
    const unnoticed: string[] = [];
    let changed = 0;
    for (const { name, sent, live, schema } of samples) {
      for (const path of scalarsOnlyIn(live, sent)) {
        changed += 1;
        if (unexplained(withChanged(live, path), sent, schema).length === 0)
          unnoticed.push(`${name}: ${path.join('.')}`);
      }
    }
    console.log(
      `    ${samples.length} objects; ${changed - unnoticed.length} of ${changed} changed values noticed`,
    );
    assert.deepEqual(
      unnoticed.filter((text) => !chosenByTheCluster.test(text)),
      [],
    );
    assert.ok(changed > 600, `only ${changed} values were there to change`);
  });
});

/** Any value may stand there: allocated by the server, or worked out from the cluster and the request. */
const chosenByTheCluster = new RegExp(
  [
    'spec\\.priority$',
    'controller-uid$',
    'spec\\.ipFamilies\\.\\d$',
    'spec\\.ports\\.\\d+\\.nodePort$',
    'spec\\.healthCheckNodePort$',
    'spec\\.(ingressClassName|storageClassName)$',
    '^CertificateSigningRequest small: spec\\.(uid|groups\\.\\d)$',
    // A RuntimeClass brought these.
    '^Pod rich: spec\\.(nodeSelector\\.box|overhead\\..+|tolerations\\.\\d\\..+)$',
    // A LimitRange filled these in; the annotation lists them.
    '^Pod bounded: (metadata\\.annotations\\.kubernetes\\.io/limit-ranger|spec\\.containers\\.0\\.resources\\..+)$',
  ].join('|'),
);

async function createAll(cluster: ControlPlane): Promise<Sample[]> {
  const crds: JsonObject[] = [];
  const samples: Sample[] = [];
  const failed: string[] = [];
  for (const file of readdirSync(folder).sort()) {
    for (const document of parseAllDocuments(readFileSync(new URL(file, folder), 'utf8'))) {
      const sent: Json = document.toJS();
      if (!isObject(sent)) continue;
      const answer = await create(cluster, sent);
      const metadata = objectOf(sent.metadata);
      const name = `${String(sent.kind)} ${String(metadata.name ?? metadata.generateName)}`;
      if (answer.status !== 201) {
        failed.push(`${name}: ${answer.status} ${printJson(objectOf(answer.body).message ?? null)}`);
        continue;
      }
      if (sent.kind === 'CustomResourceDefinition') crds.push(sent);
      const schema = kindSchema(String(sent.apiVersion), String(sent.kind), crdSchemasOf(crds));
      samples.push({ name, sent, live: objectOf(answer.body), schema });
    }
  }
  assert.deepEqual(failed, []);
  return samples;
}

/** A new kind is served a moment after its definition; the server says 404 until then. */
async function create(cluster: ControlPlane, sent: JsonObject): Promise<Answer> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const path = await collectionOf(cluster, sent);
    const answer: Answer =
      path === undefined ? { status: 404, body: null } : await call(cluster, 'POST', path, sent);
    if (answer.status !== 404 || Date.now() > deadline) return answer;
  }
}

interface Answer {
  readonly status: number;
  readonly body: Json;
}

interface Resource {
  readonly plural: string;
  readonly namespaced: boolean;
}

const resources = new Map<string, Resource>();
const agent = new Agent({ keepAlive: true });

async function collectionOf(cluster: ControlPlane, object: JsonObject): Promise<string | undefined> {
  const apiVersion = String(object.apiVersion);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const key = `${apiVersion}/${String(object.kind)}`;
  if (!resources.has(key)) {
    const { body } = await call(cluster, 'GET', root);
    const list = objectOf(body).resources;
    for (const resource of Array.isArray(list) ? list.filter(isObject) : []) {
      const plural = String(resource.name);
      if (plural.includes('/')) continue;
      resources.set(`${apiVersion}/${String(resource.kind)}`, {
        plural,
        namespaced: resource.namespaced === true,
      });
    }
  }
  const found = resources.get(key);
  if (found === undefined) return undefined;
  const namespace = String(objectOf(object.metadata).namespace ?? 'default');
  return found.namespaced ? `${root}/namespaces/${namespace}/${found.plural}` : `${root}/${found.plural}`;
}

async function pathOf(cluster: ControlPlane, live: JsonObject): Promise<string> {
  return `${await collectionOf(cluster, live)}/${String(objectOf(live.metadata).name)}`;
}

function call(cluster: ControlPlane, method: string, path: string, body?: Json): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${cluster.token('admin')}`, 'content-type': 'application/json' };
    const ca = readFileSync(cluster.caFile);
    const asked = request(`${cluster.url}${path}`, { method, headers, ca, agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = String(answer.headers['content-type']).includes('json');
        resolve({ status: answer.statusCode ?? 0, body: isJson ? parseJson(text) : text });
      });
    });
    asked.setTimeout(20_000, () => asked.destroy(new Error(`no answer to ${method} ${path}`)));
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : printJson(body));
  });
}

/** Paths of scalars that the sent manifest does not have, the object's own bookkeeping left out. */
function scalarsOnlyIn(live: JsonObject, sent: JsonObject): Path[] {
  const stated = new Set(leaves(sent).map((path) => path.join('\0')));
  return leaves(live).filter((path) => !stated.has(path.join('\0')) && !bookkeeping.test(path.join('.')));
}

const bookkeeping =
  /^status\b|^metadata\.(uid|resourceVersion|generation|creationTimestamp|managedFields|namespace|name|generateName)\b/;

function leaves(value: Json, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, [...path, index]));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, member]) => leaves(member, [...path, key]));
  return value === null ? [] : [path];
}

function withChanged(live: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(live);
  let at: Json = copy;
  for (const step of path.slice(0, -1)) {
    at = (Array.isArray(at) ? at[Number(step)] : objectOf(at)[String(step)]) ?? null;
  }
  const last = path.at(-1) ?? '';
  if (Array.isArray(at)) at[Number(last)] = changed(at[Number(last)] ?? null);
  else if (isObject(at)) at[String(last)] = changed(at[String(last)] ?? null);
  return copy;
}

function changed(value: Json): Json {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 7;
  return `${String(value)}x`;
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
