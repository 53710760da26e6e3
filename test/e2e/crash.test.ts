import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { listFiles, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { configMap, flush, movedSince, patience } from './shop.ts';
import { mirror, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const name = 'shop';
const old = Array.from({ length: 40 }, (_one, index) => `old-${index}`);
const rounds = [0.15, 0.45, 0.8];

describe('kill -9 in the middle of a burst loses no edit', function () {
  this.timeout(300_000);
  let world: World;
  let sidecar: Sidecar;
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
    const files = Object.fromEntries(
      old.map((one) => [`apps/shop/${one}.yaml`, `# ${one}\n${configMap(one, { round: 'none' })}`]),
    );
    const live = old.map((one) => configMap(one, { round: 'none' })).join('---\n');
    bareDir = await mirror(world, {
      name,
      files,
      live,
      rules: [{ apiGroups: [''], resources: ['configmaps'] }],
    });
    await flush(world, name);
  });
  after(() => world?.stop());

  for (const [round, share] of rounds.entries()) {
    it(`round ${round + 1}: 60 edits, killed when some part of them is in Git, deletes while down`, async () => {
      const before = (await tip(bareDir, 'main')) ?? '';
      const fresh = Array.from({ length: 20 }, (_one, index) => `fresh-${round}-${index}`);
      const wanted = share + Math.random() * 0.2;
      const burst = world.apply(
        // Mixed, so that every moment has edits of both kinds before and after it.
        mixed(old, fresh)
          .map((one) => configMap(one, { round: String(round) }))
          .join('---\n'),
        ['-n', name],
      );
      await until(
        'a part of the burst is in Git',
        async () => (await movedSince(bareDir, before)).files.length >= Math.floor(60 * wanted),
        { ...patience, intervalMs: 1 },
      );
      await sidecar.kill('SIGKILL');
      await burst;
      const published = (await movedSince(bareDir, before)).files.map(nameOf);
      const killedAt = `killed with ${published.length} of 60 published: ${published.slice(-6).join(' ')}`;
      const gone = [...published.filter((one) => fresh.includes(one)).slice(-5), ...published.slice(-3)];
      const deleted = [...new Set([...gone, ...fresh.slice(-2)])].filter(
        (one) => !old.slice(20).includes(one),
      );
      await world.kubectl('delete', 'configmap', '-n', name, '--ignore-not-found', ...deleted);

      sidecar = await world.start();
      await ready(world, name, 60_000);
      await flush(world, name);
      assert.deepEqual(await inGit(), await inCluster(), killedAt);
      const { commits } = await movedSince(bareDir, before);
      assert.ok(commits.length > 0);
      assert.deepEqual(locks(join(world.folder.path, 'data')), []);
    });
  }

  it('the restarted process has nothing left to do', async () => {
    const before = await tip(bareDir, 'main');
    await sidecar.kill('SIGTERM');
    sidecar = await world.start();
    await ready(world, name, 60_000);
    await flush(world, name);
    assert.equal(await tip(bareDir, 'main'), before);
  });

  async function inCluster(): Promise<Record<string, string>> {
    const list = JSON.parse(await world.kubectl('get', 'configmaps', '-n', name, '-o', 'json'));
    const items: { metadata: { name: string }; data: { round: string } }[] = list.items;
    return sorted(items.map(({ metadata, data }) => [metadata.name, data.round]));
  }

  async function inGit(): Promise<Record<string, string>> {
    const found: [string, string][] = [];
    for (const path of await listFiles(bareDir, 'main')) {
      if (!path.endsWith('.yaml')) continue;
      for (const document of parseAllDocuments((await readFile(bareDir, 'main', path)) ?? '')) {
        const { metadata, data } = document.toJS();
        found.push([metadata.name, data.round]);
      }
    }
    return sorted(found);
  }
});

function mixed(first: readonly string[], second: readonly string[]): string[] {
  const every = Math.ceil(first.length / second.length);
  return second.flatMap((one, index) => [...first.slice(index * every, (index + 1) * every), one]);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length);
}

function sorted(entries: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function locks(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.lock'));
}
