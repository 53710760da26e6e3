import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readMetadataList } from '../../src/kube/metadata-list.ts';
import { encodeList, field, type ListedObject, message } from './metadata-list-bytes.ts';

const objects: readonly ListedObject[] = [
  { namespace: 'shop', name: 'prices', resourceVersion: '41' },
  { namespace: '', name: 'bär', resourceVersion: '9007199254740993' },
];

describe('a metadata-only list in protobuf', () => {
  it('gives name and version of each object, and the way to the next page', () => {
    assert.deepEqual(readMetadataList(encodeList(objects, { resourceVersion: '77', next: 'token' })), {
      items: objects,
      resourceVersion: '77',
      next: 'token',
    });
    assert.deepEqual(readMetadataList(encodeList([])), { items: [], resourceVersion: '1', next: '' });
  });

  it('passes over what it does not know, of every wire type', () => {
    const unknown = Buffer.concat([
      Buffer.from([9 * 8 + 0, 0x96, 0x01]),
      Buffer.from([9 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8]),
      Buffer.from([9 * 8 + 5, 1, 2, 3, 4]),
      field(200, 'something of a later version'),
    ]);
    assert.deepEqual(readMetadataList(encodeList(objects, { within: unknown }))?.items, objects);
  });

  it('is none when it is of another kind, has an object without a name, or is no protobuf', () => {
    assert.equal(readMetadataList(encodeList(objects, { kind: 'ConfigMapList' })), undefined);
    assert.equal(readMetadataList(encodeList(objects, { apiVersion: 'v1' })), undefined);
    assert.equal(
      readMetadataList(encodeList([{ namespace: 'shop', name: '', resourceVersion: '1' }])),
      undefined,
    );
    for (const text of ['', 'k8', '{"kind":"PartialObjectMetadataList","items":[]}'])
      assert.equal(readMetadataList(Buffer.from(text)), undefined);
    assert.equal(
      readMetadataList(message(Buffer.from([1 * 8 + 3]))),
      undefined,
      'a wire type that is no longer used',
    );
    const endless = Buffer.alloc(40, 0xff);
    assert.equal(readMetadataList(message(endless)), undefined, 'a number without an end');
  });

  it('never loses an object when it was cut off', () => {
    const whole = encodeList(objects, { resourceVersion: '77', next: 'token' });
    for (let length = 0; length < whole.length; length++) {
      const read = readMetadataList(whole.subarray(0, length));
      if (read !== undefined)
        assert.deepEqual([read.items, read.next], [objects, 'token'], `${length} bytes`);
    }
  });

  it('is read or refused, whatever the bytes are', () => {
    const whole = encodeList(objects);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const broken = Buffer.from(whole);
        broken[at] = byte;
        const read = readMetadataList(broken);
        if (read !== undefined)
          assert.equal(
            read.items.every(({ name }) => name !== ''),
            true,
          );
      }),
    );
  });
});
