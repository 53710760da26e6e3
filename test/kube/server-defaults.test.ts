import assert from 'node:assert/strict';
import { type KindSchema, unexplained } from '../../src/core/intent/schema/index.ts';
import { typesTable } from '../../src/core/intent/schema/table.ts';
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../../src/core/json.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { part } from '../cluster/parts.ts';
import { openApiDocuments, typesOf } from '../core/schema/generate-types.ts';
import { createAll, read, readAgain, type Sample } from './server-defaults-samples.ts';

/** Requests and subresources, and kinds no one can create; a manifest of them means nothing. */
const notObjects =
  /Review$|TokenRequest$|^v1\/Binding$|ComponentStatus$|\/Scale$|\/Eviction$|v\d+beta\d+\/|StorageVersionMigration$|LeaseCandidate$/;

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
    cluster = await startControlPlane({ flags: ['--runtime-config=api/beta=true'] });
    samples = await createAll(cluster);
  });

  after(async () => cluster?.stop());

  it('creates every built-in kind', () => {
    const made = new Set(samples.map(({ sent }) => `${sent.apiVersion}/${sent.kind}`));
    const missing = Object.keys(typesTable.kinds).filter((kind) => !notObjects.test(kind) && !made.has(kind));
    assert.deepEqual(missing, []);
  });

  it('serves the types of the committed table', async () => {
    const documents = await openApiDocuments((path) => read(cluster, path));
    assert.ok(documents.length > 20);
    assert.deepEqual(typesOf(documents), typesTable);
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
      const now = await readAgain(cluster, live);
      if (now === undefined) continue;
      left.push(...unexplained(now, sent, schema).map((path) => `${name}: ${path.join('.')}`));
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

  it('reports an edit of one stated value as that edit alone', () => {
    const others: string[] = [];
    let edits = 0;
    for (const { name, sent, live, schema } of samples) {
      for (const path of leaves(live).filter((leaf) => isStated(sent, leaf) && !isName(schema, leaf))) {
        edits += 1;
        const found = unexplained(withChanged(live, path), sent, schema).map((other) => other.join('.'));
        if (found.length !== 1 || found[0] !== path.join('.')) others.push(`${name}: ${path.join('.')}`);
      }
    }
    console.log(`    ${edits - others.length} of ${edits} edits reported as themselves`);
    assert.deepEqual(
      others.filter((text) => !leadsToOthers.test(text)),
      [],
    );
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

/** Other fields follow from these, so they no longer fit; or the server writes them whatever the manifest says. */
const leadsToOthers = new RegExp(
  [
    '^LimitRange sizes: spec\\.limits\\.0\\.type$',
    '^Pod .*(resources\\.(limits|requests)\\.\\w+|spec\\.hostNetwork|atchLabelKeys\\.0)$',
    '^StatefulSet rich: spec\\.updateStrategy\\.type$',
    '^Service .*spec\\.(type|sessionAffinity|externalTrafficPolicy|clusterIP|ports\\.\\d\\.nodePort)$',
    '^Secret rich: data\\.over$',
    '^RoleBinding rich: subjects\\.\\d\\.kind$',
    '^PriorityLevelConfiguration \\w+: spec\\.type$',
    '^ResourceClaim rich: .*allocationMode$',
    '^CertificateSigningRequest small: spec\\.username$',
  ].join('|'),
);

/** Paths of scalars that the sent manifest does not have, the object's own bookkeeping left out. */
function scalarsOnlyIn(live: JsonObject, sent: JsonObject): Path[] {
  const stated = new Set(leaves(sent).map((path) => path.join('\0')));
  return leaves(live).filter((path) => !stated.has(path.join('\0')) && !bookkeeping.test(path.join('.')));
}

const bookkeeping =
  /^status\b|^metadata\.(uid|resourceVersion|generation|creationTimestamp|managedFields|namespace|name|generateName)\b/;

/** The manifest has a value at this very path. */
function isStated(sent: JsonObject, path: Path): boolean {
  return valueAt(sent, path) !== undefined && path.length > 1 && path[0] !== 'metadata';
}

/** What tells items apart: with another one it is another item. */
function isName(schema: KindSchema, path: Path): boolean {
  const list = path.slice(0, -1);
  const keys = schema.listKeys(path.slice(0, -2)) ?? [];
  return schema.isSet(list) || keys.includes(String(path.at(-1)));
}

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
    at = (Array.isArray(at) ? at[Number(step)] : isObject(at) ? at[String(step)] : null) ?? null;
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
