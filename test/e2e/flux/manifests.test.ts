import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, valueAt } from '../../../src/core/json.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/control-plane.ts';
import { fluxModule, installCrds } from '../../cluster/flux.ts';
import { type Folder, temporaryFolder } from '../../cluster/folder.ts';
import { kubectl } from '../../cluster/kubectl.ts';
import { until } from '../../cluster/wait.ts';
import {
  assertUnprivileged,
  type Built,
  build,
  container as containerOf,
  Pod,
  podSpec as podOf,
} from '../../install/pod.ts';

const manifests = join(import.meta.dirname, '../../../manifests');
const account = 'system:serviceaccount:flux-system:gitops-reverser';

/** `VERB RESOURCE[.GROUP] [NAMESPACE]` */
const allowed = [
  'get gitrepositories.source.toolkit.fluxcd.io shop',
  'list gitrepositories.source.toolkit.fluxcd.io',
  'patch gitrepositories.source.toolkit.fluxcd.io shop',
  'get kustomizations.kustomize.toolkit.fluxcd.io shop',
  'list kustomizations.kustomize.toolkit.fluxcd.io',
  'patch kustomizations.kustomize.toolkit.fluxcd.io shop',
  'watch externalartifacts.source.toolkit.fluxcd.io',
  'watch gittargets.configbutler.ai',
  'watch deployments.apps',
  'create leases.coordination.k8s.io flux-system',
];
const forbidden = [
  'create gitrepositories.source.toolkit.fluxcd.io shop',
  'delete gitrepositories.source.toolkit.fluxcd.io shop',
  'patch gitrepositories.source.toolkit.fluxcd.io/status shop',
  'create kustomizations.kustomize.toolkit.fluxcd.io shop',
  'delete kustomizations.kustomize.toolkit.fluxcd.io shop',
  'patch externalartifacts.source.toolkit.fluxcd.io shop',
  'patch deployments.apps shop',
  'patch deployments.apps flux-system',
  'list secrets flux-system',
  'create serviceaccounts/token flux-system',
  'create leases.coordination.k8s.io shop',
];

describe('the kustomize component for kustomize-controller', function () {
  this.timeout(120_000);
  let cluster: ControlPlane;
  let folder: Folder;
  let built: Built;
  let pod: Pod | undefined;

  before(async () => {
    folder = temporaryFolder('flux-component');
    built = await build(folder.path, {
      official: [join(fluxModule('github.com/fluxcd/kustomize-controller'), 'config/manager')],
      components: ['flux'],
      namespace: 'flux-system',
    });
    cluster = await startControlPlane({
      controllers: ['serviceaccount-token-controller', 'serviceaccount-controller'],
    });
    for (const args of [
      ['create', 'namespace', 'flux-system'],
      ['apply', '-f', join(manifests, 'rbac/core.yaml')],
      ['apply', '-f', join(manifests, 'rbac/flux-door.yaml')],
      ['apply', '--server-side', '-f', join(manifests, 'crds')],
    ])
      assert.equal((await kubectl(cluster, args)).code, 0);
    await installCrds(cluster);
  });
  after(async () => {
    await pod?.stop();
    await cluster?.stop();
    await folder?.remove();
  });

  const podSpec = () => podOf(built, 'kustomize-controller');
  const container = (list: 'containers' | 'initContainers', name: string): JsonObject =>
    containerOf({ [list]: podSpec()[list] ?? [] }, name);
  const texts = (value: unknown): string => JSON.stringify(value);

  it('is accepted by the API server, over the controller’s own manifests', async () => {
    const applied = await kubectl(cluster, ['apply', '--server-side', '--dry-run=server', '-f', '-'], {
      stdin: built.text,
    });
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /deployment\.apps\/kustomize-controller serverside-applied/);
    assert.equal(applied.stderr, '', 'no warning');
  });

  it('starts the sidecar before the controller, and sends the controller to its door', () => {
    const sidecar = container('initContainers', 'gitops-reverser');
    assert.equal(sidecar.restartPolicy, 'Always');
    assert.equal(sidecar.image, 'registry.example.com/sidecar:1.2.3');
    const manager = container('containers', 'manager');
    assert.match(texts(manager.env), /"SOURCE_CONTROLLER_LOCALHOST","value":"127\.0\.0\.1:9798"/);
    assert.match(texts(manager.env), /RUNTIME_NAMESPACE/, 'what was there stays');
    assert.match(texts(manager.volumeMounts), /"\/tmp"/);
  });

  it('mounts the pod’s token into the controller only', () => {
    assert.equal(podSpec().automountServiceAccountToken, false);
    const token = /kube-api-access/;
    assert.match(texts(container('containers', 'manager').volumeMounts), token);
    assert.doesNotMatch(texts(container('initContainers', 'gitops-reverser').volumeMounts), token);
    assert.notEqual(podSpec().serviceAccountName, 'gitops-reverser');
  });

  it('runs the sidecar without any privilege', () => {
    assertUnprivileged(container('initContainers', 'gitops-reverser'));
  });

  it('gives the sidecar its own token and just the rights it needs', async () => {
    const wanted = built.objects
      .filter(({ kind }) => kind !== 'Deployment')
      .map((one) => JSON.stringify(one));
    const applied = await kubectl(cluster, ['apply', '-f', '-'], { stdin: wanted.join('\n---\n') });
    assert.equal(applied.code, 0, applied.stderr);
    const may = async (line: string): Promise<boolean> => {
      const [verb = '', resource = '', namespace] = line.split(' ');
      const [type = '', subresource] = resource.split('/');
      const args = ['auth', 'can-i', verb, type, `--as=${account}`];
      if (subresource !== undefined) args.push(`--subresource=${subresource}`);
      args.push(...(namespace === undefined ? ['--all-namespaces'] : ['-n', namespace]));
      return (await kubectl(cluster, args)).stdout.trim() === 'yes';
    };
    await until('the roles are in force', () => may(allowed[0] ?? ''));
    for (const line of allowed) assert.equal(await may(line), true, line);
    for (const line of forbidden) assert.equal(await may(line), false, line);
  });

  it('runs: the sidecar starts with its arguments and its own kubeconfig, passes its probes and leads', async () => {
    // What the token controller has filled in.
    const token = await until(
      'the token of the account',
      async () => {
        const args = ['get', 'secret', 'gitops-reverser-token', '-n', 'flux-system', '-o', 'json'];
        const { data } = JSON.parse((await kubectl(cluster, args)).stdout);
        return data?.token === undefined ? undefined : (data as Record<string, string>);
      },
      { timeoutMs: 60_000 },
    );
    const text = (key: string) => Buffer.from(token[key] ?? '', 'base64').toString();
    const stored = built.objects.find(({ kind }) => kind === 'ConfigMap');
    const kubeconfig = valueAt(stored, ['data', 'kubeconfig']);
    assert.ok(typeof kubeconfig === 'string');
    const dir = join(folder.path, 'pod');
    mkdirSync(dir);
    const name = 'gitops-reverser';
    pod = new Pod(podSpec(), {
      dir,
      name: 'kustomize-controller-0',
      namespace: 'flux-system',
      volumes: {
        'gitops-reverser-token': { token: text('token'), 'ca.crt': text('ca.crt') },
        'gitops-reverser-peer': { token: 'of-the-replicas' },
        'gitops-reverser-kubeconfig': {
          // Its paths are the container's.
          kubeconfig: kubeconfig
            .replaceAll('/var/run/secrets/gitops-reverser', join(dir, 'gitops-reverser-token'))
            .replace('https://kubernetes.default.svc', cluster.url),
        },
      },
    });
    const { log } = await pod.start(name, []);
    await pod.probe(name, 'startupProbe', log);
    await pod.probe(name, 'livenessProbe', log);
    await until('it leads', () => log().includes('leads and writes'), { timeoutMs: 60_000 });
    const door = `http://127.0.0.1:${await pod.port(9798)}`;
    const asked = async () => (await fetch(`${door}/gitrepository/shop/shop/a.tar.gz`)).status;
    await until('the door knows the sources', async () => (await asked()) === 404, { timeoutMs: 60_000 });
    assert.doesNotMatch(log(), /forbidden|not permitted/i);
  });
});
