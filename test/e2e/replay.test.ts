import assert from 'node:assert/strict';
import { git } from '../cluster/git.ts';
import { commitTo, createBareRepository, listFiles, log, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import {
  annotate,
  condition,
  deployment,
  events,
  flush,
  metric,
  moved,
  movedSince,
  patience,
  status,
} from './shop.ts';
import { mirror, mirrorObjects, ready, type Sidecar, startWorld, type World } from './sidecar.ts';

const web = 'apps/shop/web.yaml';
const queue = 'apps/shop/queue.yaml';

describe('somebody else pushes to the same branch', function () {
  this.timeout(300_000);
  let world: World;
  let sidecar: Sidecar;

  before(async () => {
    world = await startWorld();
    sidecar = await world.start();
  });
  after(() => world?.stop());

  /** A folder with two Deployments, live as in Git, and nothing left to do. */
  async function shop(name: string): Promise<string> {
    const files = { [web]: deployment('web'), [queue]: deployment('queue') };
    const live = `${deployment('web')}---\n${deployment('queue')}`;
    const bareDir = await mirror(world, { name, files, live });
    await flush(world, name);
    return bareDir;
  }

  const scale = (name: string, replicas: number, object = 'web') =>
    world.kubectl('scale', 'deployment', object, '-n', name, `--replicas=${replicas}`);

  /** Pushes as a colleague in the very moment before our next push is taken. */
  function beforeOurPush(name: string, push: () => Promise<unknown>): void {
    let once = false;
    world.git.setBefore(async ({ method, service, path }) => {
      if (once || method !== 'POST' || service !== 'git-receive-pack' || !path.includes(`/${name}.git/`))
        return;
      once = true;
      await push();
    });
  }
  afterEach(() => world.git.setBefore(undefined));

  it('a push between our decision and our push: both changes stay, nothing is forced', async () => {
    const name = 'race';
    const bareDir = await shop(name);
    let theirs = '';
    beforeOurPush(name, async () => {
      theirs = await commitTo(bareDir, 'main', { [queue]: deployment('queue', { image: 'queue:4' }) });
    });
    await scale(name, 4);
    await until(
      'our commit is on top',
      async () => theirs !== '' && (await tip(bareDir, 'main')) !== theirs,
      patience,
    );
    await flush(world, name);
    const { lines, files, commits } = await movedSince(bareDir, theirs);
    assert.deepEqual(lines, [
      '-  replicas: 2  # as many as the team agreed on',
      '+  replicas: 4  # as many as the team agreed on',
    ]);
    assert.deepEqual([files, commits.length], [[web], 1]);
    assert.match((await readFile(bareDir, 'main', queue)) ?? '', /queue:4/);
  });

  it('the colleague pushed our very value: there is no commit of ours', async () => {
    const name = 'same';
    const bareDir = await shop(name);
    let theirs = '';
    beforeOurPush(name, async () => {
      theirs = await commitTo(bareDir, 'main', { [web]: deployment('web', { replicas: 4 }) });
    });
    await scale(name, 4);
    await until('the colleague has pushed', () => theirs, patience);
    await flush(world, name);
    assert.equal(await tip(bareDir, 'main'), theirs);
  });

  it('the colleague moved the file: the object is followed, not the path', async () => {
    const name = 'move';
    const bareDir = await shop(name);
    const moved = 'apps/shop/web/deployment.yaml';
    let theirs = '';
    beforeOurPush(name, async () => {
      theirs = await commitTo(bareDir, 'main', { [web]: null, [moved]: deployment('web') });
    });
    await scale(name, 4);
    await until(
      'our commit is on top',
      async () => theirs !== '' && (await tip(bareDir, 'main')) !== theirs,
      patience,
    );
    await flush(world, name);
    assert.deepEqual((await movedSince(bareDir, theirs)).files, [moved]);
    assert.match((await readFile(bareDir, 'main', moved)) ?? '', /replicas: 4 {2}# as many/);
  });

  it('the colleague deleted the document of a live edit: live wins, and an Event names the commit', async () => {
    const name = 'deleted';
    const bareDir = await shop(name);
    let theirs = '';
    beforeOurPush(name, async () => {
      theirs = await commitTo(bareDir, 'main', { [web]: null });
    });
    await scale(name, 4);
    await until(
      'our commit is on top',
      async () => theirs !== '' && (await tip(bareDir, 'main')) !== theirs,
      patience,
    );
    await flush(world, name);
    const written = await movedSince(bareDir, theirs);
    assert.equal(written.files.length, 1);
    assert.match(written.lines.join('\n'), /\+ {2}replicas: 4/);
    const told = (await events(world, name)).filter((text) => text.includes('Git deleted'));
    assert.match(told.join('\n'), new RegExp(`Deployment.apps/deleted/web.*${theirs.slice(0, 12)}`));
  });

  it('the colleague deleted the document of an object nobody edited: it stays deleted', async () => {
    const name = 'pruned';
    const bareDir = await shop(name);
    const theirs = await commitTo(bareDir, 'main', { [web]: null });
    const { files } = await moved(world, name, bareDir, () => scale(name, 4, 'queue'));
    assert.deepEqual(files, [queue]);
    assert.equal(await readFile(bareDir, theirs, web), undefined);
  });

  it('eight writers and a colleague on one branch: every edit of all of them arrives', async () => {
    const writers = Array.from({ length: 8 }, (_one, index) => `writer-${index}`);
    const bareDir = await world.git.createRepository('crowd', { files: { 'README.md': '# test\n' } });
    for (const name of writers) {
      await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
      const folder = { name, path: `teams/${name}`, branch: 'main', url: world.git.url('crowd') };
      await world.apply(mirrorObjects(world, folder));
    }
    for (const name of writers) await ready(world, name, 60_000);
    let pushing = true;
    const colleague = (async () => {
      let count = 0;
      for (; pushing; count += 1)
        await commitTo(bareDir, 'main', { [`notes/${count}.md`]: `${count}\n` }).catch(() => undefined);
      return count;
    })();
    const edits = ['one', 'two', 'three', 'four'];
    await Promise.all(
      writers.map(async (name) => {
        for (const edit of edits)
          await world.kubectl('create', 'configmap', edit, '-n', name, '--from-literal=k=v');
      }),
    );
    pushing = false;
    const notes = await colleague;
    for (const name of writers) await flush(world, name);
    const files = await listFiles(bareDir, 'main');
    for (const name of writers) {
      const written = files.filter(
        (path) => path.startsWith(`teams/${name}/`) && /(one|two|three|four)\.yaml$/.test(path),
      );
      assert.equal(written.length, edits.length, `${name}: ${written.join(' ')}`);
    }
    const history = await log(bareDir, 'main');
    assert.ok(notes > 0);
    for (const note of history.filter(({ author }) => author === 'Bob')) assert.equal(note.files.length, 1);
  });

  it('an unrelated history stops the branch until a person accepts it, and no edit is lost', async () => {
    const name = 'unrelated';
    const bareDir = await shop(name);
    await scale(name, 3);
    await flush(world, name);
    const other = await world.git.createRepository('other', {
      files: { [web]: deployment('web', { image: 'nginx:2' }) },
    });
    const theirs = (await tip(other, 'main')) ?? '';
    await git(['fetch', '--quiet', other, '+main:main'], { cwd: bareDir });
    await scale(name, 4);
    await condition(world, ['gitbranch', name, `${name}-main`], 'Ready', {
      ...{ status: 'False', reason: 'HistoryRewritten', message: /requestedAt/ },
    });
    await condition(world, ['gittarget', name], 'Ready', { status: 'False', reason: 'HistoryRewritten' });
    await scale(name, 5);
    assert.equal(await tip(bareDir, 'main'), theirs, 'nothing may be written to a history nobody accepted');
    await annotate(world, 'gitbranch', name, 'requestedAt', undefined, `${name}-main`);
    await condition(world, ['gitbranch', name, `${name}-main`], 'Ready', { status: 'True' });
    await flush(world, name);
    const { lines } = await movedSince(bareDir, theirs);
    assert.deepEqual(
      lines.filter((line) => line.includes('agreed on')),
      ['-  replicas: 2  # as many as the team agreed on', '+  replicas: 5  # as many as the team agreed on'],
    );
  });

  it('a rewrite with a common ancestor: edits that fell out are written again, with an Event', async () => {
    const name = 'rewrite';
    const bareDir = await shop(name);
    const base = (await tip(bareDir, 'main')) ?? '';
    await scale(name, 6);
    await flush(world, name);
    const lost = (await tip(bareDir, 'main')) ?? '';
    assert.notEqual(lost, base);
    await git(['update-ref', 'refs/heads/main', base], { cwd: bareDir });
    const theirs = await commitTo(bareDir, 'main', { [queue]: deployment('queue', { image: 'queue:5' }) });
    await world.kubectl('create', 'configmap', 'spark', '-n', name, '--from-literal=k=v');
    await until(
      'the lost edit is there again',
      async () => /replicas: 6/.test((await readFile(bareDir, 'main', web)) ?? ''),
      patience,
    );
    await flush(world, name);
    const { commits } = await movedSince(bareDir, theirs);
    assert.ok(commits.length >= 1);
    assert.match((await readFile(bareDir, 'main', queue)) ?? '', /queue:5/);
    const told = (await events(world, name)).filter((text) => text.startsWith('CommitsFellOut'));
    assert.match(told.join('\n'), new RegExp(lost.slice(0, 12)));
  });

  it('a deleted branch stops until a person accepts it, then it is made again', async () => {
    const name = 'gone';
    const bareDir = await shop(name);
    await scale(name, 3);
    await flush(world, name);
    await git(['update-ref', '-d', 'refs/heads/main'], { cwd: bareDir });
    await scale(name, 4);
    await condition(world, ['gitbranch', name, `${name}-main`], 'Ready', {
      status: 'False',
      reason: 'BranchGone',
    });
    assert.equal(await tip(bareDir, 'main'), undefined);
    await annotate(world, 'gitbranch', name, 'requestedAt', undefined, `${name}-main`);
    await until('the branch is there again', () => tip(bareDir, 'main'), patience);
    await flush(world, name);
    assert.match(
      (
        await Promise.all((await listFiles(bareDir, 'main')).map((path) => readFile(bareDir, 'main', path)))
      ).join(''),
      /replicas: 4/,
    );
  });

  it('a branch never seen starts from the default branch with the first edit', async () => {
    const name = 'fresh';
    const bareDir = await mirror(world, {
      name,
      branch: 'main',
      files: { [web]: deployment('web') },
      live: deployment('web'),
    });
    await flush(world, name);
    const start = (await tip(bareDir, 'main')) ?? '';
    const branch = 'live';
    const second = 'fresh-live';
    await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: second } }]);
    await world.apply(deployment('web'), ['-n', second]);
    const folder = { name: second, path: 'apps/shop', branch, url: world.git.url(name) };
    await world.apply(mirrorObjects(world, folder));
    await ready(world, second, 60_000);
    await flush(world, second);
    assert.equal(await tip(bareDir, branch), undefined, 'without an edit there is no branch');
    await scale(second, 9);
    await until('the branch is there', () => tip(bareDir, branch), patience);
    await flush(world, second);
    const history = await log(bareDir, branch);
    assert.equal(history.at(-1)?.sha, start);
    assert.match((await readFile(bareDir, branch, web)) ?? '', /replicas: 9 {2}# as many/);
    assert.equal(
      (await status(world, 'gitbranch', second, `${second}-live`)).lastPushedCommit,
      history[0]?.sha,
    );
  });

  it('an empty repository gets its first commit', async () => {
    const name = 'empty';
    const bareDir = world.git.bareDir(name);
    await createBareRepository(bareDir);
    await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
    await world.apply(mirrorObjects(world, { name, path: 'apps/shop', branch: 'main' }));
    await ready(world, name, 60_000);
    await world.kubectl('create', 'configmap', 'first', '-n', name, '--from-literal=k=v');
    await flush(world, name);
    assert.ok((await listFiles(bareDir, 'main')).some((path) => path.endsWith('/first.yaml')));
    assert.ok((await metric(sidecar, 'git_pushes_total', 'outcome="pushed"')) > 0);
  });
});
