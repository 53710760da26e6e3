import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { application, untilApplication } from '../../cluster/argocd-objects.ts';
import { startControlPlane } from '../../cluster/control-plane.ts';
import { kubectl } from '../../cluster/kubectl.ts';
import { commitTo, log, tip } from '../../cluster/repository.ts';
import { until } from '../../cluster/wait.ts';
import { deedsIn } from '../deeds.ts';
import { condition, configMap, deployment, events, patience } from '../shop.ts';
import { mirror } from '../sidecar.ts';
import {
  type ArgocdWorld,
  appCommand,
  ended,
  gateResult,
  gateSays,
  infoOf,
  startArgocdWorld,
  sync,
  synced,
  syncFolder,
  syncGateFile,
} from './guarded.ts';
import { letPausesGoOn, pauseFile } from './paused.ts';

const files = {
  'apps/shop/web.yaml': deployment('web'),
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
};

describe('the gate of Argo CD', function () {
  this.timeout(400_000);
  let world: ArgocdWorld;

  before(async () => {
    world = await startArgocdWorld();
    // Its two minutes pass while the other tests run.
    await syncFolder(world, { name: 'slow', files });
    await world.git.refusePushes('slow', 'this branch is protected');
    await setRate('slow', '7');
    await world.argocd.cli('app', 'sync', 'slow', '--async');
  });
  after(() => world?.stop());

  const { setRate, live, replicas, rate, inGit } = deedsIn(() => world);
  const gated = (name: string, reason: string, message: RegExp) =>
    condition(world, ['gittarget', name], 'ApplicationsGated', { reason, message });

  it('edits made after the answer are overwritten by the sync, committed all the same, and restored by the next one', async () => {
    await world.kubectl('create', 'namespace', 'after');
    const own = letPausesGoOn(world, 'after');
    try {
      const bareDir = await syncFolder(world, {
        name: 'after',
        files: { ...files, 'apps/shop/pause.yaml': pauseFile },
      });
      let edited = false;
      own.between(async () => {
        edited = true;
        await world.kubectl('patch', 'deployment', 'web', '-n', 'after', '-p', '{"spec":{"replicas":8}}');
        const patch = JSON.stringify({ data: { eur: '9', gbp: '2' } });
        await world.kubectl('patch', 'configmap', 'rates', '-n', 'after', '-p', patch);
      });
      await world.argocd.cli('app', 'sync', 'after', '--async');
      await until(
        'the sync was done again for what it had overwritten',
        async () =>
          edited &&
          (await replicas('after')) === '8' &&
          (await rate('after')) === '9' &&
          /wrote over live edits/.test(await infoOf(world, 'after')),
        { timeoutMs: 120_000, intervalMs: 200 },
      );
      await synced(world, 'after', await tip(bareDir, 'main'));
      assert.equal(await live('after', 'configmap/rates', '.data.gbp'), '2');
      assert.match(await inGit(bareDir, 'rates.yaml'), /eur: "9"[\s\S]*gbp: "2"/);
      assert.match(await inGit(bareDir, 'web.yaml'), /replicas: 8/);
      const metrics = await (await fetch(`http://127.0.0.1:${world.sidecar().metricsPort}/metrics`)).text();
      const counted = /apply_window_collisions_total\{[^}]*gittarget_name="after"[^}]*\} (\d+)/.exec(
        metrics,
      )?.[1];
      assert.equal(counted, '2', 'each write over a newer edit is counted');
      for (const { body } of await log(bareDir, 'main')) assert.doesNotMatch(body, /argocd-controller/);
    } finally {
      await own.stop();
    }
  });

  it('a refused edit holds nobody back: it is named in the answer and in an Event before the sync overwrites it', async () => {
    const merged = `apiVersion: v1
kind: ConfigMap
metadata:
  name: merged
  labels: &marks {team: shop}
  annotations: {<<: *marks}
data:
  eur: "1"
`;
    await syncFolder(world, { name: 'unwritten', files: { ...files, 'apps/shop/merged.yaml': merged } });
    await world.kubectl('patch', 'configmap', 'merged', '-n', 'unwritten', '-p', '{"data":{"eur":"2"}}');
    await sync(world, 'unwritten');
    await synced(world, 'unwritten');
    const { refused = [] } = await gateSays(world, 'unwritten', 'Open', /1 cannot be written/);
    assert.deepEqual(
      refused.map(({ object, fields }) => [object, fields]),
      [['ConfigMap/unwritten/merged', ['data.eur']]],
    );
    assert.equal(
      await live('unwritten', 'configmap/merged', '.data.eur'),
      '1',
      'the promise does not cover it',
    );
    await until(
      'an Event named it',
      async () =>
        (await events(world, 'argocd')).some((text) =>
          /^EditRefused: the live edit of ConfigMap\/unwritten\/merged \(data\.eur\) cannot be written to Git \(NotEditable/.test(
            text,
          ),
        ),
      patience,
    );
  });

  it('an Application of several sources is asked about each, and started again at the commit of the one that moved', async () => {
    await world.git.createRepository('extra', {
      files: { 'conf/extra.yaml': configMap('extra', { a: '1' }) },
    });
    const bareDir = await mirror(world, {
      name: 'many',
      files: { ...files, 'apps/shop/gate.yaml': syncGateFile },
      spec: { commit: { window: { idleTimeout: '30s', maxDuration: '1m' } } },
    });
    const one = application({ name: 'many', repoURL: world.git.url('many'), path: 'apps/shop' });
    const { spec, ...rest } = JSON.parse(JSON.stringify(one));
    const { source, ...others } = spec;
    const sources = [{ repoURL: world.git.url('extra'), path: 'conf', targetRevision: 'main' }, source];
    await world.apply([{ ...rest, spec: { ...others, sources } }]);
    await sync(world, 'many');
    await synced(world, 'many');
    await setRate('many', '4');
    await sync(world, 'many');
    await untilApplication(world.cluster, 'many', 'is synced to the edit', ({ operation, status }) => {
      return operation === undefined && status?.operationState?.phase === 'Succeeded';
    });
    assert.equal(await rate('many'), '4');
    assert.match(await inGit(bareDir, 'rates.yaml'), /eur: "4"/);
    assert.match(
      await infoOf(world, 'many'),
      new RegExp(`started again at .*${(await tip(bareDir, 'main'))?.slice(0, 12)}`),
    );
  });

  it('two Applications of one folder each get an answer', async () => {
    await syncFolder(world, { name: 'twin', files });
    await world.kubectl('create', 'namespace', 'twin-b');
    const url = world.git.url('twin');
    await world.apply([
      application({ name: 'twin-b', repoURL: url, path: 'apps/shop', destination: 'twin-b' }),
    ]);
    await Promise.all([sync(world, 'twin'), sync(world, 'twin-b')]);
    await Promise.all([synced(world, 'twin'), synced(world, 'twin-b')]);
    await gateSays(world, 'twin', 'Open');
    const text = await world.kubectl('get', 'syncgate', 'gitops-reverser', '-n', 'twin-b', '-o', 'json');
    assert.equal(JSON.parse(text).status.phase, 'Open');
  });

  it('each way past the gate is a condition of the GitTarget that names the Application and the way out', async () => {
    const bareDir = await syncFolder(world, { name: 'ways', files });
    await gated('ways', 'Succeeded', /argocd\/ways waits at the SyncGate/);
    const did = async (command: 'sync' | 'rollback', ...args: string[]) => {
      const { code, stderr, stdout } = await appCommand(world, command, 'ways', ...args);
      assert.equal(code, 0, `${stderr}\n${stdout}`);
    };
    await did('sync', '--resource', 'apps:Deployment:web');
    await gated('ways', 'SelectiveSync', /Application argocd\/ways: .*sync the whole Application/);
    await did('sync', '--strategy', 'apply');
    await gated('ways', 'StrategyApply', /Application argocd\/ways: .*sync without --strategy apply/);
    await did('sync');
    await gated('ways', 'Succeeded', /waits at the SyncGate/);

    const gate = syncGateFile.replace(
      'hook-delete-policy: BeforeHookCreation',
      'hook-delete-policy: HookFailed',
    );
    await commitTo(bareDir, 'main', { 'apps/shop/gate.yaml': gate });
    await did('sync');
    // Argo CD writes times in whole seconds.
    await sleep(2_100);
    await did('sync');
    await gated('ways', 'HookReplaced', /Application argocd\/ways: .*BeforeHookCreation/);

    await did('rollback', '0');
    await gated('ways', 'Rollback', /Application argocd\/ways: .*allow-revision/);
    await world.kubectl(
      ...['patch', 'application', 'ways', '-n', 'argocd', '--type=merge', '-p'],
      '{"spec":{"syncPolicy":{"automated":{"selfHeal":true}}}}',
    );
    await gated('ways', 'SelfHeal', /Application argocd\/ways: .*selfHeal to false/);
  });

  it('a folder without a SyncGate, and a cluster out of sight, are named too', async () => {
    await mirror(world, { name: 'open', files });
    await world.apply([application({ name: 'open', repoURL: world.git.url('open'), path: 'apps/shop' })]);
    await sync(world, 'open');
    await synced(world, 'open');
    await gated('open', 'NoSyncGate', /Application argocd\/open: .*gate init/);
    const away = JSON.parse(
      JSON.stringify(application({ name: 'away', repoURL: world.git.url('open'), path: 'apps' })),
    );
    away.spec.destination.server = 'https://another.example.org:6443';
    await world.apply([away]);
    await gated(
      'open',
      'UnsupportedDestination',
      /Application argocd\/away: .*KubeProvider for that cluster/,
    );
  });

  it('an Application of another cluster is asked about where its gate is made', async () => {
    const far = await startControlPlane();
    try {
      const there = async (...args: string[]) => {
        const { code, stdout, stderr } = await kubectl(far, args);
        assert.equal(code, 0, stderr);
        return stdout;
      };
      await there('apply', '--server-side', '-f', join(import.meta.dirname, '../../../manifests/crds'));
      await there('create', 'namespace', 'far');
      const config = JSON.stringify({
        bearerToken: far.token('admin'),
        tlsClientConfig: { caData: readFileSync(far.caFile).toString('base64') },
      });
      const kubeconfig = JSON.parse(readFileSync(far.kubeconfig, 'utf8'));
      const secret = (name: string, namespace: string, stringData: object, labels = {}) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, labels },
        stringData,
      });
      const mark = { 'argocd.argoproj.io/secret-type': 'cluster' };
      await world.apply([
        secret('far', 'argocd', { name: 'far', server: far.url, config }, mark),
        secret('far', 'default', { value: JSON.stringify(kubeconfig) }),
        {
          apiVersion: 'configbutler.ai/v1alpha3',
          kind: 'KubeProvider',
          metadata: { name: 'far' },
          spec: {
            kubeConfig: { secretRef: { name: 'far' } },
            allowedGitTargets: [{ consumerNamespaces: { from: 'All' } }],
            allowCrossNamespace: { appliers: true },
          },
        },
      ]);
      const gate = { 'apps/shop/gate.yaml': syncGateFile };
      const bareDir = await mirror(world, {
        name: 'far',
        files: { ...gate, ...files },
        spec: {
          kubeProviderRef: { name: 'far' },
          commit: { window: { idleTimeout: '30s', maxDuration: '1m' } },
        },
      });
      const one = JSON.parse(
        JSON.stringify(application({ name: 'far', repoURL: world.git.url('far'), path: 'apps/shop' })),
      );
      one.spec.destination.server = far.url;
      await world.apply([one]);
      await sync(world, 'far');
      await synced(world, 'far');
      await gated('far', 'Succeeded', /argocd\/far waits/);
      await there('scale', 'deployment', 'web', '-n', 'far', '--replicas=6');
      await sync(world, 'far');
      await synced(world, 'far', await tip(bareDir, 'main'));
      assert.equal(
        await there('get', 'deployment', 'web', '-n', 'far', '-o', 'jsonpath={.spec.replicas}'),
        '6',
      );
      assert.match(await inGit(bareDir, 'web.yaml'), /replicas: 6/);
    } finally {
      await far.stop();
    }
  });

  it('a gate that stays closed for two minutes lets the sync fail with our words, and the sync is asked for once more when it opens', async () => {
    const state = await ended(world, 'slow');
    const { phase, message } = gateResult(state);
    assert.equal(phase, 'Failed');
    assert.match(message, /^held by GitOps Reverser: PushRefused: .*this branch is protected/);
    assert.equal((await gateSays(world, 'slow', 'Closed')).degraded, true);
    assert.equal(await rate('slow'), '7', 'nothing was applied');
    await world.git.refusePushes('slow', undefined);
    const bareDir = world.git.bareDir('slow');
    await until(
      'the edit is in Git',
      async () => /eur: "7"/.test(await inGit(bareDir, 'rates.yaml')),
      patience,
    );
    await synced(world, 'slow', await tip(bareDir, 'main'));
    assert.match(await infoOf(world, 'slow'), /started again at [0-9a-f]{12} by GitOps Reverser/);
    assert.equal(await rate('slow'), '7');
  });
});
