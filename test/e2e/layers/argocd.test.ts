/**
 * The same overlay beside the real Argo CD: each live edit lands in its layer, a sync applies the commit, and the Application is
 * Synced at it.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argocdConfig } from '../../../src/api/lua.ts';
import { type Argocd, startArgocd } from '../../cluster/argocd.ts';
import { application, untilApplication } from '../../cluster/argocd-objects.ts';
import { part, partsFolder } from '../../cluster/parts.ts';
import { log, readFile, tip } from '../../cluster/repository.ts';
import { syncGateFile } from '../argocd/guarded.ts';
import { live } from '../deeds.ts';
import { flush, type Moved, moved } from '../shop.ts';
import { mirror, startWorld, type World } from '../sidecar.ts';
import { repository } from './shop.ts';

const name = 'layers';

describe('an overlay beside the real Argo CD', function () {
  this.timeout(300_000);
  let world: World;
  let argocd: Argocd;
  let bare = '';

  before(async () => {
    world = await startWorld();
    argocd = await startArgocd(world.cluster, {
      config: argocdConfig(),
      repoServerEnv: { PATH: `${partsFolder('tools')}:${verifier()}:${process.env.PATH}` },
    });
    const appliers = JSON.stringify({ spec: { allowCrossNamespace: { appliers: true } } });
    await world.kubectl('patch', 'kubeprovider', 'default', '--type=merge', '-p', appliers);
    await world.start(['--kustomize', part('kustomize'), '--git-timeout', '10s', '--log-level', 'debug']);
    const files = repository(name);
    bare = await mirror(world, {
      name,
      path: 'apps/prod',
      files: {
        ...files,
        'apps/prod/gate.yaml': syncGateFile,
        'apps/prod/kustomization.yaml': (files['apps/prod/kustomization.yaml'] ?? '').replace(
          '  - hosts.yaml\n',
          '  - hosts.yaml\n  - gate.yaml\n',
        ),
      },
      spec: { commit: { window: { idleTimeout: '30s', maxDuration: '1m' } } },
    });
    await world.apply([application({ name, repoURL: world.git.url(name), path: 'apps/prod' })]);
    await synced((await tip(bare, 'main')) ?? '');
  });
  after(async () => {
    await argocd?.stop();
    await world?.stop();
  });

  /** What Argo CD asks whether a commit is signed; here none is. */
  function verifier(): string {
    const folder = join(world.folder.path, 'bin');
    mkdirSync(folder);
    writeFileSync(join(folder, 'git-verify-wrapper.sh'), '#!/bin/sh\nexit 0\n');
    chmodSync(join(folder, 'git-verify-wrapper.sh'), 0o755);
    return folder;
  }

  /** Syncs as a person does, and waits until nothing differs at the commit. */
  async function synced(commit: string): Promise<void> {
    const { code, stdout, stderr } = await argocd.cli('app', 'sync', name, '--prune', '--timeout', '90');
    assert.equal(code, 0, `${stderr}\n${stdout}`);
    await untilApplication(world.cluster, name, `is synced at ${commit}`, ({ status }) => {
      return status?.sync?.status === 'Synced' && status.sync.revision === commit;
    });
  }

  async function landed(act: () => Promise<unknown>): Promise<Moved> {
    const made = await moved(world, name, bare, act);
    await synced(made.after);
    return made;
  }

  const patch = (kind: string, object: string, value: object) =>
    world.kubectl('patch', kind, object, '-n', name, '--type=merge', '-p', JSON.stringify(value));
  const settings = async () => {
    const path = '.spec.template.spec.containers[0].envFrom[0].configMapRef.name';
    return await live(world, name, 'deployment/web', path);
  };

  it('is not touched by adopting it', async () => {
    await flush(world, name);
    assert.equal((await log(bare, 'main')).length, 1);
  });

  it('takes replicas and images in their entries', async () => {
    const scaled = await landed(() => world.kubectl('scale', 'deployment/web', '-n', name, '--replicas=4'));
    assert.deepEqual(scaled.lines, ['-    count: 2', '+    count: 4']);
    const image = await landed(() =>
      world.kubectl('set', 'image', 'deployment/web', 'web=registry.example/web:1.1', '-n', name),
    );
    assert.deepEqual(image.lines, ['-    newTag: "1.0"', '+    newTag: "1.1"']);
    assert.equal(await live(world, name, 'deployment/web', '.spec.replicas'), '4');
  });

  it('takes a value of a generated ConfigMap in its literal', async () => {
    const old = await settings();
    const made = await landed(() => patch('configmap', old, { data: { LEVEL: 'debug' } }));
    assert.deepEqual(made.lines, ['-      - LEVEL=info', '+      - LEVEL=debug']);
    const now = await settings();
    assert.notEqual(now, old);
    assert.doesNotMatch(await world.kubectl('get', 'configmaps', '-n', name, '-o', 'name'), new RegExp(old));
    await flush(world, name);
    assert.equal(await tip(bare, 'main'), made.after);
  });

  it('carries a field of the base in a patch file, and a text that looks like a variable as it is', async () => {
    const made = await landed(() => patch('deployment', 'web', { spec: { revisionHistoryLimit: 3 } }));
    assert.deepEqual(made.files, ['apps/prod/deployment-web-edits.yaml', 'apps/prod/kustomization.yaml']);
    // Nobody fills anything in here.
    const text = await landed(() => patch('configmap', 'hosts', { data: { host: 'web.other.test' } }));
    assert.match(
      (await readFile(bare, text.after, 'apps/prod/hosts.yaml')) ?? '',
      /host: web\.other\.test\n/,
    );
  });

  it('takes a new object beside the kustomization, and a deleted one of the base away', async () => {
    const created = await landed(() =>
      world.kubectl('create', 'configmap', 'extra', '-n', name, '--from-literal=a=b'),
    );
    assert.deepEqual(created.files, ['apps/prod/extra.yaml', 'apps/prod/kustomization.yaml']);
    const deleted = await landed(() => world.kubectl('delete', 'deployment', 'web', '-n', name));
    assert.ok(deleted.files.includes('apps/prod/deployment-web-delete.yaml'), deleted.files.join());
    assert.match(await world.kubectl('get', 'deployments', '-n', name, '-o', 'name'), /^$/);
  });
});
