import assert from 'node:assert/strict';
import fc from 'fast-check';
import { objectKey } from '../../src/core/identity.ts';
import { HandledStates, type HandledUpdate } from '../../src/worker/handled.ts';
import { Journal } from '../../src/worker/journal.ts';

/** Files in memory, as a later process finds them. */
function memoryTree() {
  const files = new Map<string, string>();
  const writes: string[][] = [];
  return {
    files,
    writes,
    list: async () => [...files.keys()].map((path) => ({ path, id: path })),
    read: async (path: string) => Buffer.from(files.get(path) ?? ''),
    async write(changed: readonly { path: string; content: string | null }[]) {
      writes.push(changed.map(({ path }) => path));
      for (const { path, content } of changed) {
        if (content === null) files.delete(path);
        else files.set(path, content);
      }
    },
    remove: async () => files.clear(),
  };
}

const noJournal = () => new Journal({ read: async () => undefined, write: async () => undefined });

const updates = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    version: fc.option(fc.nat(9), { nil: undefined }),
  }),
  { maxLength: 5 },
);

function updateOf({ name, version }: { name: string; version: number | undefined }): HandledUpdate {
  const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name };
  const key = objectKey(id);
  if (version === undefined) return { key, record: undefined, body: undefined };
  const record = { id, uid: `uid-${name}`, resourceVersion: `${version}`, digest: `digest-${version}` };
  return { key, record, body: JSON.stringify({ version }) };
}

describe('handled states', () => {
  it('are after a restart what they were before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(updates, { maxLength: 6 }), async (steps) => {
        const tree = memoryTree();
        const states = new HandledStates(tree, noJournal());
        for (const step of steps) await states.put(step.map(updateOf));
        const later = new HandledStates(tree, noJournal());
        await later.load();
        assert.deepEqual(new Map(later.records()), new Map(states.records()));
        const versions = [...later.records()].map(([key, { resourceVersion }]) => [key, resourceVersion]);
        assert.deepEqual([...later.versions()], versions);
        const bodies = [...tree.files.keys()].filter((path) => path.startsWith('objects/'));
        assert.equal(bodies.length, states.size);
      }),
    );
  });

  it('write for one object its body and the shard it stands in, not the others', async () => {
    const tree = memoryTree();
    const states = new HandledStates(tree, noJournal());
    const names = Array.from({ length: 50 }, (_unused, index) => `name-${index}`);
    await states.put(names.map((name) => updateOf({ name, version: 1 })));
    await states.put([updateOf({ name: 'name-7', version: 2 })]);
    assert.deepEqual(
      tree.writes.at(-1)?.map((path) => path.split('/')[0]),
      ['objects', 'index'],
    );
  });
});
