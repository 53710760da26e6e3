import assert from 'node:assert/strict';
import fc from 'fast-check';
import { equalJson, type JsonObject } from '../../../src/core/json.ts';
import {
  appendDocument,
  editDocument,
  printDocument,
  readDocuments,
  removeDocument,
} from '../../../src/core/yaml/index.ts';
import { hostileStrings } from './fuzz/mutate.ts';

const added: JsonObject = { kind: 'B', apiVersion: 'v1' };

function append(text: string): string {
  const result = appendDocument(text, added);
  assert.ok(result.ok, text);
  return result.text;
}

describe('appending a document', () => {
  const table: [string, string, string][] = [
    ['to nothing', '', 'apiVersion: v1\nkind: B\n'],
    ['to a byte order mark', '\uFEFF', '\uFEFFapiVersion: v1\nkind: B\n'],
    ['to a document', 'a: 1\n', 'a: 1\n---\napiVersion: v1\nkind: B\n'],
    ['to a file without a final newline', 'a: 1', 'a: 1\n---\napiVersion: v1\nkind: B\n'],
    ['to a file of Windows', 'a: 1\r\n', 'a: 1\r\n---\r\napiVersion: v1\r\nkind: B\r\n'],
    ['after an open separator', 'a: 1\n---\n', 'a: 1\n---\napiVersion: v1\nkind: B\n'],
    ['after a document end', 'a: 1\n...\n', 'a: 1\n...\n---\napiVersion: v1\nkind: B\n'],
    ['to a file of comments', '# head\n', '# head\napiVersion: v1\nkind: B\n'],
    ['after comments at the end', 'a: 1\n# end\n', 'a: 1\n# end\n---\napiVersion: v1\nkind: B\n'],
    ['to a file that cannot be read', 'a: [\n', 'a: [\n---\napiVersion: v1\nkind: B\n'],
  ];
  for (const [name, before, after] of table) it(name, () => assert.equal(append(before), after));

  it('is refused where it would change the document before', () => {
    const result = appendDocument('a: |\n  text', added);
    assert.equal(!result.ok && result.reason, 'VerificationFailed');
  });
});

describe('removing a document', () => {
  const table: [string, string, number, string, boolean][] = [
    ['the only one', 'a: 1\n', 0, '', true],
    ['the first, and the separator of the next', 'a: 1\n---\nb: 1\n', 0, 'b: 1\n', false],
    ['the first of a file that begins with a separator', '---\na: 1\n---\nb: 1\n', 0, '---\nb: 1\n', false],
    ['the last', 'a: 1\n---\nb: 1\n', 1, 'a: 1\n', false],
    ['one in the middle', 'a: 1\n---\nb: 1\n--- # c\nc: 1\n', 1, 'a: 1\n--- # c\nc: 1\n', false],
    ['the first before a commented separator', 'a: 1\n--- # b\nb: 1\n', 0, '--- # b\nb: 1\n', false],
    ['the first after a byte order mark', '\uFEFFa: 1\n---\nb: 1\n', 0, '\uFEFFb: 1\n', false],
    ['one beside a comment only', '# c\n---\n', 0, '', true],
    ['the first of a file of Windows', 'a: 1\r\n---\r\nb: 1\r\n', 0, 'b: 1\r\n', false],
    ['none', 'a: 1\n', 3, 'a: 1\n', false],
  ];
  for (const [name, before, index, text, empty] of table)
    it(name, () => assert.deepEqual(removeDocument(before, index), { text, empty }));

  it('finds nothing left but comments', () => {
    assert.equal(removeDocument('# head\n---\n---\na: 1\n', 1).empty, true);
  });
});

describe('printing a new document', () => {
  it('puts the well-known keys first and sorts the others', () => {
    const printed = printDocument({
      spec: { z: 1, a: [{ name: 'x', list: ['a', ['b']] }, 'c', {}, []] },
      metadata: {
        zone: 'z',
        annotations: { b: 'x' },
        labels: {},
        namespace: 'shop',
        name: 'web',
        extra: null,
      },
      data: { text: 'one\ntwo\n', long: 'word '.repeat(50).trim(), on: 'off' },
      kind: 'K',
      apiVersion: 'v1',
    });
    const expected = `apiVersion: v1
kind: K
metadata:
  name: web
  namespace: shop
  labels: {}
  annotations:
    b: x
  extra: null
  zone: z
data:
  long: ${'word '.repeat(50).trim()}
  "on": "off"
  text: |
    one
    two
spec:
  a:
    - list:
        - a
        - - b
      name: x
    - c
    - {}
    - []
  z: 1
`;
    assert.equal(printed, expected);
  });

  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(...hostileStrings),
      fc.string({ unit: 'grapheme' }),
      fc.integer(),
      fc.bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n }),
      // JSON of the API server gives longer integers as bigint.
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter(
          (value) => !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21,
        ),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...hostileStrings), fc.string()), tie('value'), { maxKeys: 4 }),
    ),
  })).value;

  it('reads back as the same value, whatever the value, and is final', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('kind', 'metadata', 'a', 'yes', '1'), json), (value) => {
        const object = value as JsonObject;
        const printed = printDocument(object);
        const [document] = readDocuments(printed);
        assert.ok(document?.kind === 'value' && equalJson(document.value, object), printed);
        const again = editDocument(printed, 0, object, { listKeys: () => undefined });
        assert.deepEqual(again, { ok: true, text: printed, changed: false });
      }),
      { numRuns: 1500 },
    );
  });
});
