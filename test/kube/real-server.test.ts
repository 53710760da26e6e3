/** What only a real API server can show: streaming lists, rights, paging, exact integers, apply, restarts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type JsonObject, valueAt } from '../../src/core/json.ts';
import { createKubeClient, type KubeClient } from '../../src/kube/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import type { Collection } from '../../src/kube/collection.ts';
import { createTransport } from '../../src/kube/transport.ts';
import { CollectionStream } from '../../src/kube/watch.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { until } from '../cluster/wait.ts';
import { configOf } from './fault-server.ts';
import { ManualClock } from './manual-clock.ts';
import { clientFor, clusterMissing, ok } from './real-cluster.ts';
import { type Recorder, recorder } from './recorder.ts';
import { startSwallowingProxy } from './swallowing-proxy.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' } as const;
const clusterRoles = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  namespace: '',
} as const;
const crds = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  namespace: '',
} as const;
const gadgets = { group: 'example.org', version: 'v1', resource: 'gadgets', namespace: 'default' } as const;

describe('a real API server', function () {
  this.timeout(60_000);
  let cluster: ControlPlane;
  let admin: KubeClient;
  const open: { stop(): Promise<void> }[] = [];

  before(async function () {
    const missing = clusterMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      return this.skip();
    }
    cluster = await startControlPlane({ controllers: false });
    admin = clientFor(cluster, 'admin');
  });

  afterEach(async () => {
    for (const stream of open.splice(0)) await stream.stop();
  });

  after(async () => {
    await admin?.close();
    await cluster?.stop();
  });

  function watch(
    collection: Omit<Collection, 'labelSelector'>,
    { client = admin, labelSelector = '', resumeFrom = '' } = {},
  ): Recorder {
    const handler = recorder();
    const stream = new CollectionStream({
      client,
      collection: { ...collection, labelSelector },
      handler,
      random: () => 0,
      resumeFrom,
    });
    open.push(stream);
    stream.run().catch((error: unknown) => {
      throw error;
    });
    return handler;
  }

  it('gives a snapshot by streaming list, then changes in order', async () => {
    ok(await admin.create(configMaps, map('first', { a: '1' })));
    const handler = watch(configMaps);
    await until('the snapshot', () => handler.snapshots.length === 1);
    const [snapshot] = handler.snapshots;
    assert.equal(snapshot?.via, 'watch-list');
    assert.equal(snapshot?.keys.includes('default/first'), true);
    ok(await admin.patch({ ...configMaps, name: 'first' }, { type: 'merge', body: { data: { a: '2' } } }));
    ok(await admin.create(configMaps, map('second', {})));
    ok(await admin.delete({ ...configMaps, name: 'first' }));
    await until('the delete', () => handler.told.includes('-first'));
    // Bookmarks come whenever the server likes.
    const changes = handler.told.filter((one) => !one.startsWith('progress '));
    assert.equal(changes.slice(-3).join(' '), '~first ~second -first');
    assert.equal(handler.objects.at(-1)?.kind, 'ConfigMap');
  });

  it('resumes through a restart of the server and misses nothing', async () => {
    const handler = watch(configMaps);
    await until('the snapshot', () => handler.told.includes('streaming'));
    ok(await admin.create(configMaps, map('before-restart', {})));
    await until('the event', () => handler.told.includes('~before-restart'));
    await cluster.apiServer.restart();
    ok(await admin.create(configMaps, map('after-restart', {})));
    await until(
      'the event',
      () => handler.told.includes('~after-restart') || handler.told.includes('+after-restart'),
    );
    const upserts = handler.told.filter((word) => word.endsWith('after-restart'));
    assert.deepEqual(upserts, ['~after-restart']);
  });

  it('gets over a connection that swallows everything, within two minutes and with one watch', async () => {
    const proxy = await startSwallowingProxy({ host: '127.0.0.1', port: Number(new URL(cluster.url).port) });
    const clock = new ManualClock();
    const text = readFileSync(cluster.kubeconfig, 'utf8').replace(
      cluster.url,
      `https://127.0.0.1:${proxy.port}`,
    );
    const transport = createTransport(() => configOf({ from: 'text', text }), clock);
    const client = createKubeClient({ transport, version: '0.0.0-test', clock });
    const handler = recorder();
    const stream = new CollectionStream({
      client,
      collection: { ...configMaps, labelSelector: '' },
      handler,
      clock,
      random: () => 0.5,
    });
    open.push(stream);
    void stream.run();
    await until('the snapshot', () => handler.told.includes('streaming'));
    proxy.swallow();
    ok(await admin.create(configMaps, map('in-the-gap', {})));
    await until('the timer of the stall', () => clock.waiting().includes(90_000));
    clock.advance(90_000);
    await until('the pause', () => clock.waiting().includes(1000));
    clock.advance(1000);
    await until('the event', () => handler.told.includes('~in-the-gap'));
    assert.deepEqual(stream.counts, { ...stream.counts, sessions: 2, snapshots: 1, stalls: 1 });
    assert.equal(proxy.connections(), 1);
    await stream.stop();
    await client.close();
    await proxy.close();
  });

  it('starts a new snapshot when the server has forgotten the version to resume from', async () => {
    const handler = watch(configMaps, { resumeFrom: '1' });
    await until('the snapshot', () => handler.snapshots.length === 1 && handler.told.at(-1) === 'streaming');
    assert.equal(handler.told[0], 'streaming');
    assert.equal(handler.told.includes('replaying'), true);
    assert.equal(
      handler.told.some((word) => word.startsWith('-')),
      false,
    );
  });

  it('keeps integers beyond 2^53 and unknown fields of a custom resource, both ways', async () => {
    ok(await admin.create(crds, gadgetCrd()));
    const large = 9_007_199_254_740_993n;
    const gadget: JsonObject = {
      apiVersion: 'example.org/v1',
      kind: 'Gadget',
      metadata: { name: 'big' },
      spec: { size: large, deep: { unknown: [1.5, true, null] } },
    };
    await until('the kind to be served', async () => (await admin.create(gadgets, gadget)).kind === 'ok');
    const handler = watch(gadgets);
    await until('the snapshot', () => handler.snapshots.length === 1);
    assert.equal(valueAt(handler.objects[0], ['spec', 'size']), large);
    const read = ok(await admin.get({ ...gadgets, name: 'big' }));
    ok(await admin.replace({ ...gadgets, name: 'big' }, { ...read, spec: { size: large + 2n } }));
    await until('the change', () => handler.objects.length === 2);
    assert.equal(valueAt(handler.objects[1], ['spec', 'size']), large + 2n);
  });

  it('finds names with capital letters and colons', async () => {
    const role = (name: string): JsonObject => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [],
    });
    for (const name of ['MyRole', 'system:My:Role']) {
      ok(await admin.create(clusterRoles, role(name)));
      assert.equal(valueAt(ok(await admin.get({ ...clusterRoles, name })), ['metadata', 'name']), name);
    }
    assert.equal((await admin.get({ ...clusterRoles, name: 'myrole' })).kind, 'not-found');
  });

  it('pages through a collection at one version, kinds filled in', async () => {
    for (let index = 0; index < 7; index += 1)
      ok(await admin.create(configMaps, map(`page-${index}`, {}, { page: 'yes' })));
    const sizes: number[] = [];
    const versions = new Set<string>();
    for await (const page of admin.list(configMaps, { limit: 3, labelSelector: 'page=yes' })) {
      assert.equal(page.kind, 'ok');
      if (page.kind !== 'ok') return;
      sizes.push(page.items.length);
      versions.add(page.resourceVersion);
      assert.equal(
        page.items.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1'),
        true,
      );
    }
    assert.deepEqual(sizes, [3, 3, 1]);
    assert.equal(versions.size, 1);
    const metadata = await admin.listAll(configMaps, { labelSelector: 'page=yes', metadataOnly: true });
    assert.equal(metadata.kind === 'ok' && metadata.items.length === 7, true);
    assert.equal(metadata.kind === 'ok' && metadata.items.every((item) => item.data === undefined), true);
  });

  it('names the versions of objects as their metadata does, of built-in, custom and cluster-scoped ones', async () => {
    for (const name of ['version-a', 'version-b', 'version-c'])
      ok(await admin.create(configMaps, map(name, {})));
    for (const collection of [configMaps, clusterRoles, crds]) {
      const read = await admin.listAll(collection, { metadataOnly: true });
      const versions = await admin.listVersions(collection, { limit: 2 });
      assert.ok(read.kind === 'ok' && versions.kind === 'ok');
      assert.deepEqual(versions.items, read.items.map(versionOf));
      assert.equal(versions.items.length >= 3 || collection === crds, true);
    }
  });

  it('watches only what the selector takes', async () => {
    const handler = watch(configMaps, { labelSelector: 'color in (red)' });
    await until('the snapshot', () => handler.told.includes('streaming'));
    ok(await admin.create(configMaps, map('red', {}, { color: 'red' })));
    ok(await admin.create(configMaps, map('blue', {}, { color: 'blue' })));
    ok(
      await admin.patch(
        { ...configMaps, name: 'red' },
        { type: 'merge', body: { metadata: { labels: { color: 'blue' } } } },
      ),
    );
    await until('the removal', () => handler.told.includes('-red'));
    assert.deepEqual(handler.told.slice(-2), ['~red', '-red']);
  });

  it('tells apply conflicts, takes fields over by force, and names us as the manager', async () => {
    const ref = { ...configMaps, name: 'shared' };
    ok(await admin.create(configMaps, map('shared', { a: '1' }), {}));
    const body: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '2' } };
    const refused = await admin.patch(ref, { type: 'apply', body }, { fieldManager: 'someone-else' });
    assert.equal(refused.kind, 'conflict');
    assert.match(refused.kind === 'conflict' ? refused.message : '', /gitops-reverser/);
    const forced = ok(
      await admin.patch(ref, { type: 'apply', body }, { fieldManager: 'someone-else', force: true }),
    );
    assert.equal(valueAt(forced, ['data', 'a']), '2');
  });

  it('tells every other outcome by its kind', async () => {
    ok(await admin.create(configMaps, map('outcomes', {})));
    const ref = { ...configMaps, name: 'outcomes' };
    const stale = { ...map('outcomes', {}), metadata: { name: 'outcomes', resourceVersion: '1' } };
    assert.equal((await admin.create(configMaps, map('outcomes', {}))).kind, 'exists');
    assert.equal((await admin.replace(ref, stale)).kind, 'conflict');
    assert.equal((await admin.delete(ref, { uid: 'another' })).kind, 'conflict');
    assert.equal((await admin.create(configMaps, map('NOT VALID', {}))).kind, 'invalid');
    assert.equal((await admin.get({ ...configMaps, name: 'absent' })).kind, 'not-found');
    assert.equal((await clientFor(cluster, 'alice').get(ref)).kind, 'forbidden');
    const stranger = configOf({
      from: 'text',
      text: readFileSync(cluster.kubeconfigFor('alice'), 'utf8').replace(
        cluster.token('alice'),
        'no-such-token',
      ),
    });
    const unknown = createKubeClient({
      transport: createTransport(() => stranger, systemClock),
      version: '0',
    });
    assert.equal((await unknown.get(ref)).kind, 'unauthorized');
    const dry = await admin.create(configMaps, map('dry', {}), { dryRun: true });
    assert.equal(dry.kind, 'ok');
    assert.equal((await admin.get({ ...configMaps, name: 'dry' })).kind, 'not-found');
  });

  it('reads pages from a server that has streaming lists turned off', async () => {
    await cluster.apiServer.restart({ flags: ['--feature-gates=WatchList=false'] });
    const handler = watch(configMaps);
    await until('the snapshot', () => handler.told.includes('streaming'));
    assert.equal(handler.snapshots[0]?.via, 'pages');
    assert.equal(
      handler.objects.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1'),
      true,
    );
    ok(await admin.create(configMaps, map('after-pages', {})));
    await until('the event', () => handler.told.includes('~after-pages'));
    await cluster.apiServer.restart({ flags: [] });
  });

  it('blocks only the one type a user may not watch', async () => {
    const role = 'rbac.authorization.k8s.io/v1';
    ok(
      await admin.create(
        { ...clusterRoles, resource: 'roles', namespace: 'default' },
        {
          apiVersion: role,
          kind: 'Role',
          metadata: { name: 'configmap-reader' },
          rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
        },
      ),
    );
    ok(
      await admin.create(
        { ...clusterRoles, resource: 'rolebindings', namespace: 'default' },
        {
          apiVersion: role,
          kind: 'RoleBinding',
          metadata: { name: 'alice-reads' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'configmap-reader' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
        },
      ),
    );
    const alice = clientFor(cluster, 'alice');
    const allowed = watch(configMaps, { client: alice });
    const denied = watch({ ...configMaps, resource: 'secrets' }, { client: alice });
    await until('the allowed one', () => allowed.told.includes('streaming'));
    await until('the denied one', () => denied.states.length === 2);
    assert.equal(denied.told.join(' '), 'replaying WatchNotPermitted');
    await alice.close();
  });
});

function map(name: string, data: JsonObject, labels: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data };
}

function versionOf({ metadata }: JsonObject): unknown {
  const at = (field: string) => valueAt(metadata, [field]) ?? '';
  return { namespace: at('namespace'), name: at('name'), resourceVersion: at('resourceVersion') };
}

function gadgetCrd(): JsonObject {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}
