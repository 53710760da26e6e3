import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitTo, log, tip } from '../../cluster/repository.ts';
import { until } from '../../cluster/wait.ts';
import { applyIsOver, deedsIn } from '../deeds.ts';
import { configMap, deployment, events, patience } from '../shop.ts';
import {
  applied,
  applyFolder,
  type GuardedWorld,
  handled,
  kustomization,
  request,
  startGuardedWorld,
} from './guarded.ts';

const files = {
  'apps/shop/web.yaml': deployment('web'),
  'apps/shop/queue.yaml': deployment('queue', { image: 'nginx:3' }),
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
};

describe('beside the real Flux', function () {
  this.timeout(240_000);
  let world: GuardedWorld;

  before(async () => {
    world = await startGuardedWorld();
  });
  after(() => world?.stop());

  const { scale, setRate, live, replicas, rate, inGit } = deedsIn(() => world);

  it('drift correction undoes an edit where we are not, and waits for its commit where we are', async () => {
    await applyFolder(world, { name: 'alone', files, door: 'none' });
    await scale('alone', 6);
    await handled(world, 'alone', await request(world, 'kustomization', 'alone'));
    assert.equal(await replicas('alone'), '2', 'without us the edit is lost');

    const bareDir = await applyFolder(world, { name: 'drift', files });
    const before = await tip(bareDir, 'main');
    await scale('drift', 6);
    // `flux reconcile` by hand: it waits and ends well, at the commit that holds the edit.
    const { code, stderr } = await world.flux.cli('reconcile', 'kustomization', 'drift', '-n', 'drift');
    assert.equal(code, 0, stderr);
    const after = await tip(bareDir, 'main');
    assert.notEqual(after, before);
    await applied(world, 'drift', after);
    assert.equal(await replicas('drift'), '6');
    assert.match(await inGit(bareDir, 'web.yaml'), /^ {2}replicas: 6 {2}# as many as the team agreed on$/m);
    const history = await log(bareDir, 'main');
    assert.equal(history.length, 2, JSON.stringify(history.map(({ subject }) => subject)));
  });

  it('a foreign push and a pending edit are applied together, and neither is undone', async () => {
    const bareDir = await applyFolder(world, { name: 'foreign', files });
    await scale('foreign', 6);
    await commitTo(bareDir, 'main', { 'apps/shop/queue.yaml': deployment('queue', { image: 'nginx:4' }) });
    await request(world, 'gitrepository', 'foreign');
    await until(
      'the foreign change is live',
      async () =>
        (await live('foreign', 'deployment/queue', '.spec.template.spec.containers[0].image')) === 'nginx:4',
      patience,
    );
    await applied(world, 'foreign', await tip(bareDir, 'main'));
    assert.equal(await replicas('foreign'), '6');
    assert.match(await inGit(bareDir, 'web.yaml'), /replicas: 6/);
    assert.match(await inGit(bareDir, 'queue.yaml'), /nginx:4/);
    const subjects = (await log(bareDir, 'main')).map(({ author }) => author);
    assert.equal(subjects.length, 3, 'one commit of ours on top of the foreign one, no echo of the apply');
  });

  it('edits made after the answer are overwritten by the apply, committed all the same, and restored by the next one', async () => {
    const bareDir = await applyFolder(world, { name: 'after', files });
    let edited = false;
    world.between(async (source) => {
      if (source !== 'after' || edited) return;
      edited = true;
      await world.kubectl('patch', 'deployment', 'web', '-n', 'after', '-p', '{"spec":{"replicas":8}}');
      const patch = JSON.stringify({ data: { eur: '9', gbp: '2' } });
      await world.kubectl('patch', 'configmap', 'rates', '-n', 'after', '-p', patch);
    });
    await handled(world, 'after', await request(world, 'kustomization', 'after'));
    world.between(undefined);
    assert.ok(edited);
    await until(
      'the next apply restored both',
      async () => (await replicas('after')) === '8' && (await rate('after')) === '9',
      patience,
    );
    await applied(world, 'after', await tip(bareDir, 'main'));
    // Also the field that Git did not state, which the apply took away.
    assert.equal(await live('after', 'configmap/rates', '.data.gbp'), '2');
    assert.match(await inGit(bareDir, 'rates.yaml'), /eur: "9"[\s\S]*gbp: "2"/);
    assert.match(await inGit(bareDir, 'web.yaml'), /replicas: 8/);
    const metrics = await (await fetch(`http://127.0.0.1:${world.sidecar().metricsPort}/metrics`)).text();
    const counted = /apply_window_collisions_total\{[^}]*gittarget_name="after"[^}]*\} (\d+)/.exec(
      metrics,
    )?.[1];
    assert.equal(counted, '2', 'each write over a newer edit is counted');
    for (const { body } of await log(bareDir, 'main')) assert.doesNotMatch(body, /kustomize-controller/);
  });

  it('a key that somebody takes away while an apply may still go on is taken out of Git, and stays away', async () => {
    const window = { commit: { window: { idleTimeout: '1s', maxDuration: '5s' } } };
    const bareDir = await applyFolder(world, { name: 'taken', files, spec: window });
    await applyIsOver(world, 'taken');
    await handled(world, 'taken', await request(world, 'kustomization', 'taken'));
    // The apply has written nothing, and who only takes away leaves no entry: the newest stays the applier's.
    await world.kubectl('patch', 'configmap', 'rates', '-n', 'taken', '-p', '{"data":{"usd":null}}');
    await until(
      'the key is gone from Git',
      async () => !/usd/.test(await inGit(bareDir, 'rates.yaml')),
      patience,
    );
    await handled(world, 'taken', await request(world, 'kustomization', 'taken'));
    await applied(world, 'taken', await tip(bareDir, 'main'));
    assert.equal(await live('taken', 'configmap/rates', '.data'), '{"eur":"1"}');
  });

  it('a push that is refused closes the door, and flux get ks says why; it opens by itself', async () => {
    const bareDir = await applyFolder(world, { name: 'refused', files });
    await world.git.refusePushes('refused', 'this branch is protected');
    await setRate('refused', '7');
    await request(world, 'kustomization', 'refused');
    await until(
      'the Kustomization says why',
      async () => /423 .*PushRefused.*protected/.test((await kustomization(world, 'refused')).message),
      patience,
    );
    const { stdout } = await world.flux.cli('get', 'kustomizations', '-n', 'refused');
    assert.match(stdout, /held by GitOps Reverser: PushRefused: .*this branch is protected/);
    assert.equal(await rate('refused'), '7', 'nothing was applied');
    await world.git.refusePushes('refused', undefined);
    await until(
      'it is applied without anybody asking',
      async () => {
        const { ready, applied: commit } = await kustomization(world, 'refused');
        return ready === 'True' && commit === (await tip(bareDir, 'main'));
      },
      patience,
    );
    assert.equal(await rate('refused'), '7');
    assert.match(await inGit(bareDir, 'rates.yaml'), /eur: "7"/);
  });

  it('a git host that hangs closes the door within 20 seconds and says so', async () => {
    await applyFolder(world, { name: 'hung', files });
    await setRate('hung', '7');
    world.git.setFault('hang');
    try {
      const askedAt = performance.now();
      const { artifact } = JSON.parse(
        await world.kubectl('get', 'gitrepository', 'hung', '-n', 'hung', '-o', 'json'),
      ).status;
      const answer = await fetch(`${world.doorUrl}${new URL(artifact.url).pathname}`);
      assert.equal(answer.status, 423);
      assert.match(answer.statusText, /held by GitOps Reverser: (Deadline|RemoteUnreachable): /);
      assert.ok(performance.now() - askedAt < 20_000);
      await request(world, 'kustomization', 'hung');
      await until(
        'the Kustomization says why',
        async () => /423 held by GitOps Reverser/.test((await kustomization(world, 'hung')).message),
        patience,
      );
      assert.equal(await rate('hung'), '7');
    } finally {
      world.git.setFault(undefined);
    }
    await until('it opened', async () => (await kustomization(world, 'hung')).ready === 'True', patience);
    assert.equal(await rate('hung'), '7');
  });

  it('a suspended source with newer edits is named, never a silent "not found" for ever', async () => {
    const bareDir = await applyFolder(world, { name: 'suspended', files });
    await world.flux.cli('suspend', 'source', 'git', 'suspended', '-n', 'suspended');
    await scale('suspended', 5);
    await request(world, 'kustomization', 'suspended');
    await until(
      'the Kustomization names it',
      async () =>
        /GitRepository suspended\/suspended .*is suspended; resume it/.test(
          (await kustomization(world, 'suspended')).message,
        ),
      patience,
    );
    assert.equal(await replicas('suspended'), '5');
    const { code, stderr } = await world.flux.cli('resume', 'source', 'git', 'suspended', '-n', 'suspended');
    assert.equal(code, 0, stderr);
    await applied(world, 'suspended', await tip(bareDir, 'main'));
    assert.equal(await replicas('suspended'), '5');
  });

  it('the annotation configbutler.ai/door: open lets an apply pass, and is reported loudly', async () => {
    await applyFolder(world, { name: 'glass', files });
    await world.git.refusePushes('glass', 'protected');
    await scale('glass', 5);
    await world.kubectl('annotate', 'gitrepository', 'glass', '-n', 'glass', 'configbutler.ai/door=open');
    const status = await handled(world, 'glass', await request(world, 'kustomization', 'glass'));
    assert.equal(status.ready, 'True', status.message);
    assert.equal(await replicas('glass'), '2');
    await until(
      'an Event says it',
      async () => (await events(world, 'glass')).some((text) => text.startsWith('DoorOpen:')),
      patience,
    );
  });

  it('a busy editor starves nobody: foreign pushes are applied while one edit a second goes on', async () => {
    const bareDir = await applyFolder(world, { name: 'busy', files });
    let editing = true;
    let edits = 0;
    const editor = (async () => {
      while (editing) {
        await setRate('busy', `${100 + edits++}`);
        await sleep(1_000);
      }
    })();
    try {
      for (const image of ['nginx:5', 'nginx:6']) {
        await commitTo(bareDir, 'main', { 'apps/shop/queue.yaml': deployment('queue', { image }) });
        await request(world, 'gitrepository', 'busy');
        await until(
          `${image} is live`,
          async () =>
            (await live('busy', 'deployment/queue', '.spec.template.spec.containers[0].image')) === image,
          patience,
        );
      }
    } finally {
      editing = false;
      await editor;
    }
    assert.ok(edits >= 2);
    const last = `${99 + edits}`;
    await request(world, 'kustomization', 'busy');
    await until(
      'the last edit is in Git and live',
      async () =>
        (await inGit(bareDir, 'rates.yaml')).includes(`eur: "${last}"`) && (await rate('busy')) === last,
      patience,
    );
  });

  it('artifacts go on through the door when source-controller has restarted', async () => {
    const bareDir = await applyFolder(world, { name: 'again', files });
    await world.flux.sourceController.restart();
    await commitTo(bareDir, 'main', { 'apps/shop/rates.yaml': configMap('rates', { eur: '3', usd: '1' }) });
    await request(world, 'gitrepository', 'again');
    await applied(world, 'again', await tip(bareDir, 'main'));
    assert.equal(await rate('again'), '3');
  });

  it('while the sidecar is down nothing is applied; when it is back the edit is in Git and the apply follows', async () => {
    const bareDir = await applyFolder(world, { name: 'down', files });
    await world.sidecar().kill('SIGKILL');
    await scale('down', 9);
    const status = await handled(world, 'down', await request(world, 'kustomization', 'down'));
    assert.equal(status.ready, 'False');
    assert.match(status.message, /failed to download archive/);
    assert.equal(await replicas('down'), '9', 'nobody undid it');
    await world.startSidecar();
    await until(
      'the edit is in Git',
      async () => /replicas: 9/.test(await inGit(bareDir, 'web.yaml')),
      patience,
    );
    await request(world, 'gitrepository', 'down');
    await applied(world, 'down', await tip(bareDir, 'main'));
    assert.equal(await replicas('down'), '9');
  });
});
