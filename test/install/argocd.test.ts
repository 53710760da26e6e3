/** The component for argocd-repo-server: built over Argo CD's own manifests, stored by the real API server, its containers run. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject, valueAt } from '../../src/core/json.ts';
import { argocdModule } from '../cluster/argocd.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { part } from '../cluster/parts.ts';
import { type Program, startProgram } from '../cluster/program.ts';
import { run } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';
import {
  assertUnprivileged,
  type Built,
  build,
  container,
  kubeconfigFor,
  list,
  manifests,
  Pod,
  podSpec,
} from './pod.ts';

const root = join(manifests, '..');
const ours = ['gitops-reverser', 'gitops-reverser-plugin'];

describe('the component for argocd-repo-server', function () {
  this.timeout(180_000);
  let folder: Folder;
  let cluster: ControlPlane;
  let built: Built;
  let pod: Pod | undefined;
  let plugins: Program | undefined;

  before(async function () {
    const install = installManifest();
    if (install === undefined) {
      console.log('      skipped: the Go module of Argo CD is not in the module cache (make parts)');
      return this.skip();
    }
    folder = temporaryFolder('argocd-component');
    built = await build(join(folder.path), {
      official: [install],
      components: ['argocd'],
      namespace: 'argocd',
    });
    cluster = await startControlPlane({ controllers: ['serviceaccount-controller'] });
    for (const args of [
      ['create', 'namespace', 'argocd'],
      ['apply', '-f', join(manifests, 'rbac/core.yaml'), '-f', join(manifests, 'rbac/argocd-door.yaml')],
      ['apply', '--server-side', '-f', join(manifests, 'crds')],
    ]) {
      const { code, stderr } = await kubectl(cluster, args);
      assert.equal(code, 0, stderr);
    }
  });
  after(async () => {
    await pod?.stop();
    await plugins?.kill('SIGKILL');
    await cluster?.stop();
    await folder?.remove();
  });

  const repoServer = () => podSpec(built, 'argocd-repo-server');

  it('is stored by the API server, with Argo CD’s own manifests and without a warning', async () => {
    const applied = await kubectl(cluster, ['apply', '--server-side', '-f', '-'], { stdin: built.text });
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /deployment\.apps\/argocd-repo-server serverside-applied/);
    assert.equal(applied.stderr, '');
  });

  it('adds two containers without any privilege, and leaves the repo-server as it is', async () => {
    const alone = temporaryFolder('argocd-alone');
    const install = installManifest();
    assert.ok(install !== undefined);
    const official = podSpec(
      await build(alone.path, { official: [install], namespace: 'argocd' }),
      'argocd-repo-server',
    );
    await alone.remove();
    const theirs = (name: string) => container(repoServer(), name);
    assert.deepEqual(theirs('argocd-repo-server'), container(official, 'argocd-repo-server'));
    assert.deepEqual(repoServer().initContainers, official.initContainers);
    assert.equal(repoServer().automountServiceAccountToken, false);
    assert.deepEqual(
      list(repoServer().containers)
        .map(({ name }) => name)
        .sort(),
      ['argocd-repo-server', ...ours].sort(),
    );
    for (const name of ours) {
      assertUnprivileged(theirs(name));
      assert.equal(theirs(name).image, 'registry.example.com/sidecar:1.2.3');
    }
  });

  it('fits Argo CD’s manifests for high availability too', async () => {
    const ha = temporaryFolder('argocd-ha');
    const official = [join(argocdModule(), 'manifests/ha/install.yaml')];
    const spec = podSpec(
      await build(ha.path, { official, components: ['argocd'], namespace: 'argocd' }),
      'argocd-repo-server',
    );
    await ha.remove();
    for (const name of ours) assert.deepEqual(container(spec, name), container(repoServer(), name));
  });

  it('mounts the token of the service account, the data and the peer token into the sidecar alone', () => {
    const mountedBy = (volume: string) =>
      list(repoServer().containers)
        .filter(({ volumeMounts }) => list(volumeMounts).some(({ name }) => name === volume))
        .map(({ name }) => name);
    for (const volume of ['gitops-reverser-token', 'gitops-reverser-data', 'gitops-reverser-peer'])
      assert.deepEqual(mountedBy(volume), ['gitops-reverser'], volume);
    for (const volume of ['gitops-reverser-gate', 'gitops-reverser-checkouts']) {
      assert.deepEqual(mountedBy(volume).sort(), [...ours].sort());
      const inPlugin = list(container(repoServer(), 'gitops-reverser-plugin').volumeMounts);
      assert.equal(inPlugin.find(({ name }) => name === volume)?.readOnly, true, volume);
    }
    const tmp = (name: string) =>
      list(container(repoServer(), name).volumeMounts).find(({ mountPath }) => mountPath === '/tmp')?.name;
    const all = [...ours, 'argocd-repo-server'].map(tmp);
    assert.equal(new Set(all).size, 3, 'nobody shares /tmp');
  });

  it('tells Argo CD the health of SyncGate, without which no sync waits', () => {
    const config = built.objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && valueAt(metadata, ['name']) === 'argocd-cm',
    );
    const health = valueAt(config, ['data', 'resource.customizations.health.configbutler.ai_SyncGate']);
    assert.match(String(health), /status = "Healthy"/);
  });

  it('admits other replicas and metrics beside what Argo CD admits', () => {
    const policies = built.objects.filter(
      (one) =>
        one.kind === 'NetworkPolicy' &&
        valueAt(one, ['spec', 'podSelector', 'matchLabels', 'app.kubernetes.io/name']) ===
          'argocd-repo-server',
    );
    const ports = policies.flatMap((one) =>
      list(valueAt(one, ['spec', 'ingress'])).flatMap((rule) => list(rule.ports).map(({ port }) => port)),
    );
    assert.deepEqual(ports.sort(), [8081, 8084, 9795, 9799]);
  });

  it('runs: the sidecar starts with its arguments and passes its probes, and the plugin is answered', async () => {
    const token = await kubectl(cluster, ['create', 'token', 'argocd-repo-server', '-n', 'argocd']);
    assert.equal(token.code, 0, token.stderr);
    const dir = join(folder.path, 'pod');
    pod = new Pod(repoServer(), {
      dir,
      name: 'argocd-repo-server-0',
      namespace: 'argocd',
      volumes: { 'gitops-reverser-peer': { token: 'of-the-replicas' } },
    });
    const kubeconfig = kubeconfigFor(join(dir, 'kubeconfig'), cluster.kubeconfig, token.stdout);
    const { log } = await pod.start('gitops-reverser', ['--kubeconfig', kubeconfig]);
    await pod.probe('gitops-reverser', 'startupProbe', log);
    await pod.probe('gitops-reverser', 'livenessProbe', log);
    const tokenFile = pod.path('gitops-reverser-plugin', '/var/run/gitops-reverser/gate/token');
    assert.match(readFileSync(tokenFile, 'utf8'), /^[0-9a-f]{64}\n$/);
    assert.equal(statSync(tokenFile).mode & 0o777, 0o600);
    await until('it leads with the rights it was given', () => log().includes('leads and writes'), patience);

    const env = { ...process.env, ...(await pod.env('gitops-reverser-plugin')), ...application };
    const gate = [join(root, 'src/main.ts'), 'gate', '--mode', 'strict', '--', 'echo', 'rendered'];
    const { code, stdout, stderr } = await run('node', gate, { env });
    assert.deepEqual([code, stdout], [0, 'rendered\n'], `${stderr}${log()}`);
    assert.doesNotMatch(log(), /forbidden|not permitted/i);
  });

  it('runs: Argo CD’s plugin server takes our plugin.yaml and offers it where the repo-server looks', async function () {
    const server = cmpServer();
    if (server === undefined) {
      console.log('      skipped: Argo CD is not built (test/cluster/build.sh argocd)');
      return this.skip();
    }
    assert.ok(pod !== undefined);
    const { command } = container(repoServer(), 'gitops-reverser-plugin');
    assert.deepEqual(command, ['/var/run/argocd/argocd-cmp-server']);
    const sockets = pod.path('gitops-reverser-plugin', '/home/argocd/cmp-server/plugins');
    plugins = await startProgram(server, [`--config-dir-path=${join(root, 'sidecar')}`], {
      logFile: join(folder.path, 'cmp-server.log'),
      env: {
        PATH: process.env.PATH,
        ARGOCD_BINARY_NAME: 'argocd-cmp-server',
        ARGOCD_PLUGINSOCKFILEPATH: sockets,
        ARGOCD_CMP_WORKDIR: pod.path('gitops-reverser-plugin', '/tmp'),
        ...(await pod.env('gitops-reverser-plugin')),
      },
    });
    await until(
      'the socket of the plugin',
      () => existsSync(join(sockets, 'gitops-reverser.sock')),
      patience,
    );
    const theirs = list(container(repoServer(), 'argocd-repo-server').volumeMounts);
    assert.ok(
      theirs.some(
        ({ name, mountPath }) => name === 'plugins' && mountPath === '/home/argocd/cmp-server/plugins',
      ),
    );
  });

  it('says the same in the Helm values, which were not run', () => {
    const values: Json = parse(readFileSync(join(manifests, 'helm/argo-cd-values.yaml'), 'utf8'));
    assert.ok(isObject(values) && isObject(values.repoServer));
    const { extraContainers, volumes, automountServiceAccountToken, serviceAccount } = values.repoServer;
    assert.equal(automountServiceAccountToken, false);
    const component = ours.map((name) => ({ ...container(repoServer(), name), image: image }));
    assert.deepEqual(list(extraContainers), component);
    const added = list(repoServer().volumes).filter(({ name }) => String(name).startsWith('gitops-reverser'));
    assert.deepEqual(byName(list(volumes)), byName(added));
    const objects = list(values.extraObjects);
    const same = built.objects.filter(({ kind, metadata }) => {
      const name = valueAt(metadata, ['name']);
      return kind !== 'Deployment' && typeof name === 'string' && name.startsWith('gitops-reverser');
    });
    assert.deepEqual(byName(objects), byName(same));
    const accounts = same.flatMap(({ subjects }) => list(subjects)).map(({ name }) => name);
    assert.deepEqual([...new Set(accounts)], [valueAt(serviceAccount, ['name'])]);
  });
});

const image = '<your registry>/gitops-reverser-sidecar:<version>';
const patience = { timeoutMs: 60_000 };
/** What Argo CD tells a plugin. */
const application = {
  ARGOCD_APP_NAME: 'shop',
  ARGOCD_APP_REVISION: 'a'.repeat(40),
  ARGOCD_APP_SOURCE_REPO_URL: 'https://git.example.com/team/config',
  ARGOCD_APP_SOURCE_TARGET_REVISION: 'main',
  ARGOCD_APP_SOURCE_PATH: 'apps/shop',
};

function byName(all: readonly JsonObject[]): JsonObject[] {
  const key = (one: JsonObject) => JSON.stringify([one.kind, valueAt(one, ['metadata', 'name']), one.name]);
  return all.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

function installManifest(): string | undefined {
  try {
    const file = join(argocdModule(), 'manifests/install.yaml');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

function cmpServer(): string | undefined {
  try {
    return part('argocd-cmp-server');
  } catch {
    return undefined;
  }
}
