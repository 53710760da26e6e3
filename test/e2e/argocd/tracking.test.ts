/** How Argo CD marks what it applies is a setting of its own; what a person did is told from what it did with each. */
import assert from 'node:assert/strict';
import { commitTo, log, tip } from '../../cluster/repository.ts';
import { until } from '../../cluster/wait.ts';
import { deedsIn } from '../deeds.ts';
import { annotate, configMap, deployment, moved, patience } from '../shop.ts';
import { type ArgocdWorld, gateSays, infoOf, startArgocdWorld, sync, synced, syncFolder } from './guarded.ts';
import { letPausesGoOn, pauseFile } from './paused.ts';

const files = {
  'apps/shop/web.yaml': deployment('web'),
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
};

const settings: readonly { readonly method: string; readonly label: string; readonly key?: string }[] = [
  { method: 'label', label: 'app.kubernetes.io/instance' },
  { method: 'label', label: 'example.org/application', key: 'example.org/application' },
  { method: 'annotation+label', label: 'app.kubernetes.io/instance' },
];

for (const { method, label, key } of settings) {
  describe(`beside an Argo CD that tracks by ${method} (${label})`, function () {
    this.timeout(400_000);
    let world: ArgocdWorld;

    before(async () => {
      world = await startArgocdWorld({
        'application.resourceTrackingMethod': method,
        ...(key !== undefined && { 'application.instanceLabelKey': key }),
      });
    });
    after(() => world?.stop());

    const { live, rate, inGit } = deedsIn(() => world);
    const labelOf = (name: string, object: string) =>
      live(name, object, `.metadata.labels.${label.replaceAll('.', '\\.')}`);

    it('what it applies is no edit, its label is not written, and what it has not applied yet stays in Git', async () => {
      const bareDir = await syncFolder(world, { name: 'shop', files, spec: { prune: { mode: 'Always' } } });
      assert.equal(await labelOf('shop', 'configmap/rates'), 'shop', 'Argo CD has set its label');
      await commitTo(bareDir, 'main', {
        'apps/shop/rates.yaml': configMap('rates', { eur: '5', usd: '1' }),
        'apps/shop/extra.yaml': configMap('extra', { a: '1' }),
      });
      const foreign = await tip(bareDir, 'main');
      // A new snapshot that a person asks for: of a mirror it would win as a whole, and sweep.
      const { commits } = await moved(world, 'shop', bareDir, () =>
        annotate(world, 'gittarget', 'shop', 'requestedAt'),
      );
      assert.deepEqual(commits, []);
      await sync(world, 'shop');
      await synced(world, 'shop', foreign);
      assert.equal(await rate('shop'), '5');
      assert.equal(await labelOf('shop', 'configmap/extra'), 'shop');
      const edited = await moved(world, 'shop', bareDir, () =>
        world.kubectl('patch', 'configmap', 'extra', '-n', 'shop', '-p', '{"data":{"a":"2"}}'),
      );
      assert.deepEqual(edited.lines, ['-  a: "1"', '+  a: "2"']);
      assert.equal((await log(bareDir, 'main')).length, 3, 'ours is one');
    });

    it('a copy that a person made with the label of it is written without the label', async () => {
      const bareDir = await syncFolder(world, { name: 'copy', files });
      const copy = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'copied', namespace: 'copy', labels: { [label]: 'copy', team: 'shop' } },
        data: { a: '1' },
      };
      const { commits, lines } = await moved(world, 'copy', bareDir, () => world.apply([copy]));
      assert.equal(commits.length, 1);
      assert.ok(lines.includes('+    team: shop'), lines.join('\n'));
      assert.ok(!lines.some((line) => line.includes(label)), lines.join('\n'));
    });

    it('edits that a sync wrote over are told from what it brought, and restored', async () => {
      await world.kubectl('create', 'namespace', 'over');
      const own = letPausesGoOn(world, 'over');
      try {
        const bareDir = await syncFolder(world, {
          name: 'over',
          files: { ...files, 'apps/shop/pause.yaml': pauseFile },
        });
        let edited = false;
        own.between(async () => {
          edited = true;
          await world.kubectl('patch', 'configmap', 'rates', '-n', 'over', '-p', '{"data":{"eur":"9"}}');
        });
        await world.argocd.cli('app', 'sync', 'over', '--async');
        await until(
          'the sync was done again for what it had overwritten',
          async () =>
            edited &&
            (await rate('over')) === '9' &&
            /wrote over live edits/.test(await infoOf(world, 'over')),
          { timeoutMs: 120_000, intervalMs: 200 },
        );
        await synced(world, 'over', await tip(bareDir, 'main'));
        assert.match(await inGit(bareDir, 'rates.yaml'), /eur: "9"/);
        assert.equal((await log(bareDir, 'main')).length, 2, 'nothing of the sync was committed');
      } finally {
        await own.stop();
      }
    });

    it('the gate of each sync is answered', async () => {
      await until(
        'the gate is open',
        async () => (await gateSays(world, 'shop', 'Open')).phase === 'Open',
        patience,
      );
    });
  });
}
