import assert from 'node:assert/strict';
import { git } from '../cluster/git.ts';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { commitTo, listFiles, log, tip } from '../cluster/repository.ts';
import { anonymous, commitOne, expectKind, type Fixture, openFor } from './remote-fixture.ts';

describe('several writers of one branch', () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer();
  });
  after(async () => {
    await server.stop();
  });

  async function opened(name: string): Promise<Fixture & { base: string; bare: string }> {
    const bare = await server.createRepository(name, {
      files: { 'a.yaml': '1\n' },
      commits: [{ files: { 'b.yaml': '1\n' } }],
    });
    const fixture = await openFor(anonymous(server.url(name)));
    const { tip: base } = expectKind(await fixture.repository.fetch('main', fixture.access), 'ok');
    return { ...fixture, base, bare };
  }

  it('loses no commit when eight push at once', async () => {
    const bare = await server.createRepository('eight', { files: { 'a.yaml': '1\n' } });
    const access = anonymous(server.url('eight'));
    const writers = await Promise.all(Array.from({ length: 8 }, () => openFor(access)));
    let moves = 0;
    await Promise.all(
      writers.map(async ({ repository }, writer) => {
        for (let attempt = 1; ; attempt++) {
          assert.ok(attempt <= 12, 'a writer never got through');
          const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
          const newTip = await commitOne(repository, 'main', base, [
            { path: `w${writer}.yaml`, content: 'x\n' },
          ]);
          const result = await repository.push({ branch: 'main', newTip, expectedOld: base, access });
          if (result.kind === 'pushed') return;
          expectKind(result, 'moved');
          moves++;
        }
      }),
    );
    assert.ok(moves > 0, 'nobody was ever overtaken');
    assert.equal((await listFiles(bare, 'main')).length, 9);
    assert.equal((await log(bare, 'main')).length, 9);
  }).timeout(60_000);

  it('sees a rewritten branch with the commit both have in common', async () => {
    const { repository, access, base, bare } = await opened('rewritten');
    const root = (await git(['rev-parse', `${base}~1`], { cwd: bare })).trim();
    await git(['update-ref', 'refs/heads/main', root], { cwd: bare });
    const newTip = await commitTo(bare, 'main', { 'c.yaml': '1\n' });
    const fetched = expectKind(await repository.fetch('main', access), 'ok');
    assert.deepEqual(fetched, {
      kind: 'ok',
      tip: newTip,
      previous: base,
      history: 'rewritten',
      mergeBase: root,
    });
    const again = expectKind(await repository.fetch('main', access), 'ok');
    assert.equal(again.history, 'same');
  });

  it('does not bring back what a force-push took away', async () => {
    const { repository, access, base, bare } = await opened('rewound');
    const root = (await git(['rev-parse', `${base}~1`], { cwd: bare })).trim();
    await git(['update-ref', 'refs/heads/main', root], { cwd: bare });
    const newTip = await commitOne(repository, 'main', base, [{ path: 'a.yaml', content: '2\n' }]);
    // For git alone this push would move the branch forward.
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: base, access }), 'moved');
    assert.equal(await tip(bare, 'main'), root);
    const fetched = expectKind(await repository.fetch('main', access), 'ok');
    assert.deepEqual(
      { history: fetched.history, mergeBase: fetched.mergeBase },
      { history: 'rewritten', mergeBase: root },
    );
  });

  it('sees that our own push was taken away', async () => {
    const { repository, access, base, bare } = await opened('undone');
    const ours = await commitOne(repository, 'main', base, [{ path: 'a.yaml', content: '2\n' }]);
    expectKind(await repository.push({ branch: 'main', newTip: ours, expectedOld: base, access }), 'pushed');
    await git(['update-ref', 'refs/heads/main', base], { cwd: bare });
    await commitTo(bare, 'main', { 'theirs.yaml': '1\n' });
    const fetched = expectKind(await repository.fetch('main', access), 'ok');
    assert.deepEqual(
      { previous: fetched.previous, history: fetched.history, mergeBase: fetched.mergeBase },
      { previous: ours, history: 'rewritten', mergeBase: base },
    );
  });

  it('sees an unrelated history as that', async () => {
    const { repository, access, bare } = await opened('unrelated');
    const other = await commitTo(bare, 'other-root', { 'x.yaml': '1\n' });
    await git(['update-ref', 'refs/heads/main', other], { cwd: bare });
    const fetched = expectKind(await repository.fetch('main', access), 'ok');
    assert.deepEqual(
      { history: fetched.history, mergeBase: fetched.mergeBase },
      { history: 'unrelated', mergeBase: undefined },
    );
  });

  it('neither finds nor creates again a branch that was deleted', async () => {
    const { repository, access, base, bare } = await opened('deleted');
    await git(['update-ref', '-d', 'refs/heads/main'], { cwd: bare });
    const newTip = await commitOne(repository, 'main', base, [{ path: 'a.yaml', content: '2\n' }]);
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: base, access }), 'moved');
    assert.deepEqual(await repository.fetch('main', access), { kind: 'missing', previous: base });
    assert.equal(await tip(bare, 'main'), undefined);
    await repository.forgetBranch('main');
    assert.deepEqual(await repository.fetch('main', access), { kind: 'missing', previous: undefined });
  });

  it('does not overwrite a branch it believed absent', async () => {
    const { repository, access, base, bare } = await opened('absent');
    const theirs = await commitTo(bare, 'prod', { 'x.yaml': '1\n' });
    const newTip = await commitOne(repository, 'prod', base, [{ path: 'a.yaml', content: '2\n' }]);
    expectKind(await repository.push({ branch: 'prod', newTip, expectedOld: null, access }), 'moved');
    assert.equal(await tip(bare, 'prod'), theirs);
  });

  it('answers moved when somebody is faster by a hair: after our look, before our pack', async () => {
    const { repository, access, base, bare } = await opened('hair');
    const newTip = await commitOne(repository, 'main', base, [{ path: 'a.yaml', content: '2\n' }]);
    let theirs = '';
    server.setBefore(async (request) => {
      if (request.service !== 'git-receive-pack' || request.method !== 'POST' || theirs !== '') return;
      theirs = await commitTo(bare, 'main', { 'theirs.yaml': '1\n' });
    });
    const result = await repository.push({ branch: 'main', newTip, expectedOld: base, access });
    server.setBefore(undefined);
    expectKind(result, 'moved');
    assert.equal(await tip(bare, 'main'), theirs);
  });

  it('throws rather than drop commits', async () => {
    const { repository, access, base } = await opened('drop');
    const newTip = await commitOne(repository, 'main', null, [{ path: 'a.yaml', content: '2\n' }]);
    await assert.rejects(
      repository.push({ branch: 'main', newTip, expectedOld: base, access }),
      /would drop/,
    );
  });
});
