import assert from 'node:assert/strict';
import { anonymous, openFor, reopen } from './remote-fixture.ts';

const nowhere = anonymous('https://git.example.com/fleet');

describe('a kept tree', () => {
  it('is found again after a restart, and after a repack', async () => {
    const { repository, volume } = await openFor(nowhere);
    const tree = repository.keptTree('uid-1/target');
    assert.deepEqual(await tree.list(), []);
    await tree.write([
      { path: 'objects/ab/1', content: '{"a":1}' },
      { path: 'objects/ab/2', content: '{"a":2}' },
      { path: 'collections.json', content: '{}' },
    ]);
    await tree.write([
      { path: 'objects/ab/1', content: null },
      { path: 'objects/ab/2', content: '{"a":3}' },
      { path: 'objects/none', content: null },
    ]);
    const packed = await repository.maintain({ maxLooseObjects: 0 });
    assert.ok(packed.kind === 'ok' && packed.repacked);
    await repository.close();

    const again = (await reopen(volume.path, nowhere)).keptTree('uid-1/target');
    const listed = await again.list();
    assert.deepEqual(
      listed.map((file) => file.path),
      ['collections.json', 'objects/ab/2'],
    );
    assert.equal(Buffer.from(await again.read(listed[1]?.id ?? '')).toString(), '{"a":3}');
  });

  it('keeps trees of different keys apart, and forgets one without the other', async () => {
    const { repository } = await openFor(nowhere);
    const one = repository.keptTree('a/b');
    const other = repository.keptTree('a%2Fb');
    assert.equal(repository.keptTree('a/b'), one);
    await one.write([{ path: 'x', content: '1' }]);
    await other.write([{ path: 'y', content: '2' }]);
    await one.remove();
    assert.deepEqual(await one.list(), []);
    assert.deepEqual(
      (await other.list()).map((file) => file.path),
      ['y'],
    );
    await one.write([{ path: 'z', content: '3' }]);
    assert.deepEqual(
      (await one.list()).map((file) => file.path),
      ['z'],
    );
  });

  it('takes any key', async () => {
    const { repository } = await openFor(nowhere);
    const keys = ['a~b', 'x.lock', '.hidden', 'a..b', 'ä/ö', "it's (1)!", '@', '-x', 'a%2Eb', 'a.b'];
    for (const key of keys) await repository.keptTree(key).write([{ path: 'key', content: key }]);
    for (const key of keys) {
      const [file] = await repository.keptTree(key).list();
      assert.equal(Buffer.from(await repository.keptTree(key).read(file?.id ?? '')).toString(), key);
    }
  });

  it('takes concurrent writes in order', async () => {
    const { repository } = await openFor(nowhere);
    const tree = repository.keptTree('key');
    const writes = Array.from({ length: 20 }, (_unused, n) =>
      tree.write([
        { path: 'last', content: `${n}` },
        { path: `n/${n}`, content: `${n}` },
      ]),
    );
    await Promise.all(writes);
    const listed = await tree.list();
    assert.equal(listed.length, 21);
    assert.equal(Buffer.from(await tree.read(listed[0]?.id ?? '')).toString(), '19');
  });

  it('stays as it was when a write cannot be made', async () => {
    const { repository } = await openFor(nowhere);
    const tree = repository.keptTree('key');
    await tree.write([{ path: 'a', content: '1' }]);
    await assert.rejects(
      tree.write([
        { path: 'b', content: '2' },
        { path: '../c', content: '3' },
      ]),
      /must never reach git/,
    );
    assert.deepEqual(
      (await tree.list()).map((file) => file.path),
      ['a'],
    );
    await tree.write([{ path: 'd', content: '4' }]);
    assert.deepEqual(
      (await tree.list()).map((file) => file.path),
      ['a', 'd'],
    );
    await assert.rejects(tree.read('1'.repeat(40)), /has lost blob/);
  });
});
