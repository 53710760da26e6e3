import assert from 'node:assert/strict';
import { join } from 'node:path';
import { gitEnvironment } from '../../src/git/environment.ts';
import { Reader } from '../../src/git/reader.ts';
import { repositoryFolder } from '../../src/git/repository.ts';
import { Children } from '../../src/git/run.ts';
import { git } from '../cluster/git.ts';
import { processes } from './processes.ts';
import { anonymous, commitOne, openFor } from './remote-fixture.ts';

const nowhere = anonymous('https://git.example.com/fleet');

async function readers() {
  const { repository, volume } = await openFor(nowhere);
  const dir = join(repositoryFolder(volume.path, nowhere.url), 'git');
  const children = new Children();
  const raw = { dir, environment: gitEnvironment(process.env, dir, volume.path), children };
  return {
    repository,
    dir,
    children,
    reader: repository.reader,
    bounded: new Reader(raw, { maxBlobBytes: 1_000 }),
  };
}

/** The resident git processes of one repository. */
function residents(dir: string): number[] {
  return processes()
    .filter(({ cwd, args }) => cwd === dir && args.includes('cat-file'))
    .map(({ pid }) => pid);
}

describe('the reader', () => {
  it('answers many questions at once, each with its own content', async () => {
    const { repository, reader, dir } = await readers();
    const files = Array.from({ length: 300 }, (_unused, n) => ({
      path: `f${n}`,
      content: `${n}:${'x'.repeat(n * 7)}`,
    }));
    const commit = await commitOne(repository, 'main', null, files);
    const tree = await reader.readTree(commit);
    const blobs = await reader.readBlobs(tree.map((entry) => entry.id));
    for (const { path, id, size } of tree) {
      const n = Number(path.slice(1));
      assert.equal(blobs.get(id)?.toString(), `${n}:${'x'.repeat(n * 7)}`);
      assert.equal(blobs.get(id)?.length, size);
    }
    assert.equal(residents(dir).length, 1);
  });

  it('goes on after its process was killed, with questions open', async () => {
    const { repository, reader, dir } = await readers();
    const commit = await commitOne(repository, 'main', null, [{ path: 'a', content: 'x'.repeat(100_000) }]);
    const [entry] = await reader.readTree(commit);
    assert.ok(entry);
    assert.equal((await reader.readBlob(entry.id))?.length, 100_000);
    for (let round = 0; round < 3; round++) {
      const reading = Promise.all(Array.from({ length: 50 }, () => reader.readBlob(entry.id)));
      for (const pid of residents(dir)) process.kill(pid, 'SIGKILL');
      const read = await reading;
      assert.ok(read.every((content) => content?.length === 100_000));
    }
  });

  it('says what is missing, and refuses what is too large without losing its place', async () => {
    const { repository, bounded } = await readers();
    const commit = await commitOne(repository, 'main', null, [
      { path: 'large', content: 'x'.repeat(1_001) },
      { path: 'small', content: 's' },
    ]);
    const [large, small] = await bounded.readTree(commit);
    assert.ok(large && small);
    const [missing, refused, read] = await Promise.allSettled([
      bounded.readBlob('1'.repeat(40)),
      bounded.readBlob(large.id),
      bounded.readBlob(small.id),
    ]);
    assert.deepEqual(missing, { status: 'fulfilled', value: undefined });
    assert.match(String(refused?.status === 'rejected' && refused.reason), /1001 bytes/);
    assert.equal(read?.status === 'fulfilled' && read.value?.toString(), 's');
    await bounded.close();
    await assert.rejects(bounded.readBlob(small.id), /closed/);
  });

  it('sees objects that came after it was started, and those that moved into a pack', async () => {
    const { repository, reader } = await readers();
    const first = await commitOne(repository, 'main', null, [{ path: 'a', content: '1' }]);
    assert.equal(await reader.hasCommit(first), true);
    const second = await commitOne(repository, 'main', first, [{ path: 'a', content: '2' }]);
    assert.equal(await reader.hasCommit(second), true);
    const packed = await repository.maintain({ maxLooseObjects: 0 });
    assert.ok(
      packed.kind === 'ok' && packed.repacked && packed.size.looseObjects === 0,
      JSON.stringify(packed),
    );
    const [entry] = await reader.readTree(second);
    assert.equal((await reader.readBlob(entry?.id ?? ''))?.toString(), '2');
    assert.equal((await repository.maintain()).kind === 'ok', true);
  });

  it('names the tree of a folder, so that two commits can be compared without reading them', async () => {
    const { repository, reader } = await readers();
    const first = await commitOne(repository, 'main', null, [
      { path: 'apps/a', content: '1' },
      { path: 'other', content: '1' },
    ]);
    const second = await commitOne(repository, 'main', first, [{ path: 'other', content: '2' }]);
    assert.equal(await reader.treeId(first, 'apps'), await reader.treeId(second, 'apps'));
    assert.notEqual(await reader.treeId(first), await reader.treeId(second));
    assert.equal(await reader.treeId(first, 'none'), undefined);
    assert.equal(await reader.treeId(first, 'other'), undefined);
    assert.equal(await reader.treeId('1'.repeat(40)), undefined);
    assert.equal(await reader.hasCommit('1'.repeat(40)), false);
  });

  it('lists links, executables and odd names as they are, and nothing below a folder that is not there', async () => {
    const { repository, reader, dir } = await readers();
    const blob = (await git(['hash-object', '-w', '--stdin'], { cwd: dir, stdin: 'target' })).trim();
    const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
    await git(['hash-object', '-t', 'tree', '-w', '/dev/null'], { cwd: dir });
    const entries = [
      `120000 blob ${blob}\tlink`,
      `100755 blob ${blob}\trun me`,
      `100644 blob ${blob}\tübung\n2`,
    ];
    const names = entries.map((entry) => `${entry}\0`).join('');
    const tree = (await git(['mktree', '-z'], { cwd: dir, stdin: names })).trim();
    assert.deepEqual(
      (await reader.readTree(tree)).map(({ path, mode, size }) => [path, mode, size]),
      [
        ['link', '120000', 6],
        ['run me', '100755', 6],
        ['übung\n2', '100644', 6],
      ],
    );
    assert.deepEqual(await reader.readTree(empty), []);
    assert.deepEqual(await reader.readTree(tree, 'none'), []);
    await assert.rejects(reader.readTree('1'.repeat(40)), /listing the files/);
    const commit = await commitOne(repository, 'main', null, [
      { path: 'a*/x', content: '1' },
      { path: 'ab/y', content: '2' },
    ]);
    assert.deepEqual(
      (await reader.readTree(commit, 'a*')).map((entry) => entry.path),
      ['a*/x'],
    );
  });
});
