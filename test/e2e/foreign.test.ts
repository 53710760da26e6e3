import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { served } from '../cluster/crds.ts';
import { commitTo, readFile, tip } from '../cluster/repository.ts';
import { crdFolders } from '../core/schema/generate-crds.ts';
import { deployment, events, flush, moved, movedSince, resync } from './shop.ts';
import { mirror, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const rules = [{ apiGroups: ['apps'], resources: ['deployments'] }];
const path = 'apps/shop/web.yaml';
const marks =
  '  labels:\n    kustomize.toolkit.fluxcd.io/name: apps\n    kustomize.toolkit.fluxcd.io/namespace: flux-system\n';

describe('a commit that no applier has applied yet', function () {
  this.timeout(300_000);
  let world: World;
  let sidecar: Sidecar;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
  });
  after(() => world?.stop());

  /** Applies a document the way Flux does: server-side, with its marks. */
  async function fluxApplies(namespace: string, document: string): Promise<void> {
    const marked = document.replace('everybody knows it\n', `everybody knows it\n${marks}`);
    const flux = ['--server-side', '--force-conflicts', '--field-manager=kustomize-controller'];
    await world.apply(marked, ['-n', namespace, ...flux]);
  }

  async function restart({ fresh = false } = {}): Promise<void> {
    await sidecar.kill('SIGTERM');
    if (fresh) await rm(join(world.folder.path, 'data'), { recursive: true });
    sidecar = await world.start();
  }

  describe('on a folder whose state is known', () => {
    const name = 'known';
    let bareDir: string;
    let foreign: string;

    before(async () => {
      await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
      await fluxApplies(name, deployment('web'));
      bareDir = await mirror(world, { name, rules, files: { [path]: deployment('web') } });
      await flush(world, name);
      foreign = await commitTo(bareDir, 'main', { [path]: deployment('web', { image: 'nginx:1.26' }) });
    });

    it('survives a flush, a restart and a resync', async () => {
      await flush(world, name);
      await restart();
      await ready(world, name, 60_000);
      await flush(world, name);
      await resync(world, sidecar, name, 1);
      assert.equal(await tip(bareDir, 'main'), foreign);
    });

    it('survives an edit of another field of the same object', async () => {
      const { lines } = await moved(world, name, bareDir, () =>
        world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=4'),
      );
      assert.deepEqual(lines, [
        '-  replicas: 2  # as many as the team agreed on',
        '+  replicas: 4  # as many as the team agreed on',
      ]);
      assert.match((await readFile(bareDir, 'main', path)) ?? '', /image: "nginx:1\.26"/);
    });

    it('is an echo when it is applied at last', async () => {
      const { commits } = await moved(world, name, bareDir, async () =>
        fluxApplies(name, (await readFile(bareDir, 'main', path)) ?? ''),
      );
      assert.deepEqual(commits, []);
    });

    it('loses a field that is edited live as well, and the commit and an Event name it', async () => {
      const lost = await commitTo(bareDir, 'main', {
        [path]: deployment('web', { image: 'nginx:1.28', replicas: 4 }),
      });
      const { lines, commits } = await moved(world, name, bareDir, () =>
        world.kubectl('set', 'image', 'deployment/web', '-n', name, 'web=nginx:1.30'),
      );
      assert.deepEqual(lines, [
        '-          image: "nginx:1.28"  # pinned',
        '+          image: "nginx:1.30"  # pinned',
      ]);
      const body = commits[0]?.body ?? '';
      assert.match(body, new RegExp(`^Overwrites .*image of ${lost.slice(0, 12)} in Deployment`, 'm'));
      const told = (await events(world, name)).join('\n');
      assert.match(told, new RegExp(lost.slice(0, 12)), told);
    });
  });

  describe('on a folder whose state is lost', () => {
    const name = 'lost';
    let bareDir: string;

    before(async function () {
      const folders = crdFolders();
      if (folders === undefined) {
        console.log(
          '      the CRDs of Flux are not in the Go module cache: run test/core/schema/generate-crds.ts',
        );
        this.skip();
      }
      const [sources, kustomizations] = folders;
      for (const crd of [
        `${sources}/source.toolkit.fluxcd.io_gitrepositories.yaml`,
        `${kustomizations}/kustomize.toolkit.fluxcd.io_kustomizations.yaml`,
      ]) {
        await world.kubectl('apply', '--server-side', '-f', crd);
        await served(world.cluster, 'the kinds of Flux', '-f', crd);
      }
      await world.apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      ]);
    });

    it('the revisions the applier names tell edits from what it has not applied', async () => {
      await fluxApplies(name, deployment('web'));
      await fluxApplies(name, deployment('gone'));
      bareDir = await mirror(
        world,
        { name, rules, files: { [path]: deployment('web'), 'apps/shop/gone.yaml': deployment('gone') } },
        { ready: false },
      );
      const applied = (await tip(bareDir, 'main')) ?? '';
      await world.apply([
        {
          apiVersion: 'source.toolkit.fluxcd.io/v1',
          kind: 'GitRepository',
          metadata: { name: 'apps', namespace: 'flux-system' },
          spec: { url: world.git.url(name), ref: { branch: 'main' }, interval: '1m' },
        },
        {
          apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
          kind: 'Kustomization',
          metadata: { name: 'apps', namespace: 'flux-system' },
          spec: {
            sourceRef: { kind: 'GitRepository', name: 'apps' },
            ...{ path: './apps/shop', interval: '10m', prune: true },
          },
        },
      ]);
      const revision = `main@sha1:${applied}`;
      const status = { lastAppliedRevision: revision, lastAttemptedRevision: revision };
      await world.kubectl(
        ...['patch', 'kustomization', 'apps', '-n', 'flux-system', '--subresource=status', '--type=merge'],
        ...['-p', JSON.stringify({ status })],
      );
      await ready(world, name, 60_000);
      await flush(world, name);
      await sidecar.kill('SIGTERM');
      await rm(join(world.folder.path, 'data'), { recursive: true });
      // While nobody looks: a commit that is not applied yet, and edits of people.
      const foreign = await commitTo(bareDir, 'main', {
        [path]: deployment('web', { image: 'nginx:1.26' }),
        'apps/shop/gone.yaml': null,
      });
      await world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=5');
      await world.kubectl('create', 'deployment', 'extra', '-n', name, '--image=nginx');
      sidecar = await world.start();
      await ready(world, name, 60_000);
      await flush(world, name);
      const { lines, files } = await movedSince(bareDir, foreign);
      assert.deepEqual(files, ['apps/shop/lost/apps/deployments/extra.yaml', path]);
      assert.deepEqual(
        lines.filter((line) => line.includes('agreed') || line.includes('nginx:')),
        [
          '-  replicas: 2  # as many as the team agreed on',
          '+  replicas: 5  # as many as the team agreed on',
        ],
      );
    });

    it('an applier that may not be read is unknown, which is not none', async () => {
      await world.kubectl('delete', 'kustomization', 'apps', '-n', 'flux-system');
      const foreign = await commitTo(bareDir, 'main', {
        [path]: deployment('web', { image: 'nginx:1.27', replicas: 5 }),
      });
      await restart({ fresh: true });
      await ready(world, name, 60_000);
      await flush(world, name);
      assert.deepEqual((await movedSince(bareDir, foreign)).lines, []);
      const { lines } = await moved(world, name, bareDir, () =>
        world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=6'),
      );
      assert.deepEqual(lines, [
        '-  replicas: 5  # as many as the team agreed on',
        '+  replicas: 6  # as many as the team agreed on',
      ]);
    });
  });

  it('in a mirror that nobody applies the live object wins once the state is lost', async () => {
    const name = 'nobody';
    const bareDir = await mirror(world, {
      ...{ name, rules, files: { [path]: deployment('web') }, live: deployment('web') },
    });
    await flush(world, name);
    const foreign = await commitTo(bareDir, 'main', { [path]: deployment('web', { image: 'nginx:1.26' }) });
    await restart();
    await ready(world, name, 60_000);
    await flush(world, name);
    assert.equal(await tip(bareDir, 'main'), foreign, 'with its state the target knows that nobody edited');
    await restart({ fresh: true });
    await ready(world, name, 60_000);
    await flush(world, name);
    assert.deepEqual((await movedSince(bareDir, foreign)).lines, [
      '-          image: "nginx:1.26"  # pinned',
      '+          image: "nginx:1.25"  # pinned',
    ]);
  });
});
