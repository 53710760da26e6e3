/** The standalone installation: stored by the real API server, its Secrets made as the guide says, two replicas run. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject, valueAt } from '../../src/core/json.ts';
import { argocdModule } from '../cluster/argocd.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { fluxModule } from '../cluster/flux.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { part } from '../cluster/parts.ts';
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
const namespace = 'gitops-reverser';
const service = 'gitops-reverser.gitops-reverser.svc';
const patience = { timeoutMs: 60_000 };

interface Replica {
  readonly pod: Pod;
  log(): string;
}

describe('the standalone installation', function () {
  this.timeout(240_000);
  let folder: Folder;
  let cluster: ControlPlane;
  let built: Built;
  const replicas: Replica[] = [];

  before(async () => {
    folder = temporaryFolder('standalone');
    built = await build(empty('build'), { resources: ['standalone'] });
    cluster = await startControlPlane({ controllers: ['serviceaccount-controller'] });
    for (const args of [
      ['apply', '-f', join(manifests, 'rbac/core.yaml'), '-f', join(manifests, 'rbac/flux-door.yaml')],
      ['apply', '--server-side', '-f', join(manifests, 'crds')],
      ['create', 'namespace', 'argocd'],
    ]) {
      const { code, stderr } = await kubectl(cluster, args);
      assert.equal(code, 0, stderr);
    }
  });
  after(async () => {
    await Promise.all(replicas.map(({ pod }) => pod.stop()));
    await cluster?.stop();
    await folder?.remove();
  });

  function empty(name: string): string {
    const dir = join(folder.path, name);
    mkdirSync(dir);
    return dir;
  }

  const pod = () => podSpec(built, 'gitops-reverser');

  it('gets its Secrets from the commands of the guide', async () => {
    const guide = readFileSync(join(root, 'docs/guide/install.md'), 'utf8');
    const [, commands] = /<!-- the test of the standalone[^\n]*\n```sh\n(.*?)```/s.exec(guide) ?? [];
    assert.ok(commands !== undefined, 'the guide has no such block');
    const env = {
      ...process.env,
      KUBECONFIG: cluster.kubeconfig,
      PATH: `${dirname(part('kubectl'))}:${process.env.PATH}`,
    };
    const { code, stderr } = await run('bash', ['-euc', commands], { cwd: empty('keys'), env });
    assert.equal(code, 0, stderr);
    const wanted = list(pod().volumes).flatMap(({ secret }) => valueAt(secret, ['secretName']) ?? []);
    for (const name of wanted) assert.ok(Object.keys(await secret(String(name))).length > 0);
  });

  async function secret(name: string, from = namespace): Promise<Record<string, string>> {
    const { code, stdout, stderr } = await kubectl(cluster, [
      'get',
      'secret',
      name,
      '-n',
      from,
      '-o',
      'json',
    ]);
    assert.equal(code, 0, stderr);
    const { data } = JSON.parse(stdout);
    const decoded = Object.entries<string>(data).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]);
    return Object.fromEntries(decoded);
  }

  it('is stored by the API server without a warning, in a namespace that admits no privileged pod', async () => {
    const applied = await kubectl(cluster, ['apply', '--server-side', '--force-conflicts', '-f', '-'], {
      stdin: built.text,
    });
    assert.deepEqual([applied.code, applied.stderr], [0, '']);
    assert.match(applied.stdout, /deployment\.apps\/gitops-reverser serverside-applied/);
    assertUnprivileged(container(pod(), 'gitops-reverser'));
    // Admission looks at pods, and here nobody makes one of the Deployment.
    const { volumes: _none, ...spec } = pod();
    const { volumeMounts: _mounts, ...alone } = container(pod(), 'gitops-reverser');
    const one = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'one', namespace },
      spec: { ...spec, containers: [alone] },
    };
    const admitted = await kubectl(cluster, ['apply', '--dry-run=server', '-f', '-'], {
      stdin: JSON.stringify(one),
    });
    assert.deepEqual([admitted.code, admitted.stderr], [0, '']);
  });

  it('admits kustomize-controller alone to the artifact door, the repo-server to the gate, itself to the peers', () => {
    const policy = built.objects.find(({ kind }) => kind === 'NetworkPolicy');
    assert.deepEqual(
      valueAt(policy, ['spec', 'podSelector', 'matchLabels']),
      valueAt(deployment(), ['spec', 'selector', 'matchLabels']),
    );
    const whose = (peer: JsonObject): string => {
      const namespaces = valueAt(peer, ['namespaceSelector', 'matchLabels', 'kubernetes.io/metadata.name']);
      const pods = valueAt(peer, ['podSelector', 'matchLabels']);
      const all = peer.namespaceSelector === undefined ? 'own' : 'any';
      return [namespaces ?? all, ...(isObject(pods) ? Object.values(pods) : [])].join('/');
    };
    const admitted = list(valueAt(policy, ['spec', 'ingress'])).map(({ from, ports }) => {
      const numbers = list(ports).map(({ port }) => port);
      return `${list(from).map(whose).join()} ${numbers.join()}`;
    });
    assert.deepEqual(admitted, [
      'flux-system/kustomize-controller 9798',
      'argocd/argocd-repo-server 9797',
      'own/gitops-reverser 9799',
      'any 9795',
    ]);
  });

  function deployment(): JsonObject {
    const found = built.objects.find(({ kind }) => kind === 'Deployment');
    assert.ok(found !== undefined);
    return found;
  }

  it('runs: two replicas start with its arguments, pass their probes, and one leads', async () => {
    const token = await kubectl(cluster, ['create', 'token', 'gitops-reverser', '-n', namespace]);
    assert.equal(token.code, 0, token.stderr);
    const volumes: Record<string, Record<string, string>> = {};
    for (const { name, secret: source } of list(pod().volumes)) {
      const secretName = valueAt(source, ['secretName']);
      if (typeof secretName === 'string') volumes[String(name)] = await secret(secretName);
    }
    for (const name of ['gitops-reverser-a', 'gitops-reverser-b']) {
      const dir = empty(name);
      const replica = new Pod(pod(), { dir, name, namespace, volumes });
      const kubeconfig = kubeconfigFor(join(dir, 'kubeconfig'), cluster.kubeconfig, token.stdout);
      const { log } = await replica.start('gitops-reverser', ['--kubeconfig', kubeconfig]);
      replicas.push({ pod: replica, log });
      await replica.probe('gitops-reverser', 'startupProbe', log);
      await replica.probe('gitops-reverser', 'livenessProbe', log);
      await replica.probe('gitops-reverser', 'readinessProbe', log);
      await until(
        'one leads',
        () => replicas.some((one) => one.log().includes('leads and writes')),
        patience,
      );
    }
    assert.equal(replicas.filter((one) => one.log().includes('leads and writes')).length, 1);
  });

  it('runs: both answer over TLS with the token, and the one that does not lead asks the other over TLS', async () => {
    const token = (await secret('gitops-reverser-gate')).token?.trim() ?? '';
    const states = [];
    for (const replica of replicas) {
      await until(
        'the gate is ready',
        async () => JSON.parse((await ask(replica, token, '/v1/status')).body).ready === true,
        patience,
      );
      const { leading } = JSON.parse((await ask(replica, token, '/v1/status')).body);
      const answer = await ask(replica, token, '/v1/gate', question);
      assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, { decision: 'open', covered: false }]);
      assert.equal((await ask(replica, 'wrong', '/v1/status')).status, 401);
      states.push(leading);
    }
    assert.deepEqual(states.sort(), [false, true]);
    const [replica] = replicas;
    assert.ok(replica !== undefined);
    await assert.rejects(
      fetch(`http://127.0.0.1:${await replica.pod.port(9797)}/v1/status`),
      'plain HTTP gets nothing',
    );
    const door = await fetch(`http://127.0.0.1:${await replica.pod.port(9798)}/gitrepository/a/b/c.tar.gz`);
    assert.ok([404, 423].includes(door.status), `${door.status}`);
  });

  /** As a pod would that knows the authority and the name of the Service. */
  async function ask(
    { pod: at }: Replica,
    token: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: string }> {
    const { 'ca.crt': ca = '' } = await secret('gitops-reverser-gate', 'argocd');
    const port = await at.port(9797);
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const method = body === undefined ? 'GET' : 'POST';
      const options = {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers,
        ca,
        servername: service,
        agent: false,
      };
      const asked = request(options, async (answered) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answered) chunks.push(chunk);
        resolve({ status: answered.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
      });
      asked.on('error', reject).end(body === undefined ? '' : JSON.stringify(body));
    });
  }

  it('leads kustomize-controller to its artifact door, and binds the role of that door', async () => {
    const official = join(fluxModule('github.com/fluxcd/kustomize-controller'), 'config/manager');
    const components = ['standalone/kustomize-controller'];
    const flux = await build(empty('flux'), { official: [official], components, namespace: 'flux-system' });
    const env = list(container(podSpec(flux, 'kustomize-controller'), 'manager').env);
    const value = (name: string) => env.find((one) => one.name === name)?.value;
    for (const name of ['SOURCE_CONTROLLER_LOCALHOST', 'SOURCE_WATCHER_LOCALHOST'])
      assert.equal(value(name), `${service}.cluster.local.:9798`);
    const binding = flux.objects.find(({ kind }) => kind === 'ClusterRoleBinding');
    assert.deepEqual(valueAt(binding, ['subjects']), [
      { kind: 'ServiceAccount', name: 'gitops-reverser', namespace },
    ]);
    const [bound] = list(valueAt(binding, ['subjects']));
    assert.ok(
      built.objects.some(
        ({ kind, metadata }) => kind === bound?.kind && valueAt(metadata, ['name']) === bound?.name,
      ),
    );
  });

  it('is asked by the plugin beside argocd-repo-server, with the container’s own environment', async function () {
    let install: string;
    try {
      install = join(argocdModule(), 'manifests/install.yaml');
    } catch {
      console.log('      skipped: the Go module of Argo CD is not in the module cache (make parts)');
      return this.skip();
    }
    const components = ['standalone/repo-server'];
    const argocd = await build(empty('argocd'), { official: [install], components, namespace: 'argocd' });
    const applied = await kubectl(cluster, ['apply', '--server-side', '--dry-run=server', '-f', '-'], {
      stdin: argocd.text,
    });
    assert.deepEqual([applied.code, applied.stderr], [0, '']);
    const spec = podSpec(argocd, 'argocd-repo-server');
    const name = 'gitops-reverser-plugin';
    assertUnprivileged(container(spec, name));
    const plugin = new Pod(spec, {
      dir: empty('plugin'),
      name: 'argocd-repo-server-0',
      namespace: 'argocd',
      volumes: { 'gitops-reverser-gate': await secret('gitops-reverser-gate', 'argocd') },
    });
    const env = await plugin.env(name);
    const address = list(container(spec, name).env).find(
      (one) => one.name === 'GITOPS_REVERSER_GATE_ADDRESS',
    );
    assert.equal(address?.value, `https://${service}:9797`);
    for (const replica of replicas) {
      const rendered = await run(
        'node',
        [
          '--import',
          resolver,
          join(root, 'src/main.ts'),
          'gate',
          '--mode',
          'strict',
          '--',
          'echo',
          'rendered',
        ],
        {
          env: {
            ...process.env,
            ...env,
            GITOPS_REVERSER_GATE_ADDRESS: `https://${service}:${await replica.pod.port(9797)}`,
            ARGOCD_APP_NAME: 'shop',
            ARGOCD_APP_REVISION: question.revision,
            ARGOCD_APP_SOURCE_REPO_URL: question.repoURL,
            ARGOCD_APP_SOURCE_TARGET_REVISION: question.targetRevision,
            ARGOCD_APP_SOURCE_PATH: question.path,
          },
        },
      );
      assert.deepEqual([rendered.code, rendered.stdout], [0, 'rendered\n'], rendered.stderr);
    }
  });
});

const question = {
  applier: 'argocd',
  application: { namespace: 'argocd', name: 'shop' },
  repoURL: 'https://git.example.com/team/config',
  targetRevision: 'main',
  revision: 'a'.repeat(40),
  path: 'apps/shop',
  phase: 'render',
};

/** The name of the Service leads to this machine, as the cluster's DNS would lead it to a pod. */
const resolver = `data:text/javascript,${encodeURIComponent(`
  import dns from 'node:dns';
  const real = dns.lookup;
  dns.lookup = (name, options, done) => real(name.endsWith('.svc') ? '127.0.0.1' : name, options, done);
`)}`;
