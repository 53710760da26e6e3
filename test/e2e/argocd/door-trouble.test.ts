/** Syncs during which the sidecar cannot do what it has to: it is killed, or the remote refuses its push. */
import assert from 'node:assert/strict';
import { commitTo, log, tip } from '../../cluster/repository.ts';
import type { RunResult } from '../../cluster/run.ts';
import { until } from '../../cluster/wait.ts';
import { additions, applyIsOver, assertOnlyLiveLost, deedsIn } from '../deeds.ts';
import { configMap, deployment, metric, patience } from '../shop.ts';
import {
  type ArgocdWorld,
  appCommand,
  ended,
  gateSays,
  infoOf,
  readApplication,
  startArgocdWorld,
  sync,
  synced,
  syncFolder,
} from './guarded.ts';
import { letPausesGoOn, pauseFile } from './paused.ts';

const files = {
  'apps/shop/web.yaml': deployment('web'),
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
};
const long = { timeoutMs: 240_000, intervalMs: 200 };

describe('trouble during a sync of the real Argo CD', function () {
  this.timeout(500_000);
  let world: ArgocdWorld;

  before(async () => {
    world = await startArgocdWorld();
  });
  after(() => world?.stop());

  const { setRate, rate, inGit } = deedsIn(() => world);
  const startedAt = async (name: string) => {
    const { status } = await readApplication(world.cluster, name);
    return JSON.stringify([status?.operationState, status?.history?.length]);
  };

  const annotateApplication = (name: string, annotation: string) =>
    world.kubectl('annotate', 'application', name, '-n', 'argocd', annotation);
  const did = async (command: Promise<RunResult>) => {
    const { code, stdout, stderr } = await command;
    assert.equal(code, 0, `${stderr}\n${stdout}`);
  };

  /** A folder whose next sync waits, after its gate has opened, until `between` has run. */
  async function betweenAnswerAndApply(name: string, between: (bareDir: string) => Promise<unknown>) {
    await world.kubectl('create', 'namespace', name);
    const own = letPausesGoOn(world, name);
    try {
      const bareDir = await syncFolder(world, {
        name,
        files: { ...files, 'apps/shop/pause.yaml': pauseFile },
      });
      let done = false;
      own.between(async () => {
        await between(bareDir);
        done = true;
      });
      await world.argocd.cli('app', 'sync', name, '--async');
      await until('the apply goes on', async () => done, long);
      await until(
        'what the sync had overwritten is in Git and back',
        async () => (await rate(name)) === '9' && /wrote over live edits/.test(await infoOf(world, name)),
        long,
      );
      await synced(world, name, await tip(bareDir, 'main'));
      assert.match(await inGit(bareDir, 'rates.yaml'), /eur: "9"/);
      assert.equal((await log(bareDir, 'main')).length, 2, 'one commit of ours, none of the sync');
    } finally {
      await own.stop();
    }
  }

  it('an edit that a sync wrote over is brought back also when its push was refused at first', async () => {
    let allowed: Promise<unknown> = Promise.resolve();
    const closed = () => metric(world.sidecar(), 'gate_decisions_total', 'PushRefused');
    await betweenAnswerAndApply('later', async () => {
      await world.git.refusePushes('later', 'this branch is protected');
      await setRate('later', '9');
      const before = await closed();
      // Nobody asks at this gate but whoever repairs.
      allowed = (async () => {
        await until('the repair was told to come again', async () => (await closed()) > before, long);
        assert.equal(await rate('later'), '1', 'the sync wrote over it');
        await world.git.refusePushes('later', undefined);
      })();
      allowed.catch(() => undefined);
    });
    await allowed;
  });

  it('a sidecar that is killed while a sync writes tells its writes from edits again once it is back', async () => {
    await betweenAnswerAndApply('killed', async () => {
      await world.sidecar().kill('SIGKILL');
      const sidecar = await world.startSidecar();
      await until('it follows the sync', async () => /a sync is followed that/.test(sidecar.log()), patience);
      const arrived = () => metric(sidecar, 'watch_events_total', 'resource="configmaps",outcome="routed"');
      const before = await arrived();
      await setRate('killed', '9');
      // Known to the sidecar, and not committed while the window of its commit is open.
      await until('the edit has arrived', async () => (await arrived()) > before, patience);
    });
  });

  it('a superseded sync goes on although the sidecar died before it could start it again, once and not twice', async () => {
    const bareDir = await syncFolder(world, { name: 'died', files });
    await world.git.refusePushes('died', 'this branch is protected');
    await setRate('died', '7');
    await world.argocd.cli('app', 'sync', 'died', '--async');
    await gateSays(world, 'died', 'Closed', /PushRefused/);
    // Argo CD shall not let the sync fail before the sidecar is gone.
    world.argocd.controller.send('SIGSTOP');
    try {
      await world.git.refusePushes('died', undefined);
      await gateSays(world, 'died', 'Superseded', /started again at that commit$/);
      await world.sidecar().kill('SIGKILL');
    } finally {
      world.argocd.controller.send('SIGCONT');
    }
    const { status } = await ended(world, 'died');
    assert.equal(status?.operationState?.phase, 'Failed');
    const newest = await tip(bareDir, 'main');
    await world.startSidecar();
    await synced(world, 'died', newest);
    assert.match(
      await infoOf(world, 'died'),
      /^gitops-reverser: started again at [0-9a-f]{12} by GitOps Reverser: the commit it was asked for lacks live edits$/m,
    );
    assert.equal(await rate('died'), '7');

    const once = await startedAt('died');
    await world.sidecar().kill('SIGKILL');
    const sidecar = await world.startSidecar();
    await until(
      'the gate of the second sync was looked at',
      async () => /"namespace":"died"[^\n]*nothing is left to do/.test(sidecar.log()),
      patience,
    );
    assert.equal(await startedAt('died'), once);
    assert.equal((await log(bareDir, 'main')).length, 2);
  });

  const ways: readonly [string, (name: string, old: string) => Promise<unknown>][] = [
    [
      'allowed',
      async (name, old) => {
        await annotateApplication(name, `configbutler.ai/allow-revision=${old}`);
        await did(sync(world, name, '--revision', old, '--prune'));
      },
    ],
    [
      'opened',
      async (name, old) => {
        await annotateApplication(name, 'configbutler.ai/door=open');
        await did(sync(world, name, '--revision', old, '--prune'));
      },
    ],
    [
      'pinned',
      async (name, old) => {
        const pin = JSON.stringify({ spec: { source: { targetRevision: old } } });
        await world.kubectl('patch', 'application', name, '-n', 'argocd', '--type=merge', '-p', pin);
        await did(sync(world, name, '--prune'));
      },
    ],
    ['rolled', async (name) => did(appCommand(world, 'rollback', name, '0', '--prune'))],
  ];
  for (const [name, goBack] of ways) {
    it(`a sync that goes back to an older commit (${name}) takes nothing out of Git`, async () => {
      const bareDir = await syncFolder(world, { name, files });
      const old = (await tip(bareDir, 'main')) ?? '';
      await commitTo(bareDir, 'main', additions);
      await sync(world, name);
      const newest = await tip(bareDir, 'main');
      await synced(world, name, newest);
      await applyIsOver(world, name);
      await goBack(name, old);
      await synced(world, name, old);
      await assertOnlyLiveLost(world, name, bareDir);
    });
  }
});
