import assert from 'node:assert/strict';
import { join } from 'node:path';
import { log, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { configMap, flush, metric, movedSince, patience } from './shop.ts';
import { mirror, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const rules = [{ apiGroups: [''], resources: ['configmaps'] }];
const rates = 'apps/shop/rates.yaml';

describe('the end of the process', function () {
  this.timeout(300_000);
  let world: World;

  before(async () => {
    world = await startWorld();
  });
  after(() => world?.stop());

  async function shop(name: string, idleTimeout: string): Promise<string> {
    const spec = { commit: { window: { idleTimeout, maxDuration: '1h' } } };
    const files = { [rates]: configMap('rates', { eur: '1' }) };
    const bareDir = await mirror(world, { name, rules, spec, files, live: configMap('rates', { eur: '1' }) });
    await flush(world, name);
    return bareDir;
  }

  /** Edits, and waits until the process has the edit in its hands. */
  async function edit(sidecar: Sidecar, name: string, value: string): Promise<void> {
    const routed = () => metric(sidecar, 'watch_events_total', 'outcome="routed"');
    const before = await routed();
    await world.apply(configMap('rates', { eur: value }), ['-n', name]);
    await until('the edit came in', async () => (await routed()) > before, patience);
  }

  it('SIGTERM publishes what an open window holds, and the exit code is 0', async () => {
    const name = 'window';
    const sidecar = await world.start();
    const bareDir = await shop(name, '30m');
    const before = (await tip(bareDir, 'main')) ?? '';
    await edit(sidecar, name, '2');
    assert.equal(await tip(bareDir, 'main'), before, 'the window is open');
    assert.equal(await sidecar.kill('SIGTERM'), 0);
    assert.deepEqual((await movedSince(bareDir, before)).lines, ['-  eur: "1"', '+  eur: "2"']);
    assert.match(sidecar.log(), /"unpublished":0/);
  });

  it('a remote that hangs holds nobody up, and the edit is found again at the next start', async () => {
    const name = 'hang';
    let sidecar = await world.start(['--shutdown-timeout', '3s']);
    const bareDir = await shop(name, '0s');
    const before = await tip(bareDir, 'main');
    world.git.setFault('hang');
    await edit(sidecar, name, '2');
    const startedAt = performance.now();
    assert.equal(await sidecar.kill('SIGTERM'), 0);
    const took = performance.now() - startedAt;
    assert.ok(took < 20_000, `it took ${took} ms`);
    assert.match(sidecar.log(), /found again at the next start/);
    world.git.setFault(undefined);
    assert.equal(await tip(bareDir, 'main'), before);
    sidecar = await world.start();
    await until(
      'the edit is in Git',
      async () => (await readFile(bareDir, 'main', rates))?.includes('eur: "2"'),
      patience,
    );
    assert.equal(await sidecar.kill('SIGTERM'), 0);
  });

  it('nor does a target that was taken away just before', async () => {
    const name = 'leaving';
    const sidecar = await world.start(['--shutdown-timeout', '3s']);
    await shop(name, '30m');
    await edit(sidecar, name, '2');
    world.git.setFault('hang');
    world.git.clearRequests();
    await world.kubectl('delete', 'gittarget', name, '-n', name);
    const pushing = () => world.git.requests.some(({ path }) => path.includes(name));
    await until('its last edit is being pushed', async () => pushing(), patience);
    const startedAt = performance.now();
    assert.equal(await sidecar.kill('SIGTERM'), 0);
    const took = performance.now() - startedAt;
    world.git.setFault(undefined);
    assert.ok(took < 16_000, `it took ${took} ms`);
  });

  it('of two processes one writes; the other takes over when it is frozen or killed, and a thawed one stops', async () => {
    const name = 'two';
    const start = (identity: string) =>
      world.start(['--identity', identity, '--data-dir', join(world.folder.path, identity)], { elect: true });
    const pushes = (sidecar: Sidecar) => metric(sidecar, 'git_pushes_total', 'outcome="pushed"');
    const holder = async () =>
      (
        await world.kubectl('get', 'lease', 'gitops-reverser', '-o', 'jsonpath={.spec.holderIdentity}')
      ).trim();
    const first = await start('first');
    await until('the first leads', async () => (await holder()) === 'first', patience);
    const second = await start('second');
    const bareDir = await shop(name, '0s');
    await world.apply(configMap('rates', { eur: '2' }), ['-n', name]);
    await flush(world, name);
    assert.ok((await pushes(first)) > 0);
    assert.equal(await pushes(second), 0);

    process.kill(first.pid, 'SIGSTOP');
    await world.apply(configMap('rates', { eur: '3' }), ['-n', name]);
    const says = (value: string) => async () =>
      (await readFile(bareDir, 'main', rates))?.includes(`eur: ${JSON.stringify(value)}`);
    await until('the second has taken over', says('3'), patience);
    assert.equal(await holder(), 'second');
    process.kill(first.pid, 'SIGCONT');
    assert.equal(await first.kill('SIGWINCH'), 1, 'a leader that was replaced ends');

    const third = await start('third');
    await second.kill('SIGKILL');
    await world.apply(configMap('rates', { eur: '4' }), ['-n', name]);
    await until('the third has taken over', says('4'), patience);
    await ready(world, name, 60_000);
    await flush(world, name);
    const subjects = (await log(bareDir, 'main')).map(({ files }) => files.join());
    assert.deepEqual(
      subjects,
      [rates, rates, rates, ['README.md', rates].join()],
      'each edit was committed once',
    );
    assert.equal(await third.kill('SIGTERM'), 0);
    assert.equal(await holder(), '', 'the Lease is given back, so that nobody waits for its end');
  });
});
