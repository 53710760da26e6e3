/** From objects in a real API server to the wanted set of the workers, and back to conditions. */
import assert from 'node:assert/strict';
import type { GitServer } from '../cluster/git-server.ts';
import { until } from '../cluster/wait.ts';
import type { Running } from './running.ts';
import {
  clusterWatchRule,
  gitProvider,
  gitTarget,
  kubeProvider,
  login,
  secret,
  watchRule,
} from './samples.ts';
import { startScene, stopScene } from './scene.ts';

describe('the controllers', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this, {
      users: { [login.username]: login.password },
      files: { 'README.md': 'shop\n' },
    }));
  });
  after(() => stopScene({ git, running }));

  it('hand a valid target to the workers with everything resolved', async () => {
    await running.apply(
      secret('git-login', login),
      gitProvider('git', git.url('shop'), { secretRef: { name: 'git-login' } }),
      kubeProvider('default'),
      gitTarget('live', 'clusters/one/', { commit: { window: { idleTimeout: '2s', maxDuration: '30s' } } }),
      watchRule('everything', 'live', [{ resources: ['configmaps', 'deployments'] }]),
    );
    const spec = await until('the workers to be asked for shop/live', () => running.mirror.spec('shop/live'));
    assert.equal(spec.path, 'clusters/one');
    assert.equal(spec.branch, 'main');
    assert.equal(spec.access.url.remote, git.url('shop'));
    assert.equal(spec.access.credentials.kind, 'basic');
    assert.deepEqual(spec.committer, { name: 'GitOps Reverser', email: 'noreply@gitops-reverser.invalid' });
    assert.deepEqual([spec.idleTimeoutMs, spec.maxDurationMs], [2_000, 30_000]);
    assert.deepEqual(spec.collections, [
      {
        group: '',
        version: 'v1',
        resource: 'configmaps',
        kind: 'ConfigMap',
        namespaced: true,
        namespace: 'shop',
        labelSelector: '',
      },
      {
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        kind: 'Deployment',
        namespaced: true,
        namespace: 'shop',
        labelSelector: '',
      },
    ]);
    assert.match(spec.cluster.uid, /^[0-9a-f-]{36}$/);

    await running.condition('gitprovider', 'git', 'Ready=True/Succeeded');
    await running.condition('kubeprovider', 'default', 'Validated=True/InCluster');
    const target = await running.condition('gittarget', 'live', 'Ready=True/Succeeded');
    assert.deepEqual(target.status.streams, { summary: '2/2', total: 2, ready: 2, replaying: 0, blocked: 0 });
    assert.equal(target.status.observedGeneration, target.metadata.generation);
    await running.condition('watchrule', 'everything', 'Ready=True/Succeeded');
    const branch = await running.condition('gitbranch', 'git-main', 'Ready=True/Succeeded');
    assert.equal(branch.status.gitTargetCount, 1);
    assert.equal(running.controllers.ready(), true);
  });

  it('feed cluster-scoped objects of a ClusterWatchRule', async () => {
    await running.apply(clusterWatchRule('roles', 'live', [{ resources: ['clusterroles'] }]));
    await until('the collection of ClusterRoles', () =>
      running.mirror
        .spec('shop/live')
        ?.collections.some(({ resource, namespace }) => resource === 'clusterroles' && namespace === ''),
    );
    await running.condition('clusterwatchrule', 'roles', 'Ready=True/Succeeded');
    await running.remove('clusterwatchrule', 'roles');
    await until(
      'the collection to be gone',
      () => running.mirror.spec('shop/live')?.collections.length === 2,
    );
  });
});
