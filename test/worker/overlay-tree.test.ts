import assert from 'node:assert/strict';
import fc from 'fast-check';
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

  it('holds what a map of its files would hold, in path order, also beyond the BMP', async () => {
    const path = fc.constantFrom('a', 'a/b', 'a-b', 'b', 'c/d/e', 'z', '\u{1f600}', '\uffe6', 'a.yaml');
    const content = fc.option(fc.constantFrom('one', 'two', 'three'));
    const edits = fc.array(fc.array(fc.tuple(path, content), { maxLength: 4 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(path), edits, fc.boolean(), async (listed, steps, isLookedUp) => {
        const byBytes = listed.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        const tree = new OverlayTree(byBytes.map(entry), readBlob);
        const files = new Map(byBytes.map((one) => [one, { ...entry(one) }]));
        let isChanged = false;
        const lists: [readonly unknown[], readonly unknown[]][] = [];
        for (const step of steps) {
          tree.apply(
            step.map(([one, text]) => ({ path: one, content: text === null ? null : Buffer.from(text) })),
          );
          for (const [one, text] of step) {
            const mode = files.get(one)?.mode ?? ('100644' as '100755');
            if (text === null) files.delete(one);
            else files.set(one, { path: one, mode, id: blobId(Buffer.from(text)), size: text.length });
          }
          if (isLookedUp) for (const [one] of step) assert.equal(tree.idOf(one), files.get(one)?.id);
          const list = tree.entries();
          lists.push([list, [...list]]);
          isChanged ||= step.length > 0;
          const inOrder = (some: Iterable<{ path: string }>) =>
            [...some].sort((one, other) => (one.path < other.path ? -1 : 1));
          assert.deepEqual(isChanged ? list : inOrder(list), inOrder(files.values()));
          assert.equal(tree.entries(), list, 'nothing changed, so nothing is listed anew');
          for (const one of listed) assert.equal(tree.idOf(one), files.get(one)?.id);
        }
        for (const [list, before] of lists) assert.deepEqual(list, before);
      }),
      { numRuns: 300 },
    );
  });
});
