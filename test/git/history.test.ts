import assert from 'node:assert/strict';
import { git } from '../cluster/git.ts';
import { anonymous, commitOne, openFor, person } from './remote-fixture.ts';

describe('history', () => {
  it('works with every variable an operator may set', async () => {
    const ambient = {
      ...process.env,
      GIT_EXEC_PATH: (await git(['--exec-path'])).trim(),
      GIT_SSL_CAINFO: '/etc/ssl/ca.pem',
      GIT_SSL_CAPATH: '/etc/ssl',
      https_proxy: 'http://proxy.example.com',
      NO_PROXY: '.svc',
      TMPDIR: '/tmp',
    };
    const { repository } = await openFor(anonymous('https://git.example.com/fleet'), { ambient });
    const commit = await commitOne(repository, 'main', null, [{ path: 'a.yaml', content: '1' }]);
    assert.equal((await repository.history.commitInfo(commit)).commit, commit);
  });

  it('names the commit that last changed a path, and the commits between two', async () => {
    const { repository } = await openFor(anonymous('https://git.example.com/fleet'));
    const { history } = repository;
    const first = await commitOne(
      repository,
      'main',
      null,
      [
        { path: 'a.yaml', content: '1' },
        { path: 'd/b.yaml', content: '1' },
      ],
      'First',
    );
    const second = await commitOne(
      repository,
      'main',
      first,
      [{ path: 'a.yaml', content: '2' }],
      'Second\n\nWhy: because\n\nTrailer: x',
    );
    const third = await commitOne(repository, 'main', second, [{ path: 'd/b.yaml', content: '2' }], 'Third');
    const side = await commitOne(repository, 'side', first, [{ path: 'c.yaml', content: '1' }], 'Side');
    const orphan = await commitOne(repository, 'orphan', null, [{ path: 'o.yaml', content: '1' }], 'Orphan');

    assert.equal((await history.lastCommitTouching('a.yaml', third))?.commit, second);
    assert.equal((await history.lastCommitTouching('d', third))?.commit, third);
    assert.equal(await history.lastCommitTouching('c.yaml', third), undefined);
    assert.deepEqual(await history.commitInfo(second), {
      commit: second,
      tree: await repository.reader.treeId(second),
      parents: [first],
      author: person,
      committer: { name: 'Reverser', email: 'bot@example.com', date: person.date },
      subject: 'Second',
      message: 'Second\n\nWhy: because\n\nTrailer: x',
    });
    assert.equal(await history.mergeBase(third, side), first);
    assert.equal(await history.mergeBase(third, orphan), undefined);
    assert.equal(await history.isAncestor(first, third), true);
    assert.equal(await history.isAncestor(third, third), true);
    assert.equal(await history.isAncestor(third, first), false);
    const subjects = async (...args: Parameters<typeof history.commitsBetween>) =>
      (await history.commitsBetween(...args)).map((commit) => commit.subject);
    assert.deepEqual(await subjects(first, third, 10), ['Third', 'Second']);
    assert.deepEqual(await subjects(undefined, third, 2), ['Third', 'Second']);
    assert.deepEqual(await subjects(undefined, third, 10, 'a.yaml'), ['Second', 'First']);
    assert.deepEqual(await subjects(third, first, 10), []);
    await assert.rejects(history.commitInfo('1'.repeat(40)));
    await assert.rejects(history.isAncestor('--all', third), /no object id/);
  });
});
