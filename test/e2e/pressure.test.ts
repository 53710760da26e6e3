import assert from 'node:assert/strict';
import { git } from '../cluster/git.ts';
import { commitTo, log, tip } from '../cluster/repository.ts';
import { configMap, flush } from './shop.ts';
import { mirror, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const name = 'shop';
const objects = 400;

describe('a snapshot far larger than the byte cap', function () {
  this.timeout(300_000);
  let world: World;
  let sidecar: Sidecar;
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start(['--branch-buffer-max-size', '64Ki']);
  });
  after(() => world?.stop());

  it('is published in parts, beside what others push meanwhile, and nothing of either is lost', async () => {
    await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
    const many = Array.from({ length: objects }, (_one, index) =>
      configMap(`many-${index}`, { text: `${index} `.repeat(60) }),
    );
    await world.apply(many.join('---\n'), ['-n', name, '--server-side']);
    let pushes = 0;
    world.git.setBefore(async ({ method, service }) => {
      if (method !== 'POST' || service !== 'git-receive-pack') return;
      pushes += 1;
      if (pushes === 2 || pushes === 5)
        await commitTo(bareDir, 'main', { [`notes-${pushes}.md`]: 'theirs\n' });
    });
    bareDir = world.git.bareDir(name);
    await mirror(world, {
      name,
      rules: [{ apiGroups: [''], resources: ['configmaps'] }],
    });
    await flush(world, name);
    world.git.setBefore(undefined);

    const files = (await git(['ls-tree', '-r', '--name-only', 'main'], { cwd: bareDir })).split('\n');
    for (const notes of ['notes-2.md', 'notes-5.md']) assert.ok(files.includes(notes), `${notes} was lost`);
    const published = files.filter((file) => /many-\d+\.yaml$/.test(file));
    assert.equal(new Set(published).size, objects);
    const some = await git(['cat-file', 'blob', `main:${published[7]}`], { cwd: bareDir });
    assert.match(some, /text: /);
    const ours = (await log(bareDir, 'main')).filter((commit) =>
      commit.files.some((file) => file.includes('many-')),
    );
    assert.ok(ours.length > 5, `the cap cut it into ${ours.length} commits only`);
    assert.equal(
      ours.flatMap((commit) => commit.files.filter((file) => file.includes('many-'))).length,
      objects,
    );
  });

  it('is known as a whole afterwards: a restart writes nothing', async () => {
    const before = await tip(bareDir, 'main');
    await sidecar.kill('SIGTERM');
    sidecar = await world.start(['--branch-buffer-max-size', '64Ki']);
    await ready(world, name, 60_000);
    await flush(world, name);
    assert.equal(await tip(bareDir, 'main'), before);
  });
});
