/** KubeProviders with a kubeconfig: another cluster is the same test cluster under another name and other rights. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { GitServer } from '../cluster/git-server.ts';
import { freePort } from '../cluster/port.ts';
import { until } from '../cluster/wait.ts';
import type { Running } from './running.ts';
import { gitProvider, gitTarget, kubeProvider, secret, watchRule } from './samples.ts';
import { startScene, stopScene } from './scene.ts';

const operator = 'gitops-reverser';

describe('a KubeProvider with a kubeconfig', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this));
    await running.apply(gitProvider('git', git.url('shop')));
  });
  after(() => stopScene({ git, running }));

  interface KubeConfig {
    clusters: { cluster: { server: string } }[];
    users: { user: Record<string, unknown> }[];
  }

  function kubeconfig(user: string, change: (config: KubeConfig) => void = () => undefined): string {
    const config = JSON.parse(readFileSync(running.cluster.kubeconfigFor(user), 'utf8'));
    change(config);
    return JSON.stringify(config);
  }

  function remote(name: string) {
    return kubeProvider(name, {
      inCluster: undefined,
      kubeConfig: { secretRef: { name: `${name}-kubeconfig` } },
      allowedGitTargets: [{ consumerNamespaces: { from: 'All' } }],
    });
  }

  async function provide(name: string, content: string, key = 'value'): Promise<void> {
    await running.apply(secret(`${name}-kubeconfig`, { [key]: content }, operator), remote(name));
  }

  async function target(name: string): Promise<void> {
    await running.apply(
      gitTarget(name, name, { kubeProviderRef: { name } }),
      watchRule(name, name, [{ resources: ['configmaps'] }]),
    );
  }

  it('is another source of a target', async () => {
    await provide('good', kubeconfig('admin'), 'value.yaml');
    await target('good');
    await running.condition('kubeprovider', 'good', 'Validated=True/Succeeded');
    await running.condition('gittarget', 'good', 'SourceClusterReachable=True/SourceClusterReachable');
    await running.condition('gittarget', 'good', 'Ready=True/Succeeded');
    const spec = running.mirror.spec('shop/good');
    assert.equal(spec?.cluster.name, 'good');
    const maps = await spec.cluster.client.listAll({
      group: '',
      version: 'v1',
      resource: 'configmaps',
      namespace: 'shop',
    });
    assert.equal(maps.kind, 'ok');
  });

  const table: readonly [string, (content: KubeConfig) => void, string][] = [
    [
      'exec',
      ({ users }) =>
        Object.assign(users[0]?.user ?? {}, {
          exec: { command: 'id', apiVersion: 'client.authentication.k8s.io/v1' },
        }),
      'KubeConfigExecNotAllowed',
    ],
    [
      'insecure',
      ({ clusters }) => Object.assign(clusters[0]?.cluster ?? {}, { 'insecure-skip-tls-verify': true }),
      'KubeConfigInsecureTLSNotAllowed',
    ],
    [
      'files',
      ({ users }) => Object.assign(users[0]?.user ?? {}, { tokenFile: '/etc/passwd' }),
      'KubeConfigFileReferenceNotAllowed',
    ],
  ];
  for (const [name, change, reason] of table) {
    it(`is refused before anything is dialled: ${reason}`, async () => {
      await provide(name, kubeconfig('admin', change));
      await running.condition('kubeprovider', name, `Validated=False/${reason}`);
      await running.condition('kubeprovider', name, `Stalled=True/${reason}`);
    });
  }

  it('says which Secret or key is missing', async () => {
    await running.apply(remote('missing'));
    await running.condition('kubeprovider', 'missing', 'Validated=False/KubeConfigSecretNotFound');
    await provide('keyless', kubeconfig('admin'), 'other');
    await running.condition('kubeprovider', 'keyless', 'Validated=False/KubeConfigKeyNotFound');
    await provide('garbled', 'not: [a kubeconfig');
    await running.condition('kubeprovider', 'garbled', 'Validated=False/KubeConfigInvalid');
  });

  it('tells 401, 403 and silence apart, and none of them stops another target', async () => {
    const nobody = await freePort();
    await provide(
      'unknown',
      kubeconfig('admin', ({ users }) => Object.assign(users[0]?.user ?? {}, { token: 'wrong-token' })),
    );
    await provide('powerless', kubeconfig('alice'));
    await provide(
      'silent',
      kubeconfig('admin', ({ clusters }) =>
        Object.assign(clusters[0]?.cluster ?? {}, { server: `https://127.0.0.1:${nobody}` }),
      ),
    );
    for (const name of ['unknown', 'powerless', 'silent']) await target(name);
    const failed = await running.condition(
      'gittarget',
      'unknown',
      'SourceClusterReachable=False/SourceClusterAuthenticationFailed',
    );
    assert.doesNotMatch(JSON.stringify(failed.status), /wrong-token/);
    await running.condition(
      'gittarget',
      'powerless',
      'SourceClusterReachable=False/SourceClusterAccessDenied',
    );
    await running.condition('gittarget', 'silent', 'SourceClusterReachable=False/SourceClusterUnreachable');
    for (const name of ['unknown', 'powerless', 'silent'])
      assert.equal(running.mirror.spec(`shop/${name}`), undefined);
    await running.condition('gittarget', 'good', 'Ready=True/Succeeded');
  });

  it('takes a rotated kubeconfig', async () => {
    await provide('powerless', kubeconfig('admin'));
    await running.kubectl(
      'annotate',
      'kubeprovider',
      'powerless',
      'reconcile.configbutler.ai/requestedAt=now',
    );
    await running.condition('gittarget', 'powerless', 'Ready=True/Succeeded');
    await until('the target to run', () => running.mirror.spec('shop/powerless'));
  });
});
