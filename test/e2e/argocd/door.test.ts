import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitTo, log, tip } from '../../cluster/repository.ts';
import { until } from '../../cluster/wait.ts';
import { deedsIn } from '../deeds.ts';
import { configMap, deployment, events, patience } from '../shop.ts';
import {
  type ArgocdWorld,
  ended,
  gateResult,
  gateSays,
  infoOf,
  startArgocdWorld,
  sync,
  synced,
  syncFolder,
} from './guarded.ts';

const files = {
  'apps/shop/web.yaml': deployment('web'),
  'apps/shop/queue.yaml': deployment('queue', { image: 'nginx:3' }),
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
};

describe('beside the real Argo CD', function () {
  this.timeout(300_000);
  let world: ArgocdWorld;

  before(async () => {
    world = await startArgocdWorld();
  });
  after(() => world?.stop());

  const { scale, setRate, live, replicas, rate, inGit } = deedsIn(() => world);
  const image = (name: string) => live(name, 'deployment/queue', '.spec.template.spec.containers[0].image');
  const annotate = (name: string, annotation: string) =>
    world.kubectl('annotate', 'application', name, '-n', 'argocd', '--overwrite', annotation);

  it('a sync by hand undoes an edit where we are not; where we are it is started again at the commit that holds it', async () => {
    await syncFolder(world, { name: 'alone', files, door: 'none' });
    await scale('alone', 6);
    await sync(world, 'alone');
    await synced(world, 'alone');
    assert.equal(await replicas('alone'), '2', 'without us the edit is lost');

    const bareDir = await syncFolder(world, { name: 'hand', files });
    const before = await tip(bareDir, 'main');
    await scale('hand', 6);
    // The commit was rendered before, so Argo CD takes its manifests from the cache.
    const { stdout } = await sync(world, 'hand');
    const after = await tip(bareDir, 'main');
    assert.notEqual(after, before);
    // Whether the command sees the one sync or the other end is a race between Argo CD and us.
    assert.match(stdout, /superseded: commit [0-9a-f]{12} holds live edits that this sync would undo/);
    assert.match(stdout, /Deployment\.apps\/hand\/web spec\.replicas by kubectl/);
    await synced(world, 'hand', after);
    assert.match(
      await infoOf(world, 'hand'),
      /^gitops-reverser: started again at [0-9a-f]{12} by GitOps Reverser: the commit it was asked for lacks live edits$/m,
    );
    assert.equal(await replicas('hand'), '6');
    assert.match(await inGit(bareDir, 'web.yaml'), /^ {2}replicas: 6 {2}# as many as the team agreed on$/m);
    const history = await log(bareDir, 'main');
    assert.equal(history.length, 2, JSON.stringify(history.map(({ subject }) => subject)));
  });

  it('an automated sync of a foreign push goes on to the commit that holds the edit too, in seconds', async () => {
    const bareDir = await syncFolder(world, { name: 'auto', files, syncPolicy: { automated: {} } });
    await scale('auto', 6);
    await commitTo(bareDir, 'main', { 'apps/shop/queue.yaml': deployment('queue', { image: 'nginx:4' }) });
    const startedAt = performance.now();
    await annotate('auto', 'argocd.argoproj.io/refresh=normal');
    await until('the foreign change is live', async () => (await image('auto')) === 'nginx:4', patience);
    const seconds = (performance.now() - startedAt) / 1000;
    await until(
      'the edit is in Git',
      async () => /replicas: 6/.test(await inGit(bareDir, 'web.yaml')),
      patience,
    );
    await synced(world, 'auto', await tip(bareDir, 'main'));
    assert.equal(await replicas('auto'), '6');
    assert.ok(seconds < 60, `it took ${seconds} s`);
    const authors = (await log(bareDir, 'main')).map(({ author }) => author);
    assert.equal(authors.length, 3, 'one commit of ours on top of the foreign one, no echo of the apply');
  });

  it('an old commit, synced on purpose, ends with our message; an annotation with that commit lets it pass', async () => {
    const bareDir = await syncFolder(world, { name: 'old', files });
    const old = (await tip(bareDir, 'main')) ?? '';
    await commitTo(bareDir, 'main', { 'apps/shop/rates.yaml': configMap('rates', { eur: '5', usd: '1' }) });
    const newest = (await tip(bareDir, 'main')) ?? '';
    await sync(world, 'old');
    await synced(world, 'old', newest);
    const { code } = await sync(world, 'old', '--revision', old);
    assert.notEqual(code, 0);
    const state = await ended(world, 'old');
    const { phase, message } = gateResult(state);
    assert.equal(phase, 'Failed');
    assert.match(message, new RegExp(`^superseded: commit ${newest.slice(0, 12)} has changed the folder`));
    assert.match(message, /nothing was applied\. Sync again .*somebody else has changed the folder since$/);
    assert.equal(await rate('old'), '5');

    await annotate('old', `configbutler.ai/allow-revision=${old}`);
    const allowed = await sync(world, 'old', '--revision', old);
    assert.equal(allowed.code, 0, allowed.stdout);
    assert.equal(await rate('old'), '1', 'the older commit was applied');
    await until(
      'an Event says it',
      async () => (await events(world, 'argocd')).some((text) => text.startsWith('RevisionAllowed:')),
      patience,
    );
  });

  it('local manifests stay at the gate: they cannot be checked', async () => {
    await syncFolder(world, { name: 'local', files });
    const dir = join(world.folder.path, 'local', 'apps', 'shop');
    mkdirSync(dir, { recursive: true });
    const gate = (await import('./guarded.ts')).syncGateFile;
    writeFileSync(join(dir, 'gate.yaml'), gate);
    writeFileSync(join(dir, 'rates.yaml'), configMap('rates', { eur: '66', usd: '1' }));
    await world.argocd.cli(
      ...['app', 'sync', 'local', '--local', dir, '--local-repo-root', join(world.folder.path, 'local')],
      '--async',
    );
    await gateSays(world, 'local', 'Closed', /^held by GitOps Reverser: local manifests cannot be checked$/);
    assert.equal(await rate('local'), '1', 'nothing was applied');
    const { code } = await world.argocd.cli('app', 'terminate-op', 'local');
    assert.equal(code, 0);
    await ended(world, 'local');
    assert.equal(await rate('local'), '1');
  });

  it('a push that is refused closes the gate, and Argo CD shows why; it opens by itself', async () => {
    const bareDir = await syncFolder(world, { name: 'refused', files });
    await world.git.refusePushes('refused', 'this branch is protected');
    await setRate('refused', '7');
    await world.argocd.cli('app', 'sync', 'refused', '--async');
    await gateSays(world, 'refused', 'Closed', /held by GitOps Reverser: PushRefused: .*protected/);
    await until(
      'argocd app get shows it',
      async () =>
        /SyncGate .*Running .*PushRefused.*this branch is protected/.test(
          (await world.argocd.cli('app', 'get', 'refused')).stdout,
        ),
      patience,
    );
    assert.equal(await rate('refused'), '7', 'nothing was applied');
    const notice = () =>
      live('argocd', 'application/refused', '.metadata.annotations.notice\\.argocd\\.argoproj\\.io/content');
    await until(
      'the page of the Application says that edits wait',
      async () => /^GitOps Reverser: live edits .*PushRefused/.test(await notice()),
      patience,
    );
    await world.git.refusePushes('refused', undefined);
    await until(
      'the edit is in Git',
      async () => /eur: "7"/.test(await inGit(bareDir, 'rates.yaml')),
      patience,
    );
    await synced(world, 'refused', await tip(bareDir, 'main'));
    assert.equal(await rate('refused'), '7');
    await until('the notice is gone', async () => (await notice()) === '', patience);
  });

  it('the annotation configbutler.ai/door: open lets a sync pass, and is reported loudly', async () => {
    await syncFolder(world, { name: 'glass', files });
    await world.git.refusePushes('glass', 'protected');
    await scale('glass', 5);
    await annotate('glass', 'configbutler.ai/door=open');
    const { code, stdout } = await sync(world, 'glass');
    assert.equal(code, 0, stdout);
    assert.equal(await replicas('glass'), '2');
    await until(
      'an Event says it',
      async () => (await events(world, 'argocd')).some((text) => text.startsWith('DoorOpen:')),
      patience,
    );
  });

  it('a gate of nobody, or of an Application that is not there, is never open', async () => {
    const metadata = { name: 'stray', namespace: 'default' };
    const gate = { apiVersion: 'configbutler.ai/v1alpha3', kind: 'SyncGate', spec: {} };
    const mark = 'gone:configbutler.ai/SyncGate:default/lost';
    await world.apply([
      { ...gate, metadata },
      {
        ...gate,
        metadata: {
          name: 'lost',
          namespace: 'default',
          annotations: { 'argocd.argoproj.io/tracking-id': mark },
        },
      },
      {
        ...gate,
        metadata: {
          name: 'labelled',
          namespace: 'default',
          labels: { 'app.kubernetes.io/instance': 'gone' },
        },
      },
    ]);
    const said = async (name: string) => {
      const { status = {} } = JSON.parse(
        await world.kubectl('get', 'syncgate', name, '-n', 'default', '-o', 'json'),
      );
      return `${status.phase}: ${status.message}`;
    };
    const rows: [string, RegExp][] = [
      ['stray', /^Closed: .*nothing on this object says which Application made it$/],
      ['lost', /^Closed: .*there is no Application argocd\/gone here$/],
      ['labelled', /^Closed: .*there is no Application argocd\/gone here$/],
    ];
    for (const [name, wanted] of rows)
      await until(`${name} is answered`, async () => wanted.test(await said(name)), patience);
  });

  it('a busy editor starves nobody: foreign pushes are applied while one edit a second goes on', async () => {
    const bareDir = await syncFolder(world, { name: 'busy', files, syncPolicy: { automated: {} } });
    let editing = true;
    let edits = 0;
    const editor = (async () => {
      while (editing) {
        await setRate('busy', `${100 + edits++}`);
        await sleep(1_000);
      }
    })();
    try {
      for (const newer of ['nginx:5', 'nginx:6']) {
        await commitTo(bareDir, 'main', { 'apps/shop/queue.yaml': deployment('queue', { image: newer }) });
        await annotate('busy', 'argocd.argoproj.io/refresh=normal');
        await until(`${newer} is live`, async () => (await image('busy')) === newer, {
          timeoutMs: 120_000,
          intervalMs: 200,
        });
      }
    } finally {
      editing = false;
      await editor;
    }
    const last = `${99 + edits}`;
    await until(
      'the last edit is in Git and live',
      async () => {
        await annotate('busy', 'argocd.argoproj.io/refresh=normal');
        return (
          (await inGit(bareDir, 'rates.yaml')).includes(`eur: "${last}"`) && (await rate('busy')) === last
        );
      },
      { timeoutMs: 120_000, intervalMs: 1_000 },
    );
  });

  it('while the sidecar is down a sync waits at its gate and applies nothing; when it is back it goes on', async () => {
    const bareDir = await syncFolder(world, { name: 'down', files });
    await world.sidecar().kill('SIGKILL');
    await scale('down', 9);
    await world.argocd.cli('app', 'sync', 'down', '--async');
    await until(
      'the sync waits for the hook',
      async () =>
        /waiting for completion of hook configbutler\.ai\/SyncGate/.test(
          await live('argocd', 'application/down', '.status.operationState.message'),
        ),
      patience,
    );
    assert.equal(await replicas('down'), '9', 'nobody undid it');
    await world.startSidecar();
    await until(
      'the edit is in Git',
      async () => /replicas: 9/.test(await inGit(bareDir, 'web.yaml')),
      patience,
    );
    await synced(world, 'down', await tip(bareDir, 'main'));
    assert.equal(await replicas('down'), '9');
  });
});
