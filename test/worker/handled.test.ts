import assert from 'node:assert/strict';
import fc from 'fast-check';
import { objectKey } from '../../src/core/identity.ts';
import { digestOf, HandledStates, type HandledUpdate } from '../../src/worker/handled.ts';
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
    name: fc.constantFrom('a', 'b', 'system:c', 'd.e', 'd/e', 'say "f"'),
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
  it('stand in their file one a line, whatever their names are', async () => {
    const tree = memoryTree();
    const states = new HandledStates(tree, noJournal());
    const { record } = updateOf({ name: 'sealed', version: 3 });
    const sealed = record && { ...record, documentBlob: 'blob' };
    const odd = ['a', 'd/e', 'say "f"', 'b\\c', 'bär'];
    await states.put([
      ...odd.map((name) => updateOf({ name, version: 1 })),
      { key: '/ConfigMap/shop/sealed', record: sealed, body: undefined },
    ]);
    const files = [...tree.files].filter(([path]) => path.startsWith('index/')).map(([, text]) => text);
    const lines = files.flatMap((text) => text.split('\n')).filter((line) => line !== '');
    const read = new Map(lines.map((line) => JSON.parse(line)).map((fields) => [fields[3], fields]));
    for (const name of odd)
      assert.deepEqual(read.get(name), ['', 'ConfigMap', 'shop', name, `uid-${name}`, '1', 'digest-1']);
    assert.deepEqual(read.get('sealed')?.slice(4), ['uid-sealed', '3', 'digest-3', 'blob']);
  });

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

  // The next edit of an object was once planned as if it had never been handled, and live won over what Git had since.
  it('give the body of a record before it is on the volume, and when the volume is full', async () => {
    const files = new Map<string, Buffer>();
    let finish: (error?: Error) => void = () => undefined;
    const states = new HandledStates(
      {
        list: async () => [],
        async read(id) {
          const content = files.get(id);
          if (content === undefined) throw new Error('not there');
          return content;
        },
        write: () =>
          new Promise((resolve, reject) => {
            finish = (error) => (error === undefined ? resolve() : reject(error));
          }),
      },
      noJournal(),
    );
    const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' };
    const { digest, body } = digestOf({ kind: 'ConfigMap', data: { a: '1' } }, undefined);
    const record = { id, uid: 'u', resourceVersion: '1', digest };
    const first = states.put([{ key: objectKey(id), record, body }]);
    assert.deepEqual(await states.body(record), JSON.parse(body));
    await new Promise(setImmediate);
    assert.deepEqual(await states.body(record), JSON.parse(body), 'while it is written');
    finish(new Error('no space left'));
    await assert.rejects(first);
    assert.deepEqual(await states.body(record), JSON.parse(body), 'when it could not be written');
    assert.equal(await states.body({ ...record, digest: 'another' }), undefined);

    const second = states.put([]);
    await new Promise(setImmediate);
    files.set(digest, Buffer.from(body));
    finish();
    await second;
    assert.deepEqual(await states.body(record), JSON.parse(body), 'from the volume');
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

  it('fit each other on the volume after every write, whatever changes while they are printed', async () => {
    const tree = memoryTree();
    const names = Array.from({ length: 3_000 }, (_, index) => `name-${index}`);
    const put = (some: readonly string[], version: number) =>
      states.put(
        some.map((name) => ({ ...updateOf({ name, version }), body: JSON.stringify({ name, version }) })),
      );
    const torn: string[] = [];
    let count = 0;
    const write = tree.write.bind(tree);
    const states = new HandledStates(
      {
        ...tree,
        async write(files) {
          count += 1;
          if (count === 2) throw new Error('the volume is full');
          await write(files);
          const [bodies, records] = [new Map<string, string>(), new Map<string, string>()];
          for (const [path, text] of tree.files) {
            if (path.startsWith('objects/')) bodies.set(JSON.parse(text).name, `${JSON.parse(text).version}`);
            else
              for (const line of text.trimEnd().split('\n'))
                records.set(JSON.parse(line)[3], JSON.parse(line)[5]);
          }
          for (const name of new Set([...bodies.keys(), ...records.keys()]))
            if (bodies.get(name) !== records.get(name)) torn.push(name);
        },
      },
      noJournal(),
    );
    const writing = [put(names, 1)];
    for (let version = 2; version < 12; version++) {
      await new Promise((resolve) => setImmediate(resolve));
      writing.push(put(names.slice(version * 100, version * 250), version));
      if (version % 4 === 0) writing.push(put(names, version + 20));
    }
    const ended = await Promise.allSettled(writing);
    assert.equal(
      ended.some(({ status }) => status === 'rejected'),
      true,
    );
    await put(['name-0'], 99).catch(() => put(['name-0'], 99));
    assert.deepEqual(torn, []);
    const later = new HandledStates(tree, noJournal());
    await later.load();
    assert.deepEqual(new Map(later.versions()), new Map(states.versions()));
  });
});
