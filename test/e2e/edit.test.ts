import assert from 'node:assert/strict';
import { part } from '../cluster/parts.ts';
import { commitTo, log, readFile, tip } from '../cluster/repository.ts';
import { runOk } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';
import { configMap, deployment, flush, type Moved, moved, movedSince, patience } from './shop.ts';
import { mirror, type Sidecar, startWorld, type World } from './sidecar.ts';

describe('an edit of a live object becomes exactly its lines in Git', function () {
  this.timeout(180_000);
  let world: World;
  let sidecar: Sidecar;
  let shop: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
    const names = [
      'editor',
      'image',
      'scale',
      'patch',
      'goes',
      'marks',
      'restart',
      'apply',
      'status',
      'flux',
      'argo',
    ];
    const files = Object.fromEntries(names.map((name) => [`apps/shop/${name}.yaml`, deployment(name)]));
    const live = names.map((name) => deployment(name)).join('---\n');
    shop = await mirror(world, { name: 'shop', files, live });
    await flush(world, 'shop');
  });
  after(() => world?.stop());

  const inShop = (action: () => Promise<unknown>): Promise<Moved> => moved(world, 'shop', shop, action);
  const kubectl = (...args: string[]) => world.kubectl(...args, '-n', 'shop');

  it('commits nothing at first, when Git and the cluster agree', async () => {
    const history = await log(shop, 'main');
    assert.equal(history.length, 1, JSON.stringify(history, null, 1));
  });

  it('kubectl edit: one line, with its comment and quotes', async () => {
    const { lines, files, commits } = await inShop(() =>
      runOk(part('kubectl'), ['edit', 'deployment', 'editor', '-n', 'shop'], {
        env: {
          ...process.env,
          KUBECONFIG: world.cluster.kubeconfig,
          KUBE_EDITOR: "sed -i -e 's/nginx:1.25/nginx:1.27/' -e 's/value: fast/value: slow/'",
        },
      }),
    );
    assert.deepEqual(lines, [
      '-          image: "nginx:1.25"  # pinned',
      '+          image: "nginx:1.27"  # pinned',
      "-          - {name: MODE, value: 'fast'}",
      "+          - {name: MODE, value: 'slow'}",
    ]);
    assert.deepEqual(files, ['apps/shop/editor.yaml']);
    assert.equal(commits.length, 1);
    assert.match(commits[0]?.body ?? '', /^Edited-With: kubectl-edit$/m);
  });

  it('kubectl set image and kubectl scale: one line each, one commit each', async () => {
    const image = await inShop(() => kubectl('set', 'image', 'deployment/image', 'image=nginx:1.26'));
    assert.deepEqual(image.lines, [
      '-          image: "nginx:1.25"  # pinned',
      '+          image: "nginx:1.26"  # pinned',
    ]);
    const scale = await inShop(() => kubectl('scale', 'deployment', 'scale', '--replicas=7'));
    assert.deepEqual(scale.lines, [
      '-  replicas: 2  # as many as the team agreed on',
      '+  replicas: 7  # as many as the team agreed on',
    ]);
    assert.deepEqual([image.commits.length, scale.commits.length], [1, 1]);
  });

  it('kubectl patch: a new field joins the document in its style', async () => {
    const patch = '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":5}}}}';
    const { lines } = await inShop(() => kubectl('patch', 'deployment', 'patch', '-p', patch));
    assert.deepEqual(lines, ['+      terminationGracePeriodSeconds: 5']);
  });

  it('a label, an annotation, and their removal', async () => {
    const set = await inShop(async () => {
      await kubectl('label', 'deployment', 'marks', 'tier=front');
      await kubectl('annotate', 'deployment', 'marks', 'example.com/owner=Team Blue');
    });
    assert.deepEqual(set.lines.toSorted(), [
      '+    example.com/owner: Team Blue',
      '+    tier: front',
      '+  annotations:',
      '+  labels:',
    ]);
    const unset = await inShop(async () => {
      await kubectl('label', 'deployment', 'marks', 'tier-');
      await kubectl('annotate', 'deployment', 'marks', 'example.com/owner-');
    });
    assert.deepEqual(unset.lines.toSorted(), set.lines.map((line) => line.replace('+', '-')).toSorted());
    assert.equal(await readFile(shop, 'main', 'apps/shop/marks.yaml'), deployment('marks'));
  });

  it('kubectl rollout restart: only the mark in the pod template, so that no second restart follows', async () => {
    const { lines } = await inShop(() => kubectl('rollout', 'restart', 'deployment', 'restart'));
    assert.equal(lines.length, 2, lines.join('\n'));
    assert.match(lines.join('\n'), /kubectl\.kubernetes\.io\/restartedAt/);
    const before = await kubectl('get', 'deployment', 'restart', '-o', 'jsonpath={.spec.template}');
    const written = await readFile(shop, 'main', 'apps/shop/restart.yaml');
    const again = await inShop(() => world.apply(written ?? '', ['-n', 'shop']));
    assert.equal(await kubectl('get', 'deployment', 'restart', '-o', 'jsonpath={.spec.template}'), before);
    assert.deepEqual(again.lines, []);
  });

  it('a new object gets a new file, without what the server added', async () => {
    const { lines, files } = await inShop(() =>
      kubectl('create', 'configmap', 'rates', '--from-literal=eur=1.08'),
    );
    assert.deepEqual(files, ['apps/shop/shop/configmaps/rates.yaml']);
    assert.deepEqual(lines, [
      '+apiVersion: v1',
      '+kind: ConfigMap',
      '+metadata:',
      '+  name: rates',
      '+  namespace: shop',
      '+data:',
      '+  eur: "1.08"',
    ]);
  });

  it('a deleted object takes its file along', async () => {
    const { files, commits } = await inShop(() => kubectl('delete', 'deployment', 'goes'));
    assert.deepEqual(files, ['apps/shop/goes.yaml']);
    assert.equal(await readFile(shop, 'main', 'apps/shop/goes.yaml'), undefined);
    assert.equal(commits.length, 1);
  });

  it('commits nothing for status, for what Git says already, and for the API server’s own objects', async () => {
    const { commits } = await inShop(async () => {
      const conditions = [{ type: 'Probed', status: 'True' }];
      const patch = JSON.stringify({ status: { conditions } });
      await kubectl('patch', 'deployment', 'status', '--subresource=status', '--type=merge', '-p', patch);
      await world.apply((await readFile(shop, 'main', 'apps/shop/apply.yaml')) ?? '', ['-n', 'shop']);
      await kubectl('create', 'configmap', 'kube-root-ca.crt', '--from-literal=ca.crt=x');
    });
    assert.deepEqual(commits, []);
    assert.equal(sidecar.log().includes('"level":"error"'), false, sidecar.log());
  });

  for (const [applier, name, manager, marks] of [
    [
      'Flux',
      'flux',
      'kustomize-controller',
      '  labels:\n    kustomize.toolkit.fluxcd.io/name: apps\n    kustomize.toolkit.fluxcd.io/namespace: flux-system\n',
    ],
    [
      'Argo CD',
      'argo',
      'argocd-controller',
      '  annotations:\n    argocd.argoproj.io/tracking-id: apps:apps/Deployment:shop/argo\n',
    ],
  ] as const) {
    it(`what ${applier} applies from Git is an echo, even when Git has moved on meanwhile`, async () => {
      const applied = (replicas: number) =>
        deployment(name, { replicas, image: 'nginx:1.25', labels: marks });
      const apply = (replicas: number) =>
        world.apply(applied(replicas), [
          ...['-n', 'shop', '--server-side', '--force-conflicts', `--field-manager=${manager}`],
        ]);
      await inShop(() => apply(2));
      const older = await commitTo(shop, 'main', {
        [`apps/shop/${name}.yaml`]: deployment(name, { replicas: 8 }),
      });
      const newer = await commitTo(shop, 'main', {
        [`apps/shop/${name}.yaml`]: deployment(name, { replicas: 9 }),
      });
      await apply(8);
      await flush(world, 'shop');
      assert.equal(await tip(shop, 'main'), newer, `nothing may follow ${older}`);
      await apply(9);
      await flush(world, 'shop');
      assert.deepEqual((await movedSince(shop, newer)).lines, []);
    });
  }

  it('a commit window of two seconds makes one commit of three edits', async () => {
    const name = 'window';
    const spec = { commit: { window: { idleTimeout: '2s', maxDuration: '1m' } } };
    const files = { 'apps/shop/a.yaml': configMap('a', { k: '1' }) };
    const bareDir = await mirror(world, { name, spec, files, live: configMap('a', { k: '1' }) });
    await flush(world, name);
    const before = (await tip(bareDir, 'main')) ?? '';
    for (const value of ['2', '3', '4']) {
      await world.kubectl('patch', 'configmap', 'a', '-n', name, '-p', `{"data":{"k":"${value}"}}`);
    }
    await until('the window closed', async () => (await tip(bareDir, 'main')) !== before, patience);
    await flush(world, name);
    const { lines, commits } = await movedSince(bareDir, before);
    assert.deepEqual(lines, ['-  k: "1"', '+  k: "4"']);
    assert.equal(commits.length, 1);
  });
});
