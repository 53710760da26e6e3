import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openRepository, repositoryFolder } from '../../src/git/repository.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { commitTo } from '../cluster/repository.ts';
import { run } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';
import { processesIn } from './processes.ts';
import { anonymous, basic, commitOne, expectKind, openFor, reopen, spec } from './remote-fixture.ts';

const nowhere = anonymous('https://git.example.com/fleet');
const holder = new URL('./holder.ts', import.meta.url).pathname;

describe('a repository after trouble', () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer();
    await server.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
  });
  after(async () => {
    await server.stop();
  });
  afterEach(() => server.setFault(undefined));

  async function open(volume: string) {
    return await openRepository({ volume, url: nowhere.url, ambient: process.env });
  }

  it('is new once, and kept after that', async () => {
    const volume = temporaryFolder('git-volume');
    for (const state of ['new', 'kept']) {
      const opened = expectKind(await open(volume.path), 'ok');
      assert.equal(opened.state, state);
      await opened.repository.close();
    }
    await volume.remove();
  });

  it('is not shared: a second one is refused while the first lives', async () => {
    const { volume, close } = await openFor(nowhere);
    const failure = expectKind(await open(volume.path), 'failed');
    assert.equal(failure.reason, 'Refused');
    assert.match(failure.message, new RegExp(`process ${process.pid} works in it`));
    await close();
  });

  it('is taken over after kill -9 in the middle of a fetch: children, locks, logins and drafts are gone', async () => {
    const volume = temporaryFolder('git-volume');
    const access = anonymous(server.url('fleet'));
    const folder = repositoryFolder(volume.path, access.url);
    const bare = join(folder, 'git');
    server.setFault('hang');
    const child = spawn(process.execPath, [holder, volume.path, server.url('fleet')], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await until('the fetch of the other process hangs', () =>
      processesIn(folder).some((args) => args.includes('fetch')),
    );
    const held = await openRepository({
      volume: volume.path,
      url: access.url,
      ambient: process.env,
      allowHttp: true,
    });
    assert.match(expectKind(held, 'failed').message, new RegExp(`process ${child.pid} works in it`));
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
    assert.ok(processesIn(folder).length > 0, 'the kill left no children to take care of');
    await mkdir(join(bare, 'refs/reverser/remote'), { recursive: true });
    const leftovers = [
      'packed-refs.lock',
      'refs/reverser/remote/main.lock',
      'objects/pack/tmp_pack_x',
      'fast_import_crash_1',
      'gc.pid',
    ];
    for (const name of leftovers) await writeFile(join(bare, name), '');
    assert.ok(existsSync(join(folder, 'session/login-1')));
    server.setFault(undefined);

    const repository = await reopen(volume.path, access);
    assert.deepEqual(processesIn(folder), []);
    for (const name of leftovers) assert.ok(!existsSync(join(bare, name)), name);
    assert.deepEqual(await readdir(join(folder, 'session')), ['home']);
    expectKind(await repository.fetch('main', access), 'ok');
    await repository.close();
    assert.deepEqual(await readdir(folder), ['git']);
    await volume.remove();
  });

  it('does not take a branch of a strange name for something left behind', async () => {
    const access = anonymous(server.url('fleet'));
    await commitTo(server.bareDir('fleet'), 'objects/tmp_pack_x.keep', { 'a.yaml': '1\n' });
    const { volume, repository } = await openFor(access);
    const { tip } = expectKind(await repository.fetch('objects/tmp_pack_x.keep', access), 'ok');
    await repository.close();
    const again = await reopen(volume.path, access);
    assert.equal(await again.remoteTip('objects/tmp_pack_x.keep'), tip);
  });

  it('leaves neither lock nor login when the process ends without closing it', async () => {
    const volume = temporaryFolder('git-volume');
    const folder = repositoryFolder(volume.path, anonymous(server.url('fleet')).url);
    const { code, stderr } = await run(process.execPath, [holder, volume.path, server.url('fleet')]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await readdir(folder), ['git']);
    await volume.remove();
  });

  it('takes a lock over that a dead process, another boot or a power loss left', async () => {
    const { volume, repository } = await openFor(nowhere);
    const owner = join(repositoryFolder(volume.path, nowhere.url), 'owner');
    const mine: Record<string, unknown> = JSON.parse(await readFile(owner, 'utf8'));
    await repository.close();
    const dead = [
      { ...mine, started: '1' },
      { ...mine, boot: 'other' },
      { ...mine, host: 'other' },
      { ...mine, pid: 2 ** 22 + 1 },
    ];
    for (const text of [...dead.map((one) => JSON.stringify(one)), '', '{"pid":']) {
      await writeFile(owner, text);
      const opened = expectKind(await open(volume.path), 'ok');
      await opened.repository.close();
    }
  });

  it('is made anew from the remote when it is broken, and says that what it kept is lost', async () => {
    const breaks: readonly ((bare: string) => Promise<void>)[] = [
      (bare) => rm(join(bare, 'HEAD')),
      (bare) => rm(join(bare, 'objects'), { recursive: true }),
      async (bare) => {
        // A commit that a power loss left empty.
        const tip = (await readFile(join(bare, 'refs/reverser/handled/key'), 'utf8')).trim();
        const file = join(bare, 'objects', tip.slice(0, 2), tip.slice(2));
        await rm(file);
        await writeFile(file, '');
      },
      (bare) => truncate(join(bare, 'refs/reverser/remote/main'), 0),
    ];
    for (const breakIt of breaks) {
      const access = anonymous(server.url('fleet'));
      const { volume, repository } = await openFor(access);
      expectKind(await repository.fetch('main', access), 'ok');
      await repository.keptTree('key').write([{ path: 'a', content: '1' }]);
      await repository.close();
      await breakIt(join(repositoryFolder(volume.path, access.url), 'git'));
      const opened = expectKind(
        await openRepository({ volume: volume.path, url: access.url, ambient: process.env, allowHttp: true }),
        'ok',
      );
      assert.equal(opened.state, 'recreated');
      assert.deepEqual(await opened.repository.keptTree('key').list(), []);
      expectKind(await opened.repository.fetch('main', access), 'ok');
      await opened.repository.close();
    }
  }).timeout(40_000);

  it('says CorruptRepository when it breaks under way, and works again once made anew', async () => {
    const access = anonymous(server.url('fleet'));
    const { volume, repository } = await openFor(access);
    const { tip } = expectKind(await repository.fetch('main', access), 'ok');
    const kept = repository.keptTree('key');
    await kept.write([{ path: 'a', content: '1' }]);
    await rm(join(repositoryFolder(volume.path, access.url), 'git/objects'), { recursive: true });
    await mkdir(join(repositoryFolder(volume.path, access.url), 'git/objects'));
    const commits = [spec('x', [{ path: 'b', content: '1' }])];
    const failure = expectKind(await repository.commit({ branch: 'main', base: tip, commits }), 'failed');
    assert.equal(failure.reason, 'CorruptRepository', failure.message);
    assert.equal(await repository.recreate(), undefined);
    assert.equal(expectKind(await repository.fetch('main', access), 'ok').history, 'first');
    await kept.write([{ path: 'b', content: '2' }]);
    assert.deepEqual(
      (await kept.list()).map((file) => file.path),
      ['b'],
    );
    assert.equal((await repository.reader.readTree(tip)).length, 1);
  });

  it('says DiskFull, and goes on when there is room again', async function () {
    const folder = temporaryFolder('small-disk');
    const mounted =
      process.getuid?.() === 0 &&
      (await run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder.path])).code === 0;
    if (!mounted) {
      console.log('      skipped: a small disk can be mounted only by root');
      await folder.remove();
      this.skip();
    }
    try {
      const repository = await reopen(folder.path, nowhere);
      const base = await commitOne(repository, 'main', null, [{ path: 'a', content: '1' }]);
      const commits = [spec('x', [{ path: 'big', content: randomBytes(4_000_000) }])];
      const failure = expectKind(await repository.commit({ branch: 'main', base, commits }), 'failed');
      assert.equal(failure.reason, 'DiskFull', failure.message);
      await assert.rejects(
        repository.keptTree('key').write([{ path: 'big', content: randomBytes(4_000_000) }]),
        /space/,
      );
      await commitOne(repository, 'main', base, [{ path: 'small', content: '2' }]);
      // Not even the login can be written.
      await run('sh', ['-c', `dd if=/dev/zero of=${folder.path}/filler bs=4k status=none`]);
      const stuck = expectKind(
        await repository.fetch('main', basic(nowhere.url.remote, 'bob', 'pw')),
        'failed',
      );
      assert.equal(stuck.reason, 'DiskFull', stuck.message);
      await repository.close();
    } finally {
      await run('umount', ['-l', folder.path]);
      await folder.remove();
    }
  });
});
