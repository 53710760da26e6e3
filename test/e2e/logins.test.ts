import assert from 'node:assert/strict';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { commitTo, readFile } from '../cluster/repository.ts';
import { configMap, flush, tryFlush } from './shop.ts';
import { mirrorObjects, ready, startWorld, type World } from './sidecar.ts';

describe('two GitProviders that name one repository', function () {
  this.timeout(300_000);
  const users: Record<string, string> = { one: 'first', two: 'second' };
  const path = (name: string) => `apps/${name}/rates.yaml`;
  let world: World;
  let shared: GitServer;
  let bareDir: string;

  before(async () => {
    world = await startWorld();
    await world.start();
    shared = await startGitServer({ users });
    bareDir = await shared.createRepository('shared', {
      files: {
        [path('one')]: configMap('rates', { eur: '1' }),
        [path('two')]: configMap('rates', { eur: '1' }),
      },
    });
    for (const name of ['one', 'two']) {
      await world.apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'login', namespace: name },
          stringData: { username: name, password: users[name] ?? '' },
        },
      ]);
      await world.apply(configMap('rates', { eur: '1' }), ['-n', name]);
      await world.apply(
        mirrorObjects(world, {
          ...{ name, path: `apps/${name}`, branch: 'main', url: shared.url('shared') },
          rules: [{ apiGroups: [''], resources: ['configmaps'] }],
          secretRef: { name: 'login' },
        }),
      );
      await ready(world, name, 60_000);
    }
  });
  after(async () => {
    await world?.stop();
    await shared?.stop();
  });

  const edit = (name: string, eur: string) =>
    world.kubectl('patch', 'configmap', 'rates', '-n', name, '-p', JSON.stringify({ data: { eur } }));
  const written = async (name: string) => (await readFile(bareDir, 'main', path(name))) ?? '';

  it('write to one branch', async () => {
    await Promise.all(['one', 'two'].map((name) => edit(name, '2')));
    await Promise.all(['one', 'two'].map((name) => flush(world, name)));
    for (const name of ['one', 'two']) assert.match(await written(name), /eur: "2"/);
  });

  it('and a login that is revoked stops nobody else, not even when the branch has moved', async () => {
    delete users.one;
    await commitTo(bareDir, 'main', { 'README.md': '# moved\n' }, { message: 'Move on' });
    await edit('two', '3');
    await flush(world, 'two');
    assert.match(await written('two'), /eur: "3"/);
  });

  it('whose own edits follow once it is mended', async () => {
    await edit('one', '4');
    await tryFlush(world, 'one');
    users.one = 'first';
    await flush(world, 'one');
    assert.match(await written('one'), /eur: "4"/);
    assert.match(await written('two'), /eur: "3"/);
  });
});
