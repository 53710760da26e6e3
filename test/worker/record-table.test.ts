import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ObjectId, objectKey } from '../../src/core/identity.ts';
import type { HandledRecord } from '../../src/worker/handled.ts';
import { packRecord, RecordTable, unpackRecord } from '../../src/worker/record-table.ts';

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const id: fc.Arbitrary<ObjectId> = fc.record(
  {
    group: fc.constantFrom('', 'apps', 'example.org'),
    kind: fc.constantFrom('ConfigMap', 'Deployment'),
    namespace: fc.constantFrom('', 'shop', 'größe', '名前'),
    name: fc.stringMatching(/^[a-c.\-:]{1,3}$/),
  },
  { noNullPrototype: true },
);
const record: fc.Arbitrary<HandledRecord> = fc
  .tuple(
    fc.record(
      {
        id,
        uid: fc.oneof(fc.uuid(), fc.constantFrom('', 'uid', 'AB0E5D6C-0000-4000-8000-000000000000')),
        resourceVersion: fc.oneof(fc.nat().map(String), fc.constantFrom('', '0012', 'abc', '9'.repeat(25))),
        digest: fc.oneof(hex(40), fc.constantFrom('', 'unrecorded', 'deleted', 'A'.repeat(40))),
      },
      { noNullPrototype: true },
    ),
    fc.option(fc.oneof(hex(40), fc.constant('sha256:0a')), { nil: undefined }),
  )
  .map(([one, documentBlob]) => (documentBlob === undefined ? one : { ...one, documentBlob }));

describe('a packed record', () => {
  it('is unpacked as it was', () => {
    fc.assert(
      fc.property(record, (one) => {
        assert.deepEqual(unpackRecord(packRecord(one)), one);
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes 36 characters and its key and version when ids have their usual form', () => {
    const one = {
      id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
      uid: 'ab0e5d6c-0000-4000-8000-0000000a000d',
      resourceVersion: '12345',
      digest: `0a0d${'0'.repeat(36)}`,
    };
    const packed = packRecord(one);
    assert.equal(packed.length, '/ConfigMap/shop/web'.length + 2 + 36 + 5);
    assert.deepEqual(unpackRecord(packed), one);
  });
});

describe('a table of records', () => {
  const shardOf = (key: string) => `${key.length % 3}`;

  it('holds what a map would hold', () => {
    const step = fc.tuple(record, fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [table, map] = [new RecordTable(), new Map<string, HandledRecord>()];
        for (const [one, isSet] of steps) {
          const key = objectKey(one.id);
          if (isSet) {
            table.set(one, shardOf(key));
            map.set(key, one);
          } else {
            table.delete(key, shardOf(key));
            map.delete(key);
          }
          assert.equal(table.size, map.size);
          assert.deepEqual(table.get(key, shardOf(key)), map.get(key));
          assert.equal(table.digest(key, shardOf(key)), map.get(key)?.digest);
        }
        assert.deepEqual(new Map(table.entries()), map);
        assert.equal([...table.entries()].length, map.size);
        assert.deepEqual(
          [...table.versions()],
          [...table.entries()].map(([key, { resourceVersion }]) => [key, resourceVersion]),
        );
        for (const shard of ['0', '1', '2'])
          assert.deepEqual(
            new Map(table.shard(shard).map((one) => [objectKey(one.id), one])),
            new Map([...map].filter(([key]) => shardOf(key) === shard)),
          );
        for (const [key, one] of map) assert.deepEqual(table.get(key, shardOf(key)), one);
      }),
      { numRuns: 200 },
    );
  });

  it('may change while somebody goes over it', () => {
    const table = new RecordTable();
    const ids = Array.from({ length: 500 }, (_unused, at) => ({
      group: '',
      kind: 'ConfigMap',
      namespace: 'shop',
      name: `web-${at}`,
    }));
    for (const one of ids)
      table.set({ id: one, uid: 'u', resourceVersion: '1', digest: 'd' }, shardOf(objectKey(one)));
    const seen: string[] = [];
    for (const [key] of table.entries()) {
      seen.push(key);
      table.delete(key, shardOf(key));
    }
    assert.deepEqual(seen.sort(), ids.map(objectKey).sort());
    assert.equal(table.size, 0);
  });
});
