import assert from 'node:assert/strict';
import { git } from '../cluster/git.ts';
import { commitTo, tip } from '../cluster/repository.ts';
import { deployment, flush, moved, resync } from './shop.ts';
import { mirror, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const name = 'shop';
const web = 'apps/shop/web.yaml';
const others = {
  'apps/shop/notes.txt': 'half done\n',
  'apps/other/web.yaml': deployment('web', { image: 'other:1' }),
  'apps/shop-old/web.yaml': deployment('web', { image: 'old:1' }),
  'web.yaml': deployment('web', { image: 'root:1' }),
};

describe('only our file, and only once', function () {
  this.timeout(180_000);
  let world: World;
  let sidecar: Sidecar;
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
    const files = { [web]: deployment('web'), ...others };
    const rules = [{ apiGroups: ['apps'], resources: ['deployments'] }];
    bareDir = await mirror(world, { name, rules, files, live: deployment('web') });
    await flush(world, name);
  });
  after(() => world?.stop());

  const pushes = () => world.git.requests.filter(({ service }) => service === 'git-receive-pack').length;

  it('an edit is one commit of one file; what lies beside it stays, byte for byte', async () => {
    const before = (await tip(bareDir, 'main')) ?? '';
    const { files, commits } = await moved(world, name, bareDir, () =>
      world.kubectl('set', 'image', 'deployment/web', '-n', name, 'web=nginx:1.26'),
    );
    assert.deepEqual([files, commits.length], [[web], 1]);
    const paths = ['README.md', ...Object.keys(others)];
    const untouched = await git(['diff', '--name-only', before, 'main', '--', ...paths], { cwd: bareDir });
    assert.equal(untouched, '');
  });

  it('another pass over the same objects makes no commit and no push', async () => {
    const before = await tip(bareDir, 'main');
    world.git.clearRequests();
    await flush(world, name);
    await resync(world, sidecar, name, 1);
    await sidecar.kill('SIGTERM');
    sidecar = await world.start();
    await ready(world, name, 60_000);
    await flush(world, name);
    assert.equal(await tip(bareDir, 'main'), before);
    assert.equal(pushes(), 0);
  });

  it('a foreign commit elsewhere in the repository is neither undone nor answered', async () => {
    const foreign = await commitTo(bareDir, 'main', {
      'apps/other/web.yaml': deployment('web', { image: 'other:2' }),
    });
    world.git.clearRequests();
    await resync(world, sidecar, name, 1);
    assert.equal(await tip(bareDir, 'main'), foreign);
    assert.equal(pushes(), 0);
  });
});
