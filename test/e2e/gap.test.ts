import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { listFiles, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import {
  condition,
  configMap,
  deployment,
  events,
  flush,
  metric,
  moved,
  movedSince,
  patience,
} from './shop.ts';
import { mirror, mirrorObjects, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const rules = [
  { apiGroups: ['apps'], resources: ['deployments'] },
  { apiGroups: [''], resources: ['configmaps'] },
];

describe('nobody watched for a while', function () {
  this.timeout(300_000);
  let world: World;
  let sidecar: Sidecar;
  const name = 'shop';
  const files = {
    'apps/shop/web.yaml': deployment('web'),
    'apps/shop/old.yaml': deployment('old'),
    'apps/shop/never.yaml': deployment('never'),
  };
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
    const live = `${deployment('web')}---\n${deployment('old')}`;
    bareDir = await mirror(world, { name, rules, files, live });
    await flush(world, name);
  });
  after(() => world?.stop());

  async function restart(): Promise<void> {
    sidecar = await world.start();
    // A flush takes what the snapshot has not brought yet, so only what follows the snapshot tells of it.
    const settled = () => metric(sidecar, 'watch_replay_duration_seconds_count');
    await until('both collections were read', async () => (await settled()) >= 2, patience);
    await flush(world, name);
  }

  it('what was edited, deleted and made while the process was down: exactly that', async () => {
    const before = (await tip(bareDir, 'main')) ?? '';
    await sidecar.kill('SIGKILL');
    await world.kubectl('set', 'image', 'deployment/web', '-n', name, 'web=nginx:1.30');
    await world.kubectl('delete', 'deployment', 'old', '-n', name);
    await world.kubectl('create', 'configmap', 'made', '-n', name, '--from-literal=k=v');
    await world.kubectl('create', 'configmap', 'came-and-went', '-n', name, '--from-literal=k=v');
    await world.kubectl('delete', 'configmap', 'came-and-went', '-n', name);
    await restart();
    const { files: touched, commits } = await movedSince(bareDir, before);
    assert.deepEqual(touched, [
      'apps/shop/old.yaml',
      'apps/shop/shop/configmaps/made.yaml',
      'apps/shop/web.yaml',
    ]);
    assert.equal(await readFile(bareDir, 'main', 'apps/shop/old.yaml'), undefined);
    assert.match((await readFile(bareDir, 'main', 'apps/shop/web.yaml')) ?? '', /nginx:1\.30" {2}# pinned/);
    for (const { body, subject } of commits) {
      assert.match(subject, /reconcile/, 'the message says that it covers a gap');
      assert.match(body, /^Attribution: none$/m);
    }
  });

  it('a document whose object was never there is no delete', async () => {
    assert.equal(await readFile(bareDir, 'main', 'apps/shop/never.yaml'), deployment('never'));
  });

  it('an API server that dies and comes back: exactly what was done once it is there', async () => {
    await world.cluster.apiServer.kill();
    await world.cluster.apiServer.restart();
    const { files: touched, lines } = await moved(world, name, bareDir, async () => {
      await world.kubectl('delete', 'configmap', 'made', '-n', name);
      await world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=3');
    });
    assert.deepEqual(touched, ['apps/shop/shop/configmaps/made.yaml', 'apps/shop/web.yaml']);
    assert.deepEqual(
      lines.filter((line) => line.includes('agreed on')),
      ['-  replicas: 2  # as many as the team agreed on', '+  replicas: 3  # as many as the team agreed on'],
    );
  });

  describe('when the source cluster was replaced by another one', () => {
    const remote = 'remote';
    let source: ControlPlane;
    let remoteDir: string;

    before(async () => {
      source = await startControlPlane({
        controllers: ['serviceaccount-controller', 'namespace-controller'],
      });
      const value = readFileSync(source.kubeconfig, 'utf8');
      await world.apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: remote } },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: remote, namespace: 'default' },
          stringData: { value },
        },
        {
          apiVersion: 'configbutler.ai/v1alpha3',
          kind: 'KubeProvider',
          metadata: { name: remote },
          spec: {
            kubeConfig: { secretRef: { name: remote } },
            allowedGitTargets: [{ consumerNamespaces: { from: 'All' } }],
          },
        },
      ]);
      await fill(['a', 'b', 'c']);
      remoteDir = await world.git.createRepository(remote, { files: { 'README.md': '# test\n' } });
      const spec = { kubeProviderRef: { name: remote } };
      await world.apply(
        mirrorObjects(world, {
          ...{ name: remote, path: 'apps/shop', branch: 'main', spec },
          rules: [{ apiGroups: [''], resources: ['configmaps'] }],
        }),
      );
      await ready(world, remote, 60_000);
      await flush(world, remote);
      assert.deepEqual(await written(), ['a', 'b', 'c']);
    });
    after(() => source?.stop());

    async function fill(names: readonly string[]): Promise<void> {
      const stdin = [
        `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${remote}\n`,
        ...names.map((one) =>
          configMap(one, { k: 'v' }).replace('metadata:', `metadata:\n  namespace: ${remote}`),
        ),
      ].join('---\n');
      const made = await kubectl(source, ['apply', '-f', '-'], { stdin });
      assert.equal(made.code, 0, made.stderr);
    }

    async function written(): Promise<string[]> {
      const paths = (await listFiles(remoteDir, 'main')).filter((path) => path.includes('/configmaps/'));
      return paths.map((path) => path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length)).sort();
    }

    it('nothing is deleted from Git, and the target says why', async () => {
      // The same address and logins, but nothing of what was there: another place in the store.
      await source.apiServer.restart({ flags: ['--etcd-prefix=/another'] });
      await fill(['b', 'd']);
      await until('the new object is in Git', async () => (await written()).includes('d'), patience);
      await flush(world, remote);
      assert.deepEqual(await written(), ['a', 'b', 'c', 'd']);
      await condition(world, ['gittarget', remote], 'Ready', { status: 'True', message: /another cluster/ });
      assert.match((await events(world, remote)).join('\n'), /RecordsVoided.*another cluster/);
    });

    it('from then on deletes in the new cluster count', async () => {
      const gone = await kubectl(source, ['delete', 'configmap', 'b', 'd', '-n', remote]);
      assert.equal(gone.code, 0, gone.stderr);
      await flush(world, remote);
      assert.deepEqual(await written(), ['a', 'c']);
    });
  });
});
