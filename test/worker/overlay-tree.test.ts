import assert from 'node:assert/strict';
import { blobId } from '../../src/worker/handled.ts';
import { OverlayTree } from '../../src/worker/overlay-tree.ts';

const entry = (path: string) => ({ path, mode: '100755' as const, id: `id of ${path}`, size: 1 });
const readBlob = async (id: string) => Buffer.from(`read ${id}`);

describe('a tree with edits on top', () => {
  it('holds new, changed and removed files, and leaves lists handed out before as they were', async () => {
    const tree = new OverlayTree(['a', 'b', 'c'].map(entry), readBlob);
    const before = tree.entries();
    const content = Buffer.from('new');
    tree.apply([
      { path: 'b', content: null },
      { path: 'c', content },
      { path: 'd', content },
    ]);
    assert.deepEqual(
      before.map(({ path }) => path),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(
      tree.entries().map(({ path, mode }) => [path, mode]),
      [
        ['a', '100755'],
        ['c', '100755'],
        ['d', '100644'],
      ],
    );
    assert.equal(tree.idOf('d'), blobId(content));
    assert.equal(tree.idOf('b'), undefined);
    assert.equal(Buffer.from(await tree.read('c')).toString(), 'new');
    assert.equal(Buffer.from(await tree.read('a')).toString(), 'read id of a');
    await assert.rejects(tree.read('b'), /b is not in the tree/);
  });

  it('reads back from the repository what is committed', async () => {
    const tree = new OverlayTree([], readBlob);
    const content = Buffer.from('new');
    tree.apply([{ path: 'd', content }]);
    tree.forgetContent();
    assert.equal(Buffer.from(await tree.read('d')).toString(), `read ${blobId(content)}`);
  });
});
