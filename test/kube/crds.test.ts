/** The CRDs in front of a real API server: accepted, and of one mind with the offline check. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import fc from 'fast-check';
import { crd } from '../../src/api/crd.ts';
import type { KindDefinition } from '../../src/api/definition.ts';
import { apiGroup, apiVersion, apiVersionName } from '../../src/api/group.ts';
import { kindNamed, kinds } from '../../src/api/kinds.ts';
import { violationsOf } from '../../src/api/validate.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../src/core/json.ts';
import { readDocuments } from '../../src/core/yaml/index.ts';
import { anySpec } from '../api/any-spec.ts';
import { transitions } from '../api/transitions.ts';
import { verdicts } from '../api/verdicts.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { until } from '../cluster/wait.ts';
import { clusterMissing } from './real-cluster.ts';

const samples = new URL('../../manifests/samples/', import.meta.url);

describe('the CRDs on a real API server', function () {
  this.timeout(120_000);
  let cluster: ControlPlane;

  before(async function () {
    const missing = clusterMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      this.skip();
    }
    cluster = await startControlPlane({ controllers: false });
    for (const definition of kinds) {
      const { status, body } = await ask(
        'POST',
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        asJson(crd(definition)),
      );
      assert.equal(status, 201, printJson(body));
    }
    for (const definition of kinds) {
      await until(
        `${definition.plural} are served`,
        async () => (await ask('GET', collection(definition))).status === 200,
      );
    }
  });
  after(() => cluster?.stop());

  it('are established and structural', async () => {
    for (const { plural } of kinds) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${apiGroup}`;
      const { body } = await ask('GET', path);
      const status = isObject(body) && isObject(body.status) ? body.status : {};
      const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
      const states = new Map(conditions.map(({ type, status: value }) => [type, value]));
      assert.equal(states.get('Established'), 'True');
      assert.equal(states.get('NamesAccepted'), 'True');
      assert.equal(states.has('NonStructuralSchema'), false);
    }
  });

  for (const file of readdirSync(samples)) {
    it(`accept the sample ${file}`, async () => {
      for (const document of readDocuments(readFileSync(new URL(file, samples), 'utf8'))) {
        if (document.kind !== 'value' || !isObject(document.value)) continue;
        const { status, body } = await create(document.value);
        assert.equal(status, 201, printJson(body));
      }
    });
  }

  for (const { name, kind, spec, refused } of verdicts) {
    it(`${kind}: ${refused === undefined ? 'accept' : 'refuse'} ${name}`, async () => {
      const { status, body } = await create(objectOf(kind, spec));
      assert.equal(status === 201, refused === undefined, printJson(body));
      if (refused === undefined) assertSameDefaults(kind, spec, body);
      else assert.ok(messageOf(body).includes(refused), messageOf(body));
    });
  }

  for (const { name, kind, before, after, refused } of transitions) {
    it(`${kind}: ${refused === undefined ? 'let' : 'do not let'} change to ${name}`, async () => {
      const definition = defined(kind);
      const path = `${collection(definition)}/x`;
      try {
        const created = await ask('POST', collection(definition), objectOf(kind, before));
        assert.equal(created.status, 201, printJson(created.body));
        const { resourceVersion = '' } = metadataOf(created.body);
        const changed = objectOf(kind, after);
        const update = { ...changed, metadata: { ...metadataOf(changed), resourceVersion } };
        const { status, body } = await ask('PUT', path, update);
        assert.equal(status === 200, refused === undefined, printJson(body));
        if (refused !== undefined) assert.ok(messageOf(body).includes(refused), messageOf(body));
      } finally {
        await ask('DELETE', path);
      }
    });
  }

  for (const { kind } of kinds) {
    it(`${kind}: of one mind with the offline check about any spec`, async () => {
      await fc.assert(
        fc.asyncProperty(anySpec(kind), async (spec) => {
          const object = objectOf(kind, spec);
          const { status, body } = await create(object);
          const offline = violationsOf(defined(kind), object);
          assert.equal(
            offline.length === 0,
            status === 201,
            `${printJson(spec)}\n${printJson(body)}\n${JSON.stringify(offline)}`,
          );
          if (status === 201) assertSameDefaults(kind, spec, body);
        }),
        { numRuns: 150, seed: 4, endOnFailure: true },
      );
    });
  }

  it('keep a status that its schema allows, and nothing else', async () => {
    const definition = defined('GitTarget');
    const path = `${collection(definition)}/x`;
    const { spec } = verdicts.find(({ name }) => name === 'least of a GitTarget') ?? {};
    try {
      const created = await ask('POST', collection(definition), objectOf('GitTarget', spec ?? {}));
      const condition = {
        type: 'Ready',
        status: 'True',
        reason: 'Succeeded',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const status = { conditions: [condition], lastHandledFlushAt: '1', streams: { summary: '1/1' } };
      const written = await ask('PUT', `${path}/status`, { ...asObject(created.body), status });
      assert.equal(written.status, 200, printJson(written.body));
      assert.deepEqual(asObject(written.body).status, status);
      const twice = { ...asObject(written.body), status: { conditions: [condition, condition] } };
      const refused = await ask('PUT', `${path}/status`, twice);
      assert.equal(refused.status, 422);
      assert.match(messageOf(refused.body), /Duplicate value/);
    } finally {
      await ask('DELETE', path);
    }
  });

  function create(object: JsonObject) {
    const definition = defined(String(object.kind));
    const { namespace } = metadataOf(object);
    const path = collection(definition, typeof namespace === 'string' ? 'default' : undefined);
    const metadata =
      typeof namespace === 'string' ? { ...metadataOf(object), namespace: 'default' } : metadataOf(object);
    return ask('POST', `${path}?dryRun=All`, { ...object, metadata });
  }

  function ask(method: string, path: string, body?: JsonObject): Promise<{ status: number; body: Json }> {
    const strict = `${path}${path.includes('?') ? '&' : '?'}fieldValidation=Strict`;
    return new Promise((resolve, reject) => {
      const sent = request(
        `${cluster.url}${strict}`,
        {
          method,
          ca: readFileSync(cluster.caFile),
          headers: { authorization: `Bearer ${cluster.token('admin')}`, 'content-type': 'application/json' },
        },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk: string) => {
            text += chunk;
          });
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, body: text.startsWith('{') ? parseJson(text) : text }),
          );
          answer.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : printJson(body));
    });
  }
});

function defined(kind: string): KindDefinition {
  const definition = kindNamed(kind);
  assert.ok(definition, `no kind ${kind}`);
  return definition;
}

function collection({ plural, scope }: KindDefinition, namespace = 'default'): string {
  const base = `/apis/${apiGroup}/${apiVersionName}`;
  return scope === 'Cluster' ? `${base}/${plural}` : `${base}/namespaces/${namespace}/${plural}`;
}

function objectOf(kind: string, spec: JsonObject): JsonObject {
  const namespace = defined(kind).scope === 'Cluster' ? {} : { namespace: 'default' };
  return { apiVersion, kind, metadata: { name: 'x', ...namespace }, spec };
}

/** What the API server stores is what our own schema reads. */
function assertSameDefaults(kind: string, spec: JsonObject, stored: Json): void {
  const read = defined(kind).schema.shape.spec.parse(
    JSON.parse(JSON.stringify(spec, (_key, value) => value ?? undefined)),
  );
  assert.deepEqual(asObject(stored).spec, read);
}

function metadataOf(object: Json): JsonObject {
  const { metadata } = asObject(object);
  return isObject(metadata) ? metadata : {};
}

function messageOf(body: Json): string {
  const { message } = asObject(body);
  return typeof message === 'string' ? message : printJson(body);
}

function asObject(value: Json): JsonObject {
  assert.ok(isObject(value), printJson(value));
  return value;
}

function asJson(value: object): JsonObject {
  return asObject(parseJson(JSON.stringify(value)));
}
