/** Edits of an overlay land in the layer that says the value, through the running process and the real kustomize. */
import assert from 'node:assert/strict';
import { part } from '../cluster/parts.ts';
import { diff, log, readFile, tip } from '../cluster/repository.ts';
import { runOk } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';
import { flush } from './shop.ts';
import { mirror, startWorld, type World } from './sidecar.ts';

const base = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: registry.example/web
`;

const overlay = `namespace: overlay
resources:
  - ../base
# The version that production runs.
images:
  - name: registry.example/web
    newTag: "1.0"
`;

describe('an overlay', function () {
  this.timeout(180_000);
  let world: World;
  let bare: string;

  before(async () => {
    world = await startWorld();
    await world.start(['--kustomize', part('kustomize')]);
    bare = await mirror(world, {
      name: 'overlay',
      path: 'apps/prod',
      files: {
        'apps/base/deployment.yaml': base,
        'apps/base/kustomization.yaml': 'resources:\n  - deployment.yaml\n',
        'apps/prod/kustomization.yaml': overlay,
      },
      live: base.replace('registry.example/web', 'registry.example/web:1.0'),
    });
  });
  after(async () => world?.stop());

  async function edited(act: () => Promise<unknown>): Promise<string> {
    const before = await tip(bare, 'main');
    await act();
    await until('a commit', async () => (await tip(bare, 'main')) !== before, { timeoutMs: 60_000 });
    return diff(bare, before ?? '', (await tip(bare, 'main')) ?? '');
  }

  it('was not touched by adopting it, and says which kustomization governs it', async () => {
    assert.equal(await readFile(bare, 'main', 'apps/prod/kustomization.yaml'), overlay);
    const path = 'jsonpath={.status.conditions[?(@.type=="LayoutResolved")].reason}';
    const reason = await world.kubectl('get', 'gittarget', 'overlay', '-n', 'overlay', '-o', path);
    assert.equal(reason, 'SingleKustomization');
  });

  it('takes a new image tag in its images entry, and leaves the base alone', async () => {
    const image = 'web=registry.example/web:1.1';
    const changed = await edited(() =>
      world.kubectl('set', 'image', 'deployment/web', image, '-n', 'overlay'),
    );
    const lines = changed.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
    assert.deepEqual(lines, ['-    newTag: "1.0"', '+    newTag: "1.1"']);
  });

  it('carries a field of the base in a patch of its own, and then builds what is live', async () => {
    const changed = await edited(() =>
      world.kubectl('scale', 'deployment/web', '--replicas=3', '-n', 'overlay'),
    );
    assert.doesNotMatch(changed, /apps\/base/);
    const folder = `${world.folder.path}/built`;
    await runOk('git', ['clone', '--quiet', bare, folder]);
    const built = await runOk(part('kustomize'), ['build', `${folder}/apps/prod`]);
    assert.match(built, /replicas: 3/);
    assert.match(built, /web:1\.1/);
  });

  it('takes hundreds of new objects at once, and lists each of them', async () => {
    const many = await mirror(world, {
      name: 'many',
      path: 'apps/prod',
      files: {
        'apps/base/deployment.yaml': base,
        'apps/base/kustomization.yaml': 'resources:\n  - deployment.yaml\n',
        'apps/prod/kustomization.yaml': overlay.replace('namespace: overlay', 'namespace: many'),
      },
      spec: { commit: { window: { idleTimeout: '30s', maxDuration: '1m' } } },
    });
    const names = Array.from({ length: 300 }, (_, at) => `settings-${1000 + at}`);
    await world.apply(
      names.map((name) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'many' },
        data: { level: 'info' },
      })),
    );
    await flush(world, 'many');
    const listed = (await readFile(many, 'main', 'apps/prod/kustomization.yaml')) ?? '';
    for (const name of names)
      assert.ok(listed.includes(`- ${name}.yaml\n`) || listed.includes(`- ./${name}.yaml\n`), name);
    const commits = await log(many, 'main');
    assert.ok(commits.length <= 10, `${commits.length} commits`);
    const folder = `${world.folder.path}/many`;
    await runOk('git', ['clone', '--quiet', many, folder]);
    const built = await runOk(part('kustomize'), ['build', `${folder}/apps/prod`]);
    assert.equal(built.match(/^kind: ConfigMap$/gm)?.length, 300);
  });
});
