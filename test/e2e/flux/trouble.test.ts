/** Whatever fails beside the real Flux: nothing is applied over an unwritten edit, and somebody says why. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitTo, log, tip } from '../../cluster/repository.ts';
import { runOk } from '../../cluster/run.ts';
import { until } from '../../cluster/wait.ts';
import { additions, applyIsOver, assertOnlyLiveLost, deedsIn } from '../deeds.ts';
import { condition, configMap, deployment, events, patience } from '../shop.ts';
import { mirror } from '../sidecar.ts';
import {
  applied,
  applyFolder,
  type GuardedWorld,
  handled,
  kustomization,
  request,
  startGuardedWorld,
} from './guarded.ts';

const apiVersion = 'configbutler.ai/v1alpha3';
const files = {
  'apps/shop/web.yaml': deployment('web'),
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
};
const long = { timeoutMs: 240_000, intervalMs: 500 };

describe('trouble beside the real Flux', function () {
  this.timeout(400_000);
  let world: GuardedWorld;

  before(async () => {
    world = await startGuardedWorld();
    // Its two minutes pass while the other tests run.
    await applyFolder(world, { name: 'unsigned', files });
    await verifyCommits(
      'unsigned',
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBuOl3cLRVYzLbuVrzNqzO9VQPq0X7hKxmXlfjT5H3Zq',
    );
  });
  after(() => world?.stop());

  const { scale, setRate, live, replicas, rate, inGit } = deedsIn(() => world);
  const gated = (name: string, reason: string, message: RegExp) =>
    condition(world, ['gittarget', name], 'SourcesGated', { reason, message });

  /** Where the door serves the newest artifact of a source. */
  async function artifactUrl(name: string, namespace = name): Promise<string> {
    const found = await until(
      `GitRepository ${name} has an artifact`,
      () =>
        world.kubectl('get', 'gitrepository', name, '-n', namespace, '-o', 'jsonpath={.status.artifact.url}'),
      patience,
    );
    return `${world.doorUrl}${new URL(found).pathname}`;
  }

  async function verifyCommits(name: string, publicKey: string): Promise<void> {
    const metadata = { name: 'authors', namespace: name };
    const stringData = { 'authors.sshpub': publicKey };
    await world.apply([{ apiVersion: 'v1', kind: 'Secret', metadata, stringData }]);
    const spec = { verify: { mode: 'HEAD', secretRef: { name: 'authors' } } };
    await patch(name, 'gitrepository', { spec });
  }

  async function patch(name: string, kind: string, body: object): Promise<void> {
    await world.kubectl('patch', kind, name, '-n', name, '--type=merge', '-p', JSON.stringify(body));
  }

  it('a source that takes signed commits only is named before the first commit', async () => {
    await condition(world, ['gittarget', 'unsigned'], 'CommitsTrusted', {
      status: 'False',
      reason: 'NotSigned',
      message: /unsigned\/unsigned takes signed commits only/,
    });
    assert.equal((await log(world.git.bareDir('unsigned'), 'main')).length, 1, 'nothing was committed yet');
    // From here on its artifact lacks the tip; two minutes later that is said.
    await scale('unsigned', 7);
    await request(world, 'kustomization', 'unsigned');
  });

  it('signed with a key that the source trusts, an edit goes all the way', async () => {
    const bareDir = await applyFolder(world, { name: 'signed', files });
    const key = join(world.folder.path, 'signing');
    await runOk('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ours', '-f', key]);
    const stringData = { 'signing.key': readFileSync(key, 'utf8') };
    const metadata = { name: 'signing', namespace: 'signed' };
    await world.apply([{ apiVersion: 'v1', kind: 'Secret', metadata, stringData }]);
    await patch('signed', 'gitprovider', {
      spec: { commit: { signing: { secretRef: { name: 'signing' } } } },
    });
    await verifyCommits('signed', readFileSync(`${key}.pub`, 'utf8'));
    await condition(world, ['gittarget', 'signed'], 'CommitsTrusted', { status: 'True' });
    await scale('signed', 5);
    await request(world, 'kustomization', 'signed');
    await until(
      'the signed commit is applied',
      async () => (await kustomization(world, 'signed')).applied !== (await log(bareDir, 'main')).at(-1)?.sha,
      patience,
    );
    await applied(world, 'signed', await tip(bareDir, 'main'));
    assert.equal(await replicas('signed'), '5');
    const verified = await world.kubectl(
      ...['get', 'gitrepository', 'signed', '-n', 'signed', '-o'],
      'jsonpath={.status.conditions[?(@.type=="SourceVerified")].status}',
    );
    assert.equal(verified, 'True', 'Flux itself has verified our signature');
  });

  const goingBack: readonly [string, object][] = [
    ['pinned', {}],
    ['opened', { metadata: { annotations: { 'configbutler.ai/door': 'open' } } }],
  ];
  for (const [name, how] of goingBack) {
    it(`an apply that goes back to an older commit (${name}) takes nothing out of Git`, async () => {
      const bareDir = await applyFolder(world, { name, files });
      const old = (await tip(bareDir, 'main')) ?? '';
      await commitTo(bareDir, 'main', additions);
      const newest = await tip(bareDir, 'main');
      await request(world, 'gitrepository', name);
      await applied(world, name, newest);
      await applyIsOver(world, name);
      const patch = JSON.stringify({ ...how, spec: { ref: { branch: 'main', commit: old } } });
      await world.kubectl('patch', 'gitrepository', name, '-n', name, '--type=merge', '-p', patch);
      await applied(world, name, old);
      await assertOnlyLiveLost(world, name, bareDir);
    });
  }

  it('flux reconcile during a hung git host applies nothing and says why; it ends well once the host is back', async () => {
    const name = 'reconcile';
    await applyFolder(world, { name, files });
    await setRate(name, '7');
    world.git.setFault('hang');
    try {
      // The command waits while Flux means to try again, and shows nothing until then.
      const waiting = world.flux.cli('reconcile', 'kustomization', name, '-n', name);
      await until(
        'flux get kustomizations says why',
        async () =>
          /False\s+.*423 held by GitOps Reverser: (Deadline|RemoteUnreachable): /.test(
            (await world.flux.cli('get', 'kustomizations', '-n', name)).stdout,
          ),
        patience,
      );
      const impatient = await world.flux.cli('reconcile', 'kustomization', name, '-n', name, '--timeout=3s');
      assert.notEqual(impatient.code, 0);
      assert.equal(await rate(name), '7', 'nothing was applied');
      world.git.setFault(undefined);
      const { code, stderr } = await waiting;
      assert.equal(code, 0, stderr);
    } finally {
      world.git.setFault(undefined);
    }
    assert.equal(await rate(name), '7');
    assert.match(await inGit(world.git.bareDir(name), 'rates.yaml'), /eur: "7"/);
  });

  it('a caller that goes away does not stop the publishing of an edit', async () => {
    const bareDir = await applyFolder(world, { name: 'gone', files });
    const url = await artifactUrl('gone');
    await setRate('gone', '7');
    world.git.setFault({ delayMs: 1_500 });
    try {
      const asking = ask(url);
      const failed = once(asking, 'error');
      asking.end();
      await sleep(500);
      asking.destroy(new Error('the caller went away'));
      await failed;
    } finally {
      world.git.setFault(undefined);
    }
    await until(
      'the edit is in Git',
      async () => /eur: "7"/.test(await inGit(bareDir, 'rates.yaml')),
      patience,
    );
    assert.equal((await log(bareDir, 'main')).length, 2);
  });

  it('ten Kustomizations that apply at once share one commit and one push', async () => {
    const name = 'ten';
    const numbers = Array.from({ length: 10 }, (_none, index) => index);
    const parts = numbers.map((index) => [
      `apps/shop/p${index}/rates.yaml`,
      configMap(`rates-${index}`, { eur: '1' }),
    ]);
    const window = { commit: { window: { idleTimeout: '10m', maxDuration: '1h' } } };
    const bareDir = await mirror(world, { name, files: Object.fromEntries(parts), spec: window });
    const labels = { door: 'guarded' };
    const sourceRef = { kind: 'GitRepository', name };
    await world.apply([
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata: { name, namespace: name, labels },
        spec: { url: world.git.url(name), interval: '1h', ref: { branch: 'main' } },
      },
      ...numbers.map((index) => ({
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata: { name: `p${index}`, namespace: name, labels },
        spec: {
          interval: '1h',
          path: `./apps/shop/p${index}`,
          prune: true,
          targetNamespace: name,
          sourceRef,
        },
      })),
    ]);
    const all = async () => {
      const { items } = JSON.parse(await world.kubectl('get', 'kustomizations', '-n', name, '-o', 'json'));
      return items.map(({ status = {} }: { status?: { lastAppliedRevision?: string } }) =>
        (status.lastAppliedRevision ?? '').slice(-40),
      );
    };
    const allAt = (commit: string | undefined) =>
      until(
        `all ten are applied at ${commit}`,
        async () => (await all()).every((one: string) => one === commit),
        long,
      );
    await allAt(await tip(bareDir, 'main'));
    for (const index of numbers) await setRate(name, '2', `rates-${index}`);
    world.git.clearRequests();
    const value = `reconcile.fluxcd.io/requestedAt=${Date.now()}`;
    await world.kubectl('annotate', 'kustomizations', '--all', '-n', name, '--overwrite', value);
    await until('the edits are in Git', async () => (await log(bareDir, 'main')).length > 1, patience);
    await allAt(await tip(bareDir, 'main'));
    for (const index of numbers) {
      assert.equal(await live(name, `configmap/rates-${index}`, '.data.eur'), '2');
    }
    const pushes = world.git.requests.filter(
      ({ method, service, path }) =>
        method === 'POST' && service === 'git-receive-pack' && path.includes(`/${name}.git`),
    );
    assert.deepEqual([pushes.length, (await log(bareDir, 'main')).length], [1, 2]);
  });

  it('a kind that nobody serves any more, or that may not be read, deadlocks nobody', async () => {
    const name = 'deadlock';
    const crd = (kind: string) => {
      const singular = kind.toLowerCase();
      const names = { kind, plural: `${singular}s`, singular, listKind: `${kind}List` };
      const schema = {
        openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      };
      return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${names.plural}.example.com` },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names,
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      };
    };
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'widgets' };
    const account = { kind: 'ServiceAccount', name: 'gitops-reverser', namespace: 'flux-system' };
    await world.apply([
      crd('Widget'),
      // Nobody grants this one.
      crd('Gadget'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'widgets' },
        rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list', 'watch'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'widgets' },
        roleRef: role,
        subjects: [account],
      },
    ]);
    const bareDir = await applyFolder(world, { name, files });
    const rule = (resource: string) => ({
      apiVersion,
      kind: 'WatchRule',
      metadata: { name: resource, namespace: name },
      spec: { gitTargetRef: { name }, rules: [{ apiGroups: ['example.com'], resources: [resource] }] },
    });
    await world.apply([rule('widgets')]);
    await condition(world, ['watchrule', name, 'widgets'], 'StreamsRunning', { status: 'True' });
    await world.kubectl('delete', 'crd', 'widgets.example.com');
    await world.apply([rule('gadgets')]);
    await condition(world, ['gittarget', name], 'StreamsRunning', {
      reason: 'WatchNotPermitted',
      message: /gadgets/,
    });
    await scale(name, 6);
    await request(world, 'kustomization', name);
    await until('the edit is in Git', async () => /replicas: 6/.test(await inGit(bareDir, 'web.yaml')), long);
    await applied(world, name, await tip(bareDir, 'main'));
    assert.equal(await replicas(name), '6');
  });

  it('a tenant that cannot publish holds no other namespace hostage', async () => {
    const bareDir = await applyFolder(world, { name: 'victim', files });
    const nowhere = JSON.parse(readFileSync(world.cluster.kubeconfig, 'utf8'));
    nowhere.clusters[0].cluster.server = 'https://127.0.0.1:1';
    const metadata = { name: 'tenant', namespace: 'tenant' };
    const rules = [{ apiGroups: [''], resources: ['configmaps'] }];
    await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } }]);
    await world.apply([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'nowhere', namespace: 'default' },
        stringData: { value: JSON.stringify(nowhere) },
      },
      {
        apiVersion,
        kind: 'KubeProvider',
        metadata: { name: 'nowhere' },
        spec: {
          kubeConfig: { secretRef: { name: 'nowhere' } },
          allowedGitTargets: [{ consumerNamespaces: { from: 'All' } }],
        },
      },
      {
        apiVersion,
        kind: 'GitProvider',
        metadata,
        spec: { url: world.git.url('victim'), allowedBranches: ['main'] },
      },
      {
        apiVersion,
        kind: 'GitTarget',
        metadata,
        spec: {
          gitProviderRef: { name: 'tenant' },
          kubeProviderRef: { name: 'nowhere' },
          branch: 'main',
          path: 'apps/tenant',
        },
      },
      { apiVersion, kind: 'WatchRule', metadata, spec: { gitTargetRef: { name: 'tenant' }, rules } },
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata,
        spec: { url: world.git.url('victim'), interval: '1h', ref: { branch: 'main' } },
      },
    ]);
    await condition(world, ['gittarget', 'tenant'], 'Validated', { status: 'True' });
    const own = await artifactUrl('tenant');
    await until('its own door is closed', async () => (await fetch(own)).status === 423, patience);
    assert.equal((await fetch(await artifactUrl('victim'))).status, 200);
    await scale('victim', 6);
    await handled(world, 'victim', await request(world, 'kustomization', 'victim'));
    await applied(world, 'victim', await tip(bareDir, 'main'));
    assert.equal(await replicas('victim'), '6');
  });

  it('a source that is not there is never served', async () => {
    for (const path of ['nobody/nothing', 'unsigned/nothing']) {
      const answer = await fetch(`${world.doorUrl}/gitrepository/${path}/${'a'.repeat(40)}.tar.gz`);
      assert.equal(answer.status, 404);
    }
  });

  it('each way past the door is a condition of the GitTarget that names the object and the way out', async () => {
    const name = 'past';
    const bareDir = await applyFolder(world, { name, files });
    await gated(name, 'Succeeded', /past\/past fetches through the door/);
    // The controller that does not fetch through the door takes the Kustomization over.
    await world.kubectl('label', 'kustomization', name, '-n', name, '--overwrite', 'door=none');
    await commitTo(bareDir, 'main', { 'apps/shop/rates.yaml': configMap('rates', { eur: '3', usd: '1' }) });
    await request(world, 'gitrepository', name);
    await applied(world, name, await tip(bareDir, 'main'));
    await gated(name, 'NotThroughDoor', /Kustomization past\/past: .*SOURCE_CONTROLLER_LOCALHOST/);
    await world.kubectl('label', 'kustomization', name, '-n', name, '--overwrite', 'door=guarded');
    await commitTo(bareDir, 'main', { 'apps/shop/rates.yaml': configMap('rates', { eur: '4', usd: '1' }) });
    await request(world, 'gitrepository', name);
    await gated(name, 'Succeeded', /past\/past/);
    const metadata = { name: 'parts', namespace: name };
    await world.apply([
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'ExternalArtifact',
        metadata,
        spec: { sourceRef: { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', name } },
      },
    ]);
    await gated(name, 'ExternalArtifact', /ExternalArtifact past\/parts: .*GitRepository past\/past/);
    await world.kubectl('delete', 'externalartifact', 'parts', '-n', name);
    await gated(name, 'Succeeded', /past\/past/);
    await world.kubectl('annotate', 'gitrepository', name, '-n', name, 'configbutler.ai/door=open');
    await gated(name, 'DoorOpen', /GitRepository past\/past: .*remove it/);
  });

  it('a refused edit holds nobody back: an Event names its object and field before the apply overwrites it', async () => {
    const merged = `apiVersion: v1
kind: ConfigMap
metadata:
  name: merged
  labels: &marks {team: shop}
  annotations: {<<: *marks}
data:
  eur: "1"
`;
    await applyFolder(world, { name: 'unwritten', files: { ...files, 'apps/shop/merged.yaml': merged } });
    await setRate('unwritten', '2', 'merged');
    await request(world, 'kustomization', 'unwritten');
    await until(
      'an Event named it',
      async () =>
        (await events(world, 'unwritten')).some((text) =>
          /^EditRefused: the live edit of ConfigMap\/unwritten\/merged \(data\.eur\) cannot be written to Git \(NotEditable/.test(
            text,
          ),
        ),
      patience,
    );
    await until(
      'the apply went on',
      async () => (await live('unwritten', 'configmap/merged', '.data.eur')) === '1',
      patience,
    );
  });

  it('a source that lacks the tip two minutes after it was asked is named with its own words', async () => {
    await until(
      'the Kustomization names it',
      async () => {
        const { message } = await kustomization(world, 'unsigned');
        return /423 .*GitRepository unsigned\/unsigned \(.*verif.*\) has not fetched what it was asked to/i.test(
          message,
        );
      },
      long,
    );
    assert.equal(await replicas('unsigned'), '7', 'nothing was applied over the edit');
  });

  it('a sidecar that hangs lets nothing pass and fails its liveness probe; started anew, it publishes the edit', async () => {
    const bareDir = await applyFolder(world, { name: 'frozen', files });
    const { pid, healthPort } = world.sidecar();
    process.kill(pid, 'SIGSTOP');
    await scale('frozen', 9);
    await request(world, 'kustomization', 'frozen');
    const probe = fetch(`http://127.0.0.1:${healthPort}/healthz`, { signal: AbortSignal.timeout(5_000) });
    await assert.rejects(probe, { name: 'TimeoutError' });
    await until(
      'kustomize-controller waits at the door',
      async () => (await kustomization(world, 'frozen')).ready !== 'True',
      patience,
    );
    assert.equal(await replicas('frozen'), '9');
    // What the kubelet does then.
    await world.sidecar().kill('SIGKILL');
    await world.startSidecar();
    await until(
      'the edit is in Git',
      async () => /replicas: 9/.test(await inGit(bareDir, 'web.yaml')),
      patience,
    );
    // Flux itself would try again an hour later.
    await applied(world, 'frozen', await tip(bareDir, 'main'));
    assert.equal(await replicas('frozen'), '9');
  });

  it('a sidecar that is starting serves no artifact that lacks an edit', async () => {
    const bareDir = await applyFolder(world, { name: 'starting', files });
    const url = await artifactUrl('starting');
    await world.sidecar().kill('SIGKILL');
    await scale('starting', 9);
    const seen = new Set<string>();
    const started = world.startSidecar();
    await until(
      'the edit is in Git',
      async () => {
        const answer = await fetch(url).catch(() => undefined);
        await answer?.body?.cancel();
        seen.add(`${answer?.status ?? 'refused'}`);
        return /replicas: 9/.test(await inGit(bareDir, 'web.yaml'));
      },
      { timeoutMs: 60_000, intervalMs: 50 },
    );
    await started;
    assert.ok(!seen.has('200'), [...seen].join());
    await request(world, 'gitrepository', 'starting');
    await request(world, 'kustomization', 'starting');
    await applied(world, 'starting', await tip(bareDir, 'main'));
    assert.equal(await replicas('starting'), '9');
  });
});
