import assert from 'node:assert/strict';
import { join } from 'node:path';
import { tip } from '../cluster/repository.ts';
import { type RunResult, run } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';
import { annotate, condition, configMap, flush, metric, movedSince, patience, status } from './shop.ts';
import { mirror, type Sidecar, startWorld, type World } from './sidecar.ts';

const name = 'shop';
const rules = [{ apiGroups: [''], resources: ['configmaps'] }];
const main = join(import.meta.dirname, '../../src/main.ts');

describe('flush and status', function () {
  this.timeout(180_000);
  let world: World;
  let sidecar: Sidecar;
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
    const spec = { commit: { window: { idleTimeout: '30m', maxDuration: '1h' } } };
    const files = { 'apps/shop/rates.yaml': configMap('rates', { eur: '1' }) };
    bareDir = await mirror(world, { name, rules, spec, files, live: configMap('rates', { eur: '1' }) });
    await flush(world, name);
  });
  after(() => world?.stop());

  const reverser = (...args: string[]): Promise<RunResult> =>
    run('node', [main, ...args, '--kubeconfig', world.cluster.kubeconfig]);

  /** Edits, and waits until the process has the edit in its hands. */
  async function edit(value: string): Promise<string> {
    const before = (await tip(bareDir, 'main')) ?? '';
    const routed = () => metric(sidecar, 'watch_events_total', 'outcome="routed"');
    const count = await routed();
    await world.apply(configMap('rates', { eur: value }), ['-n', name]);
    await until('the edit came in', async () => (await routed()) > count, patience);
    assert.equal(await tip(bareDir, 'main'), before, 'the window is open');
    return before;
  }

  it('the annotation publishes an open window at once, and the status says so afterwards', async () => {
    const before = await edit('2');
    await annotate(world, 'gittarget', name, 'flushRequestedAt', 'now-1');
    await until(
      'the flush is handled',
      async () => (await status(world, 'gittarget', name)).lastHandledFlushAt === 'now-1',
      patience,
    );
    const { lines, commits, after } = await movedSince(bareDir, before);
    assert.deepEqual([lines, commits.length], [['-  eur: "1"', '+  eur: "2"'], 1]);
    assert.equal((await status(world, 'gitbranch', name, `${name}-main`)).lastPushedCommit, after);
  });

  it('an edit that the API server took just before the flush is in it', async () => {
    for (const value of ['3', '4', '5']) {
      const before = (await tip(bareDir, 'main')) ?? '';
      await world.apply(configMap('rates', { eur: value }), ['-n', name]);
      await flush(world, name);
      assert.match((await movedSince(bareDir, before)).lines.join(), new RegExp(`eur: "${value}"`));
    }
  });

  it('the command flush waits for the commit and names it; status shows the result', async () => {
    const before = await edit('6');
    const shown = JSON.parse((await reverser('status', `${name}/${name}`, '--output', 'json')).stdout);
    assert.deepEqual([shown[0].ready, shown[0].streams], ['True', '1/1']);
    const flushed = await reverser('flush', `${name}/${name}`);
    assert.equal(flushed.code, 0, flushed.stderr);
    const { after, lines } = await movedSince(bareDir, before);
    assert.deepEqual(lines, ['-  eur: "5"', '+  eur: "6"']);
    assert.match(flushed.stdout + flushed.stderr, new RegExp(after.slice(0, 12)));
    const done = JSON.parse((await reverser('status', '--output', 'json')).stdout);
    assert.deepEqual([done[0].pending, done[0].lastPushedCommit], [0, after]);
  });

  it('flush says why it could not publish, and what it does not know', async () => {
    await world.git.refusePushes(name, 'frozen until monday');
    const before = await edit('7');
    const refused = await reverser('flush', `${name}/${name}`, '--timeout', '60s');
    assert.equal(refused.code, 1);
    assert.match(refused.stdout + refused.stderr, /frozen until monday/);
    assert.equal(await tip(bareDir, 'main'), before);
    await world.git.refusePushes(name, undefined);
    assert.equal((await reverser('flush', `${name}/${name}`)).code, 0);
    await condition(world, ['gittarget', name], 'Ready', { status: 'True' });
    const unknown = await reverser('flush', `${name}/nobody`);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /nobody/);
  });
});
