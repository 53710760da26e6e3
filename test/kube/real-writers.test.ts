/** Status, Events, the Lease, access and the checks before a delete, on a real API server. */
import assert from 'node:assert/strict';
import { isExcludedType, judgeServed, resourceKey } from '../../src/core/catalog/index.ts';
import { type JsonObject, valueAt } from '../../src/core/json.ts';
import { mayI } from '../../src/kube/access.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { createDiscovery } from '../../src/kube/discovery.ts';
import { EventRecorder } from '../../src/kube/events.ts';
import { LeaseElection } from '../../src/kube/lease.ts';
import { confirmGone, readClusterId } from '../../src/kube/snapshot-check.ts';
import { writeStatus } from '../../src/kube/status.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { eventually, ManualClock } from './manual-clock.ts';
import { clientFor, clusterMissing, ok } from './real-cluster.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const;
const inDefault = { ...configMaps, namespace: 'default' } as const;
const deployments = { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'default' } as const;

describe('the writers on a real API server', function () {
  this.timeout(60_000);
  let cluster: ControlPlane;
  let admin: KubeClient;
  let alice: KubeClient;

  before(async function () {
    const missing = clusterMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      return this.skip();
    }
    cluster = await startControlPlane({ controllers: false });
    admin = clientFor(cluster, 'admin');
    alice = clientFor(cluster, 'alice');
  });

  after(async () => {
    await admin?.close();
    await alice?.close();
    await cluster?.stop();
  });

  describe('a status', () => {
    const ref = { ...deployments, name: 'web' } as const;

    it('is written when it changed, and only then', async () => {
      const object = ok(await admin.create(deployments, deployment()));
      const status: JsonObject = { observedGeneration: 1, replicas: 2, readyReplicas: 1 };
      const first = await writeStatus(admin, ref, object, status);
      assert.equal(first.kind, 'written');
      const written = first.kind === 'written' ? first.object : {};
      assert.equal(valueAt(written, ['status', 'readyReplicas']), 1);
      assert.deepEqual(await writeStatus(admin, ref, written, status), { kind: 'unchanged' });
    });

    it('loses the fields it no longer has', async () => {
      const object = ok(await admin.get(ref));
      const result = await writeStatus(admin, ref, object, { observedGeneration: 1 });
      assert.equal(result.kind, 'written');
      assert.equal(
        result.kind === 'written' && valueAt(result.object, ['status', 'readyReplicas']),
        undefined,
      );
    });

    it('is not written on a state that moved on', async () => {
      const old = ok(await admin.get(ref));
      ok(await admin.patch(ref, { type: 'merge', body: { metadata: { labels: { moved: 'on' } } } }));
      assert.equal((await writeStatus(admin, ref, old, { observedGeneration: 7 })).kind, 'conflict');
      assert.equal(valueAt(ok(await admin.get(ref)), ['status', 'observedGeneration']), 1);
    });
  });

  describe('Events', () => {
    it('are created once and counted when said again', async () => {
      const recorder = new EventRecorder({ client: admin, instance: 'pod-1' });
      const about = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'My:Map', uid: 'u1' };
      for (let time = 0; time < 3; time += 1) {
        recorder.record({ about, type: 'Warning', reason: 'Refused', message: 'it cannot be written' });
      }
      recorder.record({ about, type: 'Normal', reason: 'Published', message: 'it was written' });
      recorder.record({
        about: { ...about, namespace: '', kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1' },
        type: 'Normal',
        reason: 'Published',
        message: 'it was written',
      });
      await recorder.drain();
      assert.deepEqual(recorder.counts, { created: 3, repeated: 2, dropped: 0, failed: 0 });
      const events = await admin.listAll({
        group: '',
        version: 'v1',
        resource: 'events',
        namespace: 'default',
      });
      const found = events.kind === 'ok' ? events.items.filter(({ reason }) => reason === 'Refused') : [];
      assert.equal(found.length, 1);
      assert.equal(found[0]?.count, 3);
      assert.equal(valueAt(found[0], ['involvedObject', 'name']), 'My:Map');
    });

    it('that may not be written are counted, and do not stop anyone', async () => {
      const recorder = new EventRecorder({ client: alice, instance: 'pod-1' });
      const about = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'm' };
      recorder.record({ about, type: 'Normal', reason: 'Published', message: 'it was written' });
      await recorder.drain();
      assert.deepEqual(recorder.counts, { created: 0, repeated: 0, dropped: 0, failed: 1 });
    });

    it('about one object are limited, and so is the queue', async () => {
      const clock = new ManualClock();
      const recorder = new EventRecorder({ client: alice, instance: 'pod-1', clock });
      const say = (name: string, message: string) =>
        recorder.record({
          about: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name },
          type: 'Normal',
          reason: 'Published',
          message,
        });
      for (let index = 0; index < 30; index += 1) say('chatty', `message ${index}`);
      assert.equal(recorder.counts.dropped, 5);
      for (let index = 0; index < 400; index += 1) say(`object-${index}`, 'same');
      // One is on its way, 256 wait.
      assert.equal(recorder.counts.dropped, 5 + 430 - 5 - 257);
      await recorder.drain();
      assert.equal(recorder.counts.failed, 257);
    });
  });

  describe('access', () => {
    it('is told without trying', async () => {
      const question = { verb: 'list', group: 'apps', resource: 'deployments' };
      const yes = await mayI(admin, question);
      const no = await mayI(alice, { ...question, namespace: 'default' });
      assert.equal(yes.kind === 'ok' && yes.allowed, true);
      assert.equal(no.kind === 'ok' && no.allowed, false);
      assert.match(no.kind === 'ok' ? no.message : '', /list deployments in namespace default: not allowed/);
    });
  });

  describe('what is checked before a delete', () => {
    it('is the identity of the cluster', async () => {
      ok(
        await admin.get({
          group: '',
          version: 'v1',
          resource: 'namespaces',
          namespace: '',
          name: 'kube-system',
        }),
      );
      const first = await readClusterId(admin);
      assert.match(first.kind === 'ok' ? first.id : '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(await readClusterId(admin), first);
      assert.equal((await readClusterId(alice)).kind, 'forbidden');
    });

    for (const count of [10, 11]) {
      it(`is each of ${count} objects, whatever its labels`, async () => {
        const names = Array.from({ length: count }, (_, index) => `kept-${count}-${index}`);
        for (const name of names.slice(0, 3)) ok(await admin.create(inDefault, { metadata: { name } }));
        const objects = names.map((name) => ({ namespace: 'default', name }));
        const result = await confirmGone(admin, configMaps, '', objects);
        assert.deepEqual(result, { kind: 'ok', present: objects.slice(0, 3), gone: objects.slice(3) });
        assert.equal((await confirmGone(alice, configMaps, '', objects)).kind, 'forbidden');
      });
    }

    it('confirms nothing for a type that is not served any more', async () => {
      const widgets = { group: 'example.org', version: 'v1', resource: 'widgets' };
      const result = await confirmGone(admin, widgets, '', [{ namespace: 'default', name: 'w' }]);
      assert.equal(result.kind, 'not-found');
    });
  });

  describe('discovery', () => {
    it('knows scopes, origins and scales of everything served, and judges it', async () => {
      const result = await createDiscovery(admin).read();
      if (result.kind !== 'ok') return assert.fail(result.message);
      const { resources, failed } = result.discovery;
      assert.deepEqual(failed, []);
      const find = (key: string) => resources.find((resource) => resourceKey(resource) === key);
      assert.equal(find('deployments.v1.apps')?.scalePath, '.spec.replicas');
      assert.equal(find('deployments.v1.apps')?.namespaced, true);
      assert.equal(find('clusterroles.v1.rbac.authorization.k8s.io')?.namespaced, false);
      assert.equal(find('configmaps.v1')?.origin, 'builtin');
      assert.equal(
        resources.some(({ origin }) => origin === 'unknown'),
        false,
      );
      const verdicts = judgeServed(result.discovery, { isSensitive: () => false, sensitiveSupported: true });
      const refused = [...verdicts].flatMap(([key, { verdict }]) =>
        verdict.kind === 'refused' ? [`${key} ${verdict.reason}`] : [],
      );
      assert.deepEqual(
        refused.filter((line) => !/missing-verb|denied-by-policy/.test(line)),
        [],
      );
      assert.equal(refused.includes('tokenreviews.v1.authentication.k8s.io missing-verb'), true);
      assert.equal(isExcludedType('', 'pods') && refused.includes('pods.v1 denied-by-policy'), true);
    });

    it('gives an ordinary user the same types without their origin', async () => {
      const result = await createDiscovery(alice).read();
      const resources = result.kind === 'ok' ? result.discovery.resources : [];
      assert.equal(resources.find((resource) => resourceKey(resource) === 'secrets.v1')?.origin, 'builtin');
    });
  });

  describe('the lease', () => {
    let clock: ManualClock;
    let number = 0;
    const told: string[] = [];

    beforeEach(() => {
      clock = new ManualClock();
      number += 1;
      told.length = 0;
    });

    function contender(identity: string, client = admin): LeaseElection {
      return new LeaseElection({
        client,
        namespace: 'default',
        name: `leader-${number}`,
        identity,
        clock,
        random: () => 0,
        onGained: () => told.push(`${identity} leads`),
        onLost: () => told.push(`${identity} lost`),
      });
    }

    // One round of everyone: nobody is inside a call when the pauses are waiting.
    async function round(contenders: number, ms = 2000): Promise<void> {
      await eventually(
        'all to pause',
        () => clock.waiting().filter((wait) => wait === 2000).length === contenders,
      );
      clock.advance(ms);
      await eventually(
        'all to pause',
        () => clock.waiting().filter((wait) => wait === 2000).length === contenders,
      );
    }

    it('is held by one, renewed, and given back for another', async () => {
      const a = contender('a');
      const b = contender('b');
      void a.run();
      await round(1);
      void b.run();
      for (let time = 0; time < 20; time += 1) await round(2);
      assert.deepEqual(told, ['a leads']);
      assert.equal(b.leader, 'a');
      await a.stop();
      await round(1);
      assert.deepEqual(told, ['a leads', 'a lost', 'b leads']);
      assert.equal(b.leading, true);
      await b.stop();
    });

    it('is lost by a leader that cannot renew before another may take it', async () => {
      const broken = { on: false };
      const a = contender('a', failing(admin, broken));
      const b = contender('b');
      void a.run();
      await round(1);
      void b.run();
      await round(2);
      broken.on = true;
      const lostAt = await until(2, 'a lost');
      const gainedAt = await until(2, 'b leads');
      assert.ok(lostAt <= 10_000, `lost after ${lostAt} ms`);
      assert.ok(lostAt + gainedAt >= 15_000, `taken over after ${lostAt + gainedAt} ms`);
      assert.ok(lostAt + gainedAt <= 20_000, `taken over after ${lostAt + gainedAt} ms`);
      broken.on = false;
      await round(2);
      assert.equal(a.leading, false);
      assert.equal(a.leader, 'b');
      await Promise.all([a.stop(), b.stop()]);
    });

    for (const [story, renewTime] of [
      ['long ago', '2001-01-01T00:00:00.000000Z'],
      ['in the future', '2199-01-01T00:00:00.000000Z'],
    ] as const) {
      it(`is judged by its changes, not by a time written ${story}`, async () => {
        ok(
          await admin.create(
            { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace: 'default' },
            {
              apiVersion: 'coordination.k8s.io/v1',
              kind: 'Lease',
              metadata: { name: `leader-${number}` },
              spec: { holderIdentity: 'someone', renewTime, leaseDurationSeconds: 15 },
            },
          ),
        );
        const a = contender('a');
        void a.run();
        const gainedAt = await until(1, 'a leads');
        assert.ok(gainedAt >= 15_000 && gainedAt <= 18_000, `taken over after ${gainedAt} ms`);
        await a.stop();
      });
    }

    async function until(contenders: number, word: string): Promise<number> {
      const started = clock.now();
      while (!told.includes(word)) {
        assert.ok(clock.now() - started < 60_000, `${word} never came`);
        await round(contenders, 1000);
      }
      return clock.now() - started;
    }
  });
});

function failing(client: KubeClient, broken: { readonly on: boolean }): KubeClient {
  const down = { kind: 'unreachable', message: 'the network is down' } as const;
  return {
    ...client,
    get: async (ref, options) => (broken.on ? down : client.get(ref, options)),
    replace: async (ref, object, options) => (broken.on ? down : client.replace(ref, object, options)),
  };
}

function deployment(): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] },
      },
    },
  };
}
