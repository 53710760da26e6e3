import assert from 'node:assert/strict';
import { HandledStates, type PrivateTree } from '../../src/worker/handled.ts';
import { Journal, type JournalEntry, type PrivateFile } from '../../src/worker/journal.ts';

const commit = 'a'.repeat(40);
const newer = 'b'.repeat(40);
const rates: JournalEntry = {
  id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'rates' },
  uid: 'u1',
  resourceVersion: '7',
  commit,
};
const key = '/ConfigMap/shop/rates';

/** A file that outlives its readers. */
function memoryFile(text?: string): PrivateFile & { text: string | undefined } {
  const file = {
    text,
    read: async () => file.text,
    write: async (written: string) => {
      file.text = written;
    },
  };
  return file;
}

const emptyTree: PrivateTree = {
  list: async () => [],
  read: async () => new Uint8Array(),
  write: async () => undefined,
};

describe('the journal of commits that are not recorded yet', () => {
  it('after a crash, an object in a commit of ours counts as handled, but equals no live object', async () => {
    const file = memoryFile();
    await new Journal(file).note([{ sequence: 3, entries: [rates] }]);
    const handled = new HandledStates(emptyTree, new Journal(file));
    await handled.load();
    assert.deepEqual(
      [...handled.records()].map(([one]) => one),
      [key],
    );
    assert.deepEqual([...handled.versions()], [[key, '7']]);
    assert.equal(handled.recorded(key), undefined);
    assert.notEqual(handled.get(key)?.digest, undefined);
  });

  it('forgets an object once its write is recorded, and keeps what a later write noted', async () => {
    const file = memoryFile();
    const journal = new Journal(file);
    await journal.note([
      { sequence: 3, entries: [rates] },
      { sequence: 4, entries: [{ ...rates, commit: newer }] },
    ]);
    await journal.settle([{ key, sequence: 3 }]);
    assert.match(file.text ?? '', new RegExp(newer));
    assert.doesNotMatch(file.text ?? '', new RegExp(commit));
    await journal.settle([{ key, sequence: 4 }]);
    assert.equal(file.text, '');
  });

  it('a write that is planned again replaces what was noted of it', async () => {
    const file = memoryFile();
    const journal = new Journal(file);
    await journal.note([{ sequence: 3, entries: [rates] }]);
    await journal.note([{ sequence: 3, entries: [{ ...rates, commit: newer }] }]);
    assert.doesNotMatch(file.text ?? '', new RegExp(commit));
  });

  it('takes broken lines for none', async () => {
    const file = memoryFile(`{"\n[1,2]\n["","ConfigMap","shop","rates","u1","7","no commit"]\n`);
    const journal = new Journal(file);
    await journal.load();
    assert.deepEqual(journal.leftKeys(), []);
  });
});
