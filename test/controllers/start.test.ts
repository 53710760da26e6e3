/** Starting where not everything is there yet. */
import assert from 'node:assert/strict';
import type { GitServer } from '../cluster/git-server.ts';
import { until } from '../cluster/wait.ts';
import { applyCrds, type Running } from './running.ts';
import { gitProvider, kubeProvider, login, secret } from './samples.ts';
import { startScene, stopScene } from './scene.ts';

describe('the controllers at their start', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this, {
      users: { [login.username]: login.password },
      running: { bare: true },
    }));
  });
  after(() => stopScene({ git, running }));

  it('are not ready without our CRDs, say so once per kind, and decide nothing', async () => {
    await until(
      'all kinds to be missed',
      () => running.problems.filter((line) => line.includes('apply manifests/crds')).length >= 6,
    );
    assert.equal(running.controllers.ready(), false);
    assert.deepEqual(running.mirror.applied, []);
  });

  it('go on by themselves soon after the CRDs are there', async () => {
    await applyCrds(running.cluster);
    await until('the controllers to be ready', () => running.controllers.ready());
    await running.apply(kubeProvider('default'));
    await running.condition('kubeprovider', 'default', 'Ready=True/Succeeded');
  });

  it('send no credentials over http unless they are told to', async () => {
    await running.apply(
      secret('git-login', login),
      gitProvider('git', git.url('shop'), { secretRef: { name: 'git-login' } }),
    );
    await running.condition('gitprovider', 'git', 'Stalled=True/InsecureTransport');
    assert.deepEqual(git.requests, []);
  });

  it('live without the rights of some kinds: not ready, but no crash', async () => {
    await running.kubectl('delete', 'clusterrolebinding', 'test-core');
    await running.restart();
    await until('the missing rights to be noticed', () =>
      running.problems.some((line) => /forbidden/.test(line)),
    );
    assert.equal(running.controllers.ready(), false);
    await running.kubectl(
      'create',
      'clusterrolebinding',
      'test-core',
      '--clusterrole=gitops-reverser-core',
      '--user=carol',
    );
    await running.restart();
    await until('the controllers to be ready', () => running.controllers.ready());
  });
});
