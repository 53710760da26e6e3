import assert from 'node:assert/strict';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { commitTo, diff, listFiles, log, readFile, tip } from '../cluster/repository.ts';
import { anonymous, commitOne, expectKind, openFor, spec } from './remote-fixture.ts';

describe('a repository over http', () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer();
  });
  after(async () => {
    await server.stop();
  });

  it('fetches, reads, commits and pushes one changed file', async () => {
    const bare = await server.createRepository('edit', {
      files: { 'apps/web.yaml': 'replicas: 1\n', 'README.md': 'x\n' },
    });
    const { repository, access, roundTrips, close } = await openFor(anonymous(server.url('edit')));
    const fetched = expectKind(await repository.fetch('main', access), 'ok');
    assert.equal(fetched.history, 'first');
    const tree = await repository.reader.readTree(fetched.tip);
    assert.deepEqual(
      tree.map(({ path, mode, size }) => ({ path, mode, size })),
      [
        { path: 'README.md', mode: '100644', size: 2 },
        { path: 'apps/web.yaml', mode: '100644', size: 12 },
      ],
    );
    const blob = await repository.reader.readBlob(tree[1]?.id ?? '');
    assert.equal(blob?.toString(), 'replicas: 1\n');
    const newTip = await commitOne(
      repository,
      'main',
      fetched.tip,
      [{ path: 'apps/web.yaml', content: 'replicas: 2\n' }],
      'Scale web',
    );
    assert.deepEqual(await repository.push({ branch: 'main', newTip, expectedOld: fetched.tip, access }), {
      kind: 'pushed',
    });
    assert.equal(await tip(bare, 'main'), newTip);
    assert.match(await diff(bare, fetched.tip, newTip), /-replicas: 1\n\+replicas: 2\n$/);
    const [newest] = await log(bare, 'main');
    assert.deepEqual(
      {
        author: newest?.author,
        committer: newest?.committer,
        subject: newest?.subject,
        files: newest?.files,
      },
      { author: 'Alice', committer: 'Reverser', subject: 'Scale web', files: ['apps/web.yaml'] },
    );
    assert.deepEqual(roundTrips, ['fetch', 'push']);
    await close();
  });

  it('makes several commits in one go, each on top of the one before', async () => {
    const bare = await server.createRepository('chain', { files: { 'a.yaml': '1\n' } });
    const { repository, access, close } = await openFor(anonymous(server.url('chain')));
    const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
    const commits = [1, 2, 3].map((n) => spec(`Edit ${n}`, [{ path: `n${n}.yaml`, content: `${n}\n` }]));
    const made = expectKind(await repository.commit({ branch: 'main', base, commits }), 'ok').commits;
    assert.equal(made.length, 3);
    const newTip = made[2]?.commit ?? '';
    assert.equal(await repository.reader.treeId(newTip), made[2]?.tree);
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: base, access }), 'pushed');
    assert.deepEqual((await log(bare, 'main')).map((commit) => commit.subject).slice(0, 3), [
      'Edit 3',
      'Edit 2',
      'Edit 1',
    ]);
    await close();
  });

  it('starts an empty repository with a commit that has no parent', async () => {
    const bare = await server.createRepository('empty');
    const { repository, access, close } = await openFor(anonymous(server.url('empty')));
    assert.deepEqual(await repository.fetch('main', access), { kind: 'missing', previous: undefined });
    const refs = expectKind(await repository.lsRemote(access), 'ok');
    assert.equal(refs.refs.size, 0);
    const newTip = await commitOne(repository, 'main', null, [{ path: 'a.yaml', content: 'a: 1\n' }]);
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: null, access }), 'pushed');
    assert.deepEqual(await listFiles(bare, 'main'), ['a.yaml']);
    await close();
  });

  it('creates a missing branch from the tip of the default branch', async () => {
    const bare = await server.createRepository('branch', { branch: 'trunk', files: { 'a.yaml': '1\n' } });
    const { repository, access, close } = await openFor(anonymous(server.url('branch')));
    const refs = expectKind(await repository.lsRemote(access), 'ok');
    assert.equal(refs.head, 'trunk');
    const { tip: base } = expectKind(await repository.fetch('trunk', access), 'ok');
    const newTip = await commitOne(repository, 'clusters/prod', base, [{ path: 'b.yaml', content: '2\n' }]);
    expectKind(
      await repository.push({ branch: 'clusters/prod', newTip, expectedOld: null, access }),
      'pushed',
    );
    assert.deepEqual(await listFiles(bare, 'clusters/prod'), ['a.yaml', 'b.yaml']);
    await close();
  });

  it('answers moved, and keeps both sides, when somebody pushed first', async () => {
    const bare = await server.createRepository('race', { files: { 'a.yaml': '1\n' } });
    const { repository, access, close } = await openFor(anonymous(server.url('race')));
    const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
    const theirs = await commitTo(bare, 'main', { 'b.yaml': 'theirs\n' });
    const stale = await commitOne(repository, 'main', base, [{ path: 'a.yaml', content: '2\n' }]);
    assert.deepEqual(await repository.push({ branch: 'main', newTip: stale, expectedOld: base, access }), {
      kind: 'moved',
    });
    const again = expectKind(await repository.fetch('main', access), 'ok');
    assert.deepEqual(
      { tip: again.tip, previous: again.previous, history: again.history },
      { tip: theirs, previous: base, history: 'ahead' },
    );
    const newTip = await commitOne(repository, 'main', again.tip, [{ path: 'a.yaml', content: '2\n' }]);
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: again.tip, access }), 'pushed');
    assert.equal(await readFile(bare, 'main', 'a.yaml'), '2\n');
    assert.equal(await readFile(bare, 'main', 'b.yaml'), 'theirs\n');
    await close();
  });
});
