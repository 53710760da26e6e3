/** What people see of a GitTarget and its GitBranch on a real API server, what they can ask for, and what a restart leaves. */
import assert from 'node:assert/strict';
import { refuse } from '../../src/core/refusal.ts';
import type { GitServer } from '../cluster/git-server.ts';
import { until } from '../cluster/wait.ts';
import { doneFlush, quietBranch } from './recording-mirror.ts';
import type { Observed, Running } from './running.ts';
import { gitProvider, gitTarget, kubeProvider } from './samples.ts';
import { startScene, stopScene } from './scene.ts';

const requestedAt = 'reconcile.configbutler.ai/requestedAt';
const flushRequestedAt = 'reconcile.configbutler.ai/flushRequestedAt';

describe('the status of a GitTarget on a real API server', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this));
    await running.apply(kubeProvider('default'), gitProvider('git', git.url('shop')));
  });
  after(() => stopScene({ git, running }));

  function message(object: Observed, type = 'Ready'): string {
    return object.status.conditions?.find((condition) => condition.type === type)?.message ?? '';
  }

  async function started(name: string, path: string, spec: object = {}): Promise<void> {
    await running.apply(gitTarget(name, path, spec));
    await running.condition('gittarget', name, 'Ready=True/Succeeded');
  }

  /** Waits until the controllers have looked at what `change` did. */
  async function lookedAt(kind: string, change: () => unknown): Promise<void> {
    const before = await running.reconciles(kind);
    await change();
    await until(`a look at a ${kind}`, async () => (await running.reconciles(kind)) > before);
  }

  describe('tells people', () => {
    before(() => started('told', 'told'));

    it('nothing twice: an observation that changes nothing is no write', async () => {
      await lookedAt('GitBranch', () => running.mirror.change('shop/told', {}));
      const before = running.statusWrites();
      for (let round = 0; round < 4; round += 1) {
        await lookedAt('GitTarget', () => running.mirror.change('shop/told', {}));
      }
      await lookedAt('GitTarget', () =>
        running.annotate('gittarget', 'told', 'example.com/note', 'nothing to us'),
      );
      assert.equal(running.statusWrites(), before);
    });

    it('the generation a status speaks of', async () => {
      const before = await running.get('gittarget', 'told');
      await running.kubectl(
        'patch',
        'gittarget',
        'told',
        '-n',
        'shop',
        '--type=merge',
        '-p',
        '{"spec":{"prune":{"mode":"Always"}}}',
      );
      const after = await until('the new generation', async () => {
        const target = await running.get('gittarget', 'told');
        return target.status.observedGeneration === before.metadata.generation + 1 ? target : undefined;
      });
      assert.equal(after.metadata.generation, after.status.observedGeneration);
      await until('the workers to know', () => running.mirror.spec('shop/told')?.prune === 'Always');
    });

    it('a status decided on an old state never, but decides it anew', async () => {
      let raced = 0;
      running.setBefore(async ({ method, path }) => {
        if (method !== 'PATCH' || !path.includes('/gittargets/told/status') || raced > 0) return;
        raced += 1;
        await running.annotate('gittarget', 'told', 'example.com/raced', 'yes');
      });
      const refused = [refuse('NotEditable', 'an anchor is in the way')];
      running.mirror.change('shop/told', { refused });
      await until('the refusal in the status', async () =>
        /an anchor is in the way/.test(message(await running.get('gittarget', 'told'))),
      );
      running.setBefore(undefined);
      assert.equal(raced, 1);
      const { body } = await running.metrics.text();
      assert.match(body, /status_writes_total\{kind="GitTarget",outcome="conflict"\} 1$/m);
    });

    it('a suspension, which the workers carry out', async () => {
      await running.kubectl(
        'patch',
        'gittarget',
        'told',
        '-n',
        'shop',
        '--type=merge',
        '-p',
        '{"spec":{"suspend":true}}',
      );
      await running.condition('gittarget', 'told', 'Ready=True/Suspended');
      assert.equal(running.mirror.spec('shop/told')?.suspend, true);
      await running.kubectl(
        'patch',
        'gittarget',
        'told',
        '-n',
        'shop',
        '--type=merge',
        '-p',
        '{"spec":{"suspend":false}}',
      );
      await running.condition('gittarget', 'told', 'Ready=True/Succeeded');
    });

    it('the events of the workers', async () => {
      running.mirror.emit({
        target: 'shop/told',
        type: 'Warning',
        reason: 'NotEditable',
        message: 'ConfigMap/shop/rates',
      });
      await until('the Event', async () => (await running.events('told')).includes('Warning NotEditable'));
    });
  });

  describe('on request', () => {
    before(async () => {
      await running.apply(gitProvider('asking', git.url('shop')));
      await started('asked', 'asked', { gitProviderRef: { name: 'asking' } });
    });

    it('takes a new snapshot', async () => {
      await running.annotate('gittarget', 'asked', requestedAt, 'now');
      await until('the workers to be asked', () => running.mirror.spec('shop/asked')?.resync === 'now');
      await until(
        'the answer',
        async () => (await running.get('gittarget', 'asked')).status.lastHandledReconcileAt === 'now',
      );
    });

    it('flushes, and says that it is handled only afterwards', async () => {
      const flush = Promise.withResolvers<typeof doneFlush>();
      running.mirror.flushAnswer = () => flush.promise;
      await running.annotate('gittarget', 'asked', flushRequestedAt, 'first');
      await until('the flush', () => running.mirror.flushed.length === 1);
      await lookedAt('GitTarget', () => running.mirror.change('shop/asked', {}));
      assert.equal((await running.get('gittarget', 'asked')).status.lastHandledFlushAt, undefined);
      const commit = 'b'.repeat(40);
      running.mirror.seen.set('shop/asked', {
        branch: { ...quietBranch, tip: commit, lastPushedCommit: commit, verifiedBy: 'Push' },
      });
      flush.resolve({ ...doneFlush, tip: commit, published: [{ target: 'shop/asked', commit }] });
      await until(
        'the answer',
        async () => (await running.get('gittarget', 'asked')).status.lastHandledFlushAt === 'first',
      );
      const { lastFlush } = (await running.get('gittarget', 'asked')).status;
      assert.deepEqual(lastFlush, { outcome: 'Done', message: 'published bbbbbbbbbbbb' });
      await until('the Event', async () => (await running.events('asked')).includes('Normal FlushDone'));
      const branch = await running.get('gitbranch', 'asking-main');
      assert.equal(branch.status.lastPushedCommit, commit);
      assert.equal(running.mirror.flushed.length, 1);
    });
  });

  describe('and its GitBranch', () => {
    it('is made once per branch, owned by its GitProvider', async () => {
      await running.apply(gitProvider('brief', git.url('shop')));
      await running.apply(
        gitTarget('briefly', 'briefly', { gitProviderRef: { name: 'brief' }, branch: 'env/prod' }),
      );
      const branch = await running.condition('gitbranch', 'brief-env-prod', 'Ready=True/Succeeded');
      assert.equal(branch.status.gitTargetCount, 1);
      const { uid } = (await running.get('gitprovider', 'brief')).metadata;
      assert.deepEqual(branch.metadata.ownerReferences, [
        { apiVersion: 'configbutler.ai/v1alpha3', kind: 'GitProvider', name: 'brief', uid },
      ]);
      await running.remove('gittarget', 'briefly', '-n', 'shop');
      await running.condition('gitbranch', 'brief-env-prod', 'Ready=True/NotReferenced');
    });

    it('writes what is pushed promptly, and what is only seen at most once a minute', async () => {
      await running.apply(gitProvider('paced', git.url('shop')));
      await started('paced', 'paced', { gitProviderRef: { name: 'paced' }, branch: 'env/paced' });
      await running.condition('gitbranch', 'paced-env-paced', 'Ready=True/Succeeded');
      await lookedAt('GitBranch', () =>
        running.mirror.change('shop/paced', {
          branch: { ...quietBranch, tip: 'c'.repeat(40), pendingWrites: 2 },
        }),
      );
      const held = await running.get('gitbranch', 'paced-env-paced');
      assert.deepEqual([held.status.commit, held.status.pendingWrites], ['a'.repeat(40), 0]);
      running.mirror.change('shop/paced', {
        branch: { ...quietBranch, tip: 'd'.repeat(40), lastPushedCommit: 'd'.repeat(40) },
      });
      const pushed = await until('the pushed commit', async () => {
        const branch = await running.get('gitbranch', 'paced-env-paced');
        return branch.status.lastPushedCommit === 'd'.repeat(40) ? branch : undefined;
      });
      assert.equal(pushed.status.commit, 'd'.repeat(40));
      await until('a failure at once', async () => {
        running.mirror.change('shop/paced', {
          branch: { ...quietBranch, failure: { reason: 'PushRefused', message: 'protected', since: 0 } },
        });
        return await running.condition('gitbranch', 'paced-env-paced', 'Stalled=True/PushRefused');
      });
      const target = await running.condition('gittarget', 'paced', 'Stalled=True/PushRefused');
      assert.match(message(target), /PushRefused: protected/);
    });

    it('keeps a halt until the GitBranch is annotated', async () => {
      await running.apply(gitProvider('halted', git.url('shop')));
      await started('halted', 'halted', { gitProviderRef: { name: 'halted' }, branch: 'env/halted' });
      running.mirror.change('shop/halted', {
        branch: { ...quietBranch, tip: undefined, halt: 'BranchGone' },
      });
      const branch = await running.condition('gitbranch', 'halted-env-halted', 'Stalled=True/BranchGone');
      assert.match(message(branch), /reconcile\.configbutler\.ai\/requestedAt/);
      await running.condition('gittarget', 'halted', 'Stalled=True/BranchGone');
      assert.equal(running.mirror.spec('shop/halted')?.acknowledged, '');
      await running.annotate('gitbranch', 'halted-env-halted', requestedAt, 'go on');
      await until(
        'the workers to be told',
        () => running.mirror.spec('shop/halted')?.acknowledged === 'go on',
      );
      running.mirror.change('shop/halted', { branch: { ...quietBranch, tip: null } });
      await running.condition('gitbranch', 'halted-env-halted', 'Ready=True/Succeeded');
      await until(
        'the answer',
        async () =>
          (await running.get('gitbranch', 'halted-env-halted')).status.lastHandledReconcileAt === 'go on',
      );
    });

    it('is refused as a second one of the same branch', async () => {
      const twin = {
        apiVersion: 'configbutler.ai/v1alpha3',
        kind: 'GitBranch',
        metadata: { name: 'second', namespace: 'shop' },
      };
      await running.apply({ ...twin, spec: { gitProviderRef: { name: 'git' }, branch: 'main' } });
      await running.condition('gitbranch', 'second', 'Stalled=True/Duplicate');
      await running.remove('gitbranch', 'second', '-n', 'shop');
    });

    it('can be named instead of provider and branch', async () => {
      const named = {
        apiVersion: 'configbutler.ai/v1alpha3',
        kind: 'GitBranch',
        metadata: { name: 'by-hand', namespace: 'shop' },
      };
      const { gitProviderRef: _provider, branch: _branch, ...spec } = gitTarget('by-hand', 'by-hand').spec;
      await running.apply({
        ...gitTarget('by-hand', 'by-hand'),
        spec: { ...spec, gitBranchRef: { name: 'by-hand' } },
      });
      await running.condition('gittarget', 'by-hand', 'Validated=False/GitBranchNotFound');
      await running.apply({ ...named, spec: { gitProviderRef: { name: 'git' }, branch: 'env/by-hand' } });
      await running.condition('gittarget', 'by-hand', 'Ready=True/Succeeded');
      assert.equal(running.mirror.spec('shop/by-hand')?.branch, 'env/by-hand');
    });
  });

  describe('and a restart', () => {
    it('says nothing that it did not say before', async () => {
      const before = running.requests.length;
      await running.restart();
      await until('the controllers to be ready', () => running.controllers.ready());
      const targets = (await running.reconciles('GitTarget')) + 40;
      await until('all targets to be looked at again', async () => {
        running.mirror.change('shop/asked', {});
        return (
          running.mirror.spec('shop/asked') !== undefined &&
          (await running.reconciles('GitTarget')) >= targets
        );
      });
      const writes = running.requests.slice(before).filter(({ method }) => method !== 'GET');
      // A GitProvider dates its check; everything else is as it was.
      const others = writes.filter(({ path }) => !path.includes('/gitproviders/'));
      assert.deepEqual(
        others.map(({ method, path, body }) => `${method} ${path} ${body}`),
        [],
      );
    });

    it('loses nothing when the controllers start anew', async () => {
      const pushed = (await running.get('gitbranch', 'asking-main')).status.lastPushedCommit;
      const before = running.mirror.spec('shop/asked');
      await running.restart();
      const after = await until('the workers to be asked again', () => {
        const spec = running.mirror.spec('shop/asked');
        return running.controllers.ready() && spec !== before ? spec : undefined;
      });
      assert.equal(after.lastPushedCommit, pushed);
      assert.deepEqual(
        { ...after, access: '', cluster: '' },
        { ...before, access: '', cluster: '', lastPushedCommit: pushed },
      );
      assert.equal(running.mirror.flushed.length, 1);
    });
  });
});
