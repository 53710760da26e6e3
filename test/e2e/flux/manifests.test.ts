import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isObject, type JsonObject, valueAt } from '../../../src/core/json.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/control-plane.ts';
import { fluxModule, installCrds } from '../../cluster/flux.ts';
import { type Folder, temporaryFolder } from '../../cluster/folder.ts';
import { kubectl } from '../../cluster/kubectl.ts';
import { part } from '../../cluster/parts.ts';
import { runOk } from '../../cluster/run.ts';
import { until } from '../../cluster/wait.ts';

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
  let built: string;
  let objects: JsonObject[];

  before(async () => {
    folder = temporaryFolder('flux-component');
    cpSync(
      join(fluxModule('github.com/fluxcd/kustomize-controller'), 'config/manager'),
      join(folder.path, 'manager'),
      {
        recursive: true,
        mode: 0,
      },
    );
    cpSync(join(manifests, 'flux'), join(folder.path, 'reverser'), { recursive: true });
    mkdirSync(join(folder.path, 'install'));
    const kustomization = {
      namespace: 'flux-system',
      resources: ['../manager'],
      components: ['../reverser'],
      images: [{ name: 'gitops-reverser-sidecar', newName: 'registry.example.com/sidecar', newTag: '1.2.3' }],
    };
    writeFileSync(join(folder.path, 'install/kustomization.yaml'), JSON.stringify(kustomization));
    built = await runOk(part('kustomize'), ['build', join(folder.path, 'install')]);
    objects = parseAllDocuments(built).map((document) => document.toJS());
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
    await cluster?.stop();
    await folder?.remove();
  });

  const podSpec = (): JsonObject => {
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    const spec = valueAt(deployment, ['spec', 'template', 'spec']);
    assert.ok(isObject(spec));
    return spec;
  };
  const container = (list: 'containers' | 'initContainers', name: string): JsonObject => {
    const all = podSpec()[list];
    const found = Array.isArray(all) ? all.find((one) => isObject(one) && one.name === name) : undefined;
    assert.ok(isObject(found), `${list} hold no ${name}`);
    return found;
  };
  const texts = (value: unknown): string => JSON.stringify(value);

  it('is accepted by the API server, over the controller’s own manifests', async () => {
    const applied = await kubectl(cluster, ['apply', '--server-side', '--dry-run=server', '-f', '-'], {
      stdin: built,
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
    const { securityContext } = container('initContainers', 'gitops-reverser');
    assert.ok(isObject(securityContext));
    const { runAsNonRoot, readOnlyRootFilesystem, allowPrivilegeEscalation } = securityContext;
    assert.deepEqual([runAsNonRoot, readOnlyRootFilesystem, allowPrivilegeEscalation], [true, true, false]);
  });

  it('gives the sidecar its own token and just the rights it needs', async () => {
    const wanted = objects.filter(({ kind }) => kind !== 'Deployment').map((one) => JSON.stringify(one));
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
});
