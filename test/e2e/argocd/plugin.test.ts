/** The plugin as Argo CD runs it: repo-server, cmp-server and controller are the real ones, and so is the sidecar. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Argocd, type Plugin, startArgocd } from '../../cluster/argocd.ts';
import { application, readApplication, untilApplication } from '../../cluster/argocd-objects.ts';
import { part } from '../../cluster/parts.ts';
import { freePort } from '../../cluster/port.ts';
import { commitTo, log, readFile, tip } from '../../cluster/repository.ts';
import { until } from '../../cluster/wait.ts';
import { configMap, deployment, patience } from '../shop.ts';
import { mirror, type Sidecar, startWorld, type World } from '../sidecar.ts';
import { ownAccount } from './guarded.ts';

const root = join(import.meta.dirname, '../../..');
const path = 'apps/shop';

describe('the plugin in the real Argo CD', function () {
  this.timeout(300_000);
  let world: World;
  let argocd: Argocd;
  let sidecar: Sidecar;
  let flags: string[];
  let shared = '';
  /** The folders that commands ran in, one a line. */
  let folders = '';

  before(async () => {
    world = await startWorld();
    const gate = `127.0.0.1:${await freePort()}`;
    const token = join(world.folder.path, 'token');
    shared = join(world.folder.path, 'shared');
    folders = join(world.folder.path, 'folders');
    writeFileSync(token, 'correct-horse');
    writeFileSync(folders, '');
    flags = ['--gate-bind-address', gate, '--gate-token-file', token, '--shared-checkout-dir', shared];
    flags.push('--kustomize', part('kustomize'));
    const options = ['--address', gate, '--token-file', token, '--checkout-dir', shared];
    const render = ['sh', '-c', `pwd -P >>${folders}; exec ${part('kustomize')} build .`];
    const wrapped = (mode: string, deadline: string) => [
      ...[process.execPath, join(root, 'src/main.ts'), 'gate'],
      ...['--mode', mode, '--deadline', deadline, ...options, '--', ...render],
    ];
    argocd = await startArgocd(world.cluster, {
      plugins: [
        plugin('plain', render),
        plugin('advise', wrapped('advise', '20s')),
        plugin('strict', wrapped('strict', '20s')),
        plugin('hasty', wrapped('strict', '2s')),
        plugin('shell', [
          'dash',
          join(root, 'sidecar/gate.sh'),
          '--mode',
          'strict',
          ...options,
          '--',
          ...render,
        ]),
      ],
    });
    const provider = { spec: { allowCrossNamespace: { appliers: true } } };
    await world.kubectl('patch', 'kubeprovider', 'default', '--type=merge', '-p', JSON.stringify(provider));
    flags.push('--kubeconfig', await ownAccount(world));
    sidecar = await world.start(flags);
  });
  after(async () => {
    await argocd?.stop();
    await world?.stop();
  });

  /** A repository, a GitTarget and an Application of one name, synced once through the plugin. */
  async function shop(name: string, rendersWith: string): Promise<string> {
    const files = {
      [`${path}/kustomization.yaml`]: 'resources: [web.yaml, paint.yaml]\n',
      [`${path}/web.yaml`]: deployment('web'),
      [`${path}/paint.yaml`]: configMap('paint', { colour: 'red', text: 'a\nb: "c" \u00e9 #' }),
    };
    const bareDir = await mirror(world, { name, path, files });
    const url = world.git.url(name);
    await world.apply([application({ name, repoURL: url, path, plugin: rendersWith })]);
    await sync(name);
    await until(`${name} holds what was synced`, async () => (await replicas(name)) === '2', patience);
    return bareDir;
  }

  /** Syncs by the CLI and waits for the end of that operation; returns how it ended. */
  async function operate(name: string, ...more: string[]): Promise<{ phase: string; message: string }> {
    const { code, stderr } = await argocd.cli('app', 'sync', name, '--async', ...more);
    assert.equal(code, 0, stderr);
    const ended = await untilApplication(world.cluster, name, 'ends its sync', ({ operation, status }) => {
      return operation === undefined && status?.operationState?.finishedAt !== undefined;
    });
    const { phase = '', message = '' } = ended.status?.operationState ?? {};
    return { phase, message };
  }

  async function sync(name: string, ...more: string[]): Promise<void> {
    const { phase, message } = await operate(name, ...more);
    assert.equal(phase, 'Succeeded', message);
  }

  const replicas = (name: string) =>
    world.kubectl('get', 'deployment', 'web', '-n', name, '-o', 'jsonpath={.spec.replicas}');
  const scale = (name: string, to: number) =>
    world.kubectl('scale', 'deployment/web', '-n', name, `--replicas=${to}`);
  const repaint = (bareDir: string, colour: string) =>
    commitTo(bareDir, 'main', { [`${path}/paint.yaml`]: configMap('paint', { colour }) });
  const refresh = (name: string) => argocd.cli('app', 'get', name, '--refresh');

  async function untilError(name: string, words: RegExp): Promise<string> {
    const message = (one: Awaited<ReturnType<typeof readApplication>>) =>
      one.status?.conditions?.find(({ type }) => type === 'ComparisonError')?.message ?? '';
    const found = await untilApplication(world.cluster, name, `says ${words}`, (one) =>
      words.test(message(one)),
    );
    return message(found);
  }

  it('renders what the command alone renders', async () => {
    await shop('plain', 'plain');
    const manifests: string[] = [];
    for (const name of ['plain', 'advise', 'strict', 'shell']) {
      const one = `same-${name}`;
      await world.apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: one } },
        application({ name: one, repoURL: world.git.url('plain'), path, destination: 'same', plugin: name }),
      ]);
      const { stdout, stderr, code } = await argocd.cli('app', 'manifests', one);
      assert.equal(code, 0, stderr);
      manifests.push(stdout.replaceAll(one, 'NAME'));
    }
    assert.match(manifests[0] ?? '', /colour: red/);
    assert.deepEqual(new Set(manifests).size, 1);
  });

  it('commits an edit made just before the render', async () => {
    const bareDir = await shop('advised', 'advise');
    await scale('advised', 7);
    await repaint(bareDir, 'blue');
    const { code, stderr } = await refresh('advised');
    assert.equal(code, 0, stderr);
    assert.match((await readFile(bareDir, 'main', `${path}/web.yaml`)) ?? '', /replicas: 7 {2}# as many/);
  });

  it('renders in the sidecar’s checkout of the tip', async () => {
    const bareDir = await shop('checkout', 'advise');
    const newest = await repaint(bareDir, 'green');
    await sync('checkout');
    const folder = join(shared, 'commits', newest, path);
    assert.ok(readFileSync(folders, 'utf8').includes(`${folder}\n`), readFileSync(folders, 'utf8'));
    assert.equal(
      readFileSync(join(shared, 'targets/checkout/checkout', path, 'paint.yaml'), 'utf8').includes('green'),
      true,
    );
  });

  it('does not render a commit in strict that lacks an edit, says so, and renders the one that has it', async () => {
    const bareDir = await shop('strict', 'strict');
    await scale('strict', 6);
    const lacking = await repaint(bareDir, 'blue');
    await refresh('strict');
    const said = await untilError('strict', /superseded/);
    assert.match(said, /exit status 65: gitops-reverser gate: superseded: /);
    assert.match(said, new RegExp(`${lacking.slice(0, 12)} is not the newest`));
    assert.match(said, /an edit made live: \S*Deployment\S*web spec\.replicas by /);
    await sync('strict');
    assert.equal(await replicas('strict'), '6');
    const { status } = await readApplication(world.cluster, 'strict');
    assert.equal(status?.sync?.revision, await tip(bareDir, 'main'));
    assert.equal((await log(bareDir, 'main'))[1]?.sha, lacking);
  });

  it('lets an older commit pass in strict where the Application says so', async () => {
    const bareDir = await shop('rollback', 'strict');
    // What was rendered once is not asked about again, so these two are not, until now.
    const [blue, pink] = [await repaint(bareDir, 'blue'), await repaint(bareDir, 'pink')];
    await repaint(bareDir, 'green');
    await sync('rollback');
    const refused = await operate('rollback', '--revision', blue);
    assert.equal(refused.phase, 'Error');
    assert.match(refused.message, /gitops-reverser gate: superseded/);
    await world.kubectl(
      'annotate',
      'application',
      'rollback',
      '-n',
      'argocd',
      `configbutler.ai/allow-revision=${pink}`,
    );
    await sync('rollback', '--revision', pink);
    const colour = ['get', 'configmap', 'paint', '-n', 'rollback', '-o', 'jsonpath={.data.colour}'];
    assert.equal(await world.kubectl(...colour), 'pink');
  });

  it('renders in advise without the sidecar, fails in strict, and strict recovers when the sidecar is back', async () => {
    const [advised, hasty] = [await shop('alone', 'advise'), await shop('hasty', 'hasty')];
    await sidecar.kill('SIGTERM');
    const newest = await repaint(advised, 'blue');
    await sync('alone');
    assert.equal((await readApplication(world.cluster, 'alone')).status?.sync?.revision, newest);

    const wanted = await repaint(hasty, 'blue');
    await refresh('hasty');
    assert.match(
      await untilError('hasty', /exit status 69/),
      /gitops-reverser gate: the sidecar gives no answer: /,
    );
    // Three failures, and Argo CD renders this commit no more for an hour.
    await untilFrozen('hasty');
    sidecar = await world.start(flags);
    const { status } = await untilApplication(
      world.cluster,
      'hasty',
      'is compared again',
      (one) => one.status?.sync?.revision === wanted && (one.status.conditions ?? []).length === 0,
    );
    assert.equal(status?.sync?.status, 'OutOfSync');
    assert.ok(existsSync(join(shared, 'commits', wanted)));
  });

  async function untilFrozen(name: string): Promise<void> {
    await until(
      `${name} is frozen`,
      async () => {
        await refresh(name);
        const { status } = await readApplication(world.cluster, name);
        return status?.conditions?.some(({ message }) => message.includes('(cached)'));
      },
      { timeoutMs: 120_000 },
    );
  }
});

function plugin(name: string, [command, ...args]: readonly string[]): Plugin {
  const config = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ConfigManagementPlugin',
    metadata: { name },
    spec: { generate: { command: [command], args } },
  };
  return { name, config: JSON.stringify(config) };
}
