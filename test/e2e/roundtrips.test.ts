import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitTo, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { configMap, deployment, flush, metric, patience } from './shop.ts';
import { mirror, mirrorObjects, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

/** Operations of git, not HTTP requests: each costs a person the way to the Git host and back. */
interface RoundTrips {
  readonly lsRemote: number;
  readonly fetch: number;
  readonly push: number;
}

const goldenFile = join(import.meta.dirname, 'golden', 'round-trips.json');
const accept = process.env.ACCEPT_ROUND_TRIPS === '1';
const name = 'shop';
const web = 'apps/shop/web.yaml';
const rules = [
  { apiGroups: ['apps'], resources: ['deployments'] },
  { apiGroups: [''], resources: ['configmaps'] },
];

describe('round trips to the Git host', function () {
  this.timeout(300_000);
  const golden: Record<string, RoundTrips> = existsSync(goldenFile)
    ? JSON.parse(readFileSync(goldenFile, 'utf8'))
    : {};
  const measured: Record<string, RoundTrips> = {};
  let world: World;
  let sidecar: Sidecar;
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
  });
  after(async () => {
    await world?.stop();
    if (accept) writeFileSync(goldenFile, `${JSON.stringify(measured, null, 2)}\n`);
  });
  afterEach(() => world.git.setBefore(undefined));

  /** Counts what an action costs and compares it with what it cost before. */
  async function costs(scenario: string, action: () => Promise<unknown>): Promise<void> {
    world.git.clearRequests();
    await action();
    compare(scenario, roundTrips());
  }

  function compare(scenario: string, now: RoundTrips): void {
    measured[scenario] = now;
    if (accept) return;
    const before = golden[scenario];
    assert.ok(before, `${scenario} is new: write it down with ACCEPT_ROUND_TRIPS=1`);
    const words = `${scenario}: ${JSON.stringify(now)}, it was ${JSON.stringify(before)}`;
    assert.ok(total(now) <= total(before), `more round trips than before. ${words}`);
    if (total(now) < total(before))
      console.log(`      fewer round trips than before; accept with ACCEPT_ROUND_TRIPS=1. ${words}`);
  }

  /** In protocol 2 each read opens with a GET and lists refs in a POST; only a fetch has a second POST. */
  function roundTrips(): RoundTrips {
    const count = (method: string, service: string) =>
      world.git.requests.filter((one) => one.method === method && one.service === service).length;
    const [reads, answers] = [count('GET', 'git-upload-pack'), count('POST', 'git-upload-pack')];
    const fetch = Math.max(0, answers - reads);
    return { lsRemote: reads - fetch, fetch, push: count('GET', 'git-receive-pack') };
  }

  it('the start of a target', () =>
    costs('start of a target', async () => {
      bareDir = await mirror(world, {
        name,
        rules,
        files: { [web]: deployment('web') },
        live: deployment('web'),
      });
      await flush(world, name);
    }));

  it('one edit', () =>
    costs('one edit', async () => {
      await world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=3');
      await flush(world, name);
    }));

  it('a hundred edits, the first of them pushed before the others came: they share the next push', () =>
    costs('burst of 100 edits', async () => {
      const routed = () => metric(sidecar, 'watch_events_total', 'outcome="routed"');
      const before = await routed();
      let held = false;
      world.git.setBefore(async ({ method, service }) => {
        if (method !== 'POST' || service !== 'git-receive-pack') return;
        world.git.setBefore(undefined);
        held = true;
        await until('all edits came in', async () => (await routed()) >= before + 100, patience);
      });
      const [first = '', ...others] = Array.from({ length: 100 }, (_one, index) =>
        configMap(`many-${index}`, { k: 'v' }),
      );
      await world.apply(first, ['-n', name]);
      await until('its push is on the way', async () => held, patience);
      await world.apply(others.join('---\n'), ['-n', name]);
      await flush(world, name);
    }));

  it('an edit when somebody else pushed first', () =>
    costs('conflict with a foreign push', async () => {
      world.git.setBefore(async ({ method, service }) => {
        if (method !== 'POST' || service !== 'git-receive-pack') return;
        world.git.setBefore(undefined);
        await commitTo(bareDir, 'main', { 'notes.md': 'theirs\n' });
      });
      await world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=4');
      await flush(world, name);
    }));

  it('an edit on top of a foreign push that nobody told us of', () =>
    costs('edit after a foreign push', async () => {
      await commitTo(bareDir, 'main', { 'notes.md': 'theirs again\n' });
      await world.kubectl('scale', 'deployment', 'web', '-n', name, '--replicas=5');
      await flush(world, name);
    }));

  it('the first edit on a branch that does not exist', async () => {
    const second = 'fresh';
    await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: second } }]);
    const folder = { name: second, path: 'apps/fresh', branch: 'live', rules, url: world.git.url(name) };
    await world.apply(mirrorObjects(world, folder));
    await ready(world, second, 60_000);
    await flush(world, second);
    await costs('first edit on a new branch', async () => {
      await world.kubectl('create', 'configmap', 'first', '-n', second, '--from-literal=k=v');
      await flush(world, second);
    });
    await world.kubectl('delete', 'gittarget', second, '-n', second);
    await world.kubectl('delete', 'gitprovider', second, '-n', second);
  });

  it('a restart with nothing to do', async () => {
    await sidecar.kill('SIGTERM');
    const before = await tip(bareDir, 'main');
    await costs('restart with nothing changed', async () => {
      sidecar = await world.start();
      const snapshots = () => metric(sidecar, 'watch_replay_duration_seconds_count');
      await until('both collections were read', async () => (await snapshots()) >= 2, patience);
      await ready(world, name, 60_000);
      await flush(world, name);
    });
    assert.equal(await tip(bareDir, 'main'), before);
  });

  it('an idle branch that is looked at: one question, no transfer', async () => {
    await sidecar.kill('SIGTERM');
    sidecar = await world.start(['--git-refresh-interval', '1s']);
    await ready(world, name, 60_000);
    await flush(world, name);
    world.git.clearRequests();
    await until('three looks', () => roundTrips().lsRemote >= 3, patience);
    await sidecar.kill('SIGTERM');
    const { fetch, push } = roundTrips();
    compare('idle look', { lsRemote: 1, fetch, push });
  });
});

function total({ lsRemote, fetch, push }: RoundTrips): number {
  return lsRemote + fetch + push;
}
