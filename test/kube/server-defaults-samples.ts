/** Creates the hand-written objects of `testdata/kinds` on a real API server and reads them back. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parseAllDocuments } from 'yaml';
import { crdSchemasOf, type KindSchema, kindSchema } from '../../src/core/intent/schema/index.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../src/core/json.ts';
import type { ControlPlane } from '../cluster/control-plane.ts';

const folder = new URL('testdata/kinds/', import.meta.url);

export interface Sample {
  readonly name: string;
  readonly sent: JsonObject;
  readonly live: JsonObject;
  readonly schema: KindSchema;
}

/** All samples, in the order of the files; fails with the server's words when one is refused. */
export async function createAll(cluster: ControlPlane): Promise<Sample[]> {
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

/** What discovery said; kinds do not move while a test runs. */
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
        // The index of the OpenAPI documents calls itself plain text.
        const isJson = text.startsWith('{');
        resolve({ status: answer.statusCode ?? 0, body: isJson ? parseJson(text) : text });
      });
    });
    asked.setTimeout(20_000, () => asked.destroy(new Error(`no answer to ${method} ${path}`)));
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : printJson(body));
  });
}

/** The body of a GET. */
export async function read(cluster: ControlPlane, path: string): Promise<JsonObject> {
  const { status, body } = await call(cluster, 'GET', path);
  assert.equal(status, 200, `GET ${path}`);
  return objectOf(body);
}

/** The object as the server has it now; undefined when it is gone. */
export async function readAgain(cluster: ControlPlane, live: JsonObject): Promise<JsonObject | undefined> {
  const { status, body } = await call(cluster, 'GET', await pathOf(cluster, live));
  if (status === 404) return undefined;
  assert.equal(status, 200);
  return objectOf(body);
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
