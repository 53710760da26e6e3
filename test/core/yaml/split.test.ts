import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeFile, encodeFile, splitDocuments } from '../../../src/core/yaml/index.ts';

const pieces = [
  '---',
  '---\n',
  '--- # c\n',
  '--- {a: b}\n',
  '...',
  '...\n',
  '%YAML 1.1\n',
  '\n',
  '\r\n',
  ' ',
  '#',
  '\uFEFF',
];
const words = ['a: 1\n', 'b: |\n', '  ---\n', '---x\n', '"\n', '- ', '\t', '\0', '\u2028', '\r', '😀'];
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...pieces, ...words), { maxLength: 25 }).map((parts) => parts.join('')),
);

function bodies(text: string): string[] {
  return splitDocuments(text).map((slice) => text.slice(slice.bodyStart, slice.bodyEnd));
}

describe('splitting a file', () => {
  it('gives slices that join to the text, whatever the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const slices = splitDocuments(text);
        assert.equal(slices.map((slice) => text.slice(slice.start, slice.end)).join(''), text);
        for (const { start, bodyStart, bodyEnd, end } of slices)
          assert.ok(start <= bodyStart && bodyStart <= bodyEnd && bodyEnd <= end);
      }),
      { numRuns: 3000 },
    );
  });

  it('gives the bytes of a file back', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (!text.isWellFormed()) return;
        const bytes = encodeFile(text);
        assert.deepEqual(decodeFile(bytes), { ok: true, text });
      }),
    );
  });

  const table: [string, string, string[]][] = [
    ['an empty text has one empty document', '', ['']],
    ['a separator that opens the file is no document of its own', '---\na: 1\n', ['a: 1\n']],
    ['comments before the first separator belong to the first document', '# c\n\n---\na: 1\n', ['a: 1\n']],
    ['directives belong to the document after them', '%YAML 1.1\n---\na: 1\n', ['a: 1\n']],
    ['each separator begins a document', 'a: 1\n---\nb: 1\n--- # c\nc: 1\n', ['a: 1\n', 'b: 1\n', 'c: 1\n']],
    ['a trailing separator leaves an empty document', 'a: 1\n---\n', ['a: 1\n', '']],
    [
      'an indented separator in a block of text is content',
      'a: |\n  x\n  ---\n  y\n',
      ['a: |\n  x\n  ---\n  y\n'],
    ],
    ['three dashes of a longer word are content', 'a:\n---x\n', ['a:\n---x\n']],
    ['content may stand on the line of the separator', '--- {a: 1}\n', [' {a: 1}\n']],
    ['a document end is not part of the body', 'a: 1\n...\n', ['a: 1\n']],
    [
      'a comment after a document end belongs to that document',
      'a: 1\n...\n# c\n---\nb: 1\n',
      ['a: 1\n', 'b: 1\n'],
    ],
    ['text after a document end is a new document', 'a: 1\n...\nb: 1\n', ['a: 1\n', 'b: 1\n']],
    ['carriage returns do not hide a separator', 'a: 1\r\n---\r\nb: 1\r\n', ['a: 1\r\n', 'b: 1\r\n']],
    ['a byte order mark does not hide a separator', '\uFEFF---\na: 1\n', ['a: 1\n']],
    ['a separator at the end of the file needs no line', 'a: 1\n---', ['a: 1\n', '']],
  ];
  for (const [name, text, expected] of table) it(name, () => assert.deepEqual(bodies(text), expected));
});

describe('decoding a file', () => {
  it('says that a file is not UTF-8', () => {
    const decoded = decodeFile(new Uint8Array([0x61, 0xff]));
    assert.equal(!decoded.ok && decoded.reason, 'NotUtf8');
  });

  it('says that a file is too large', () => {
    const decoded = decodeFile(new Uint8Array(10 * 1024 * 1024 + 1));
    assert.equal(!decoded.ok && decoded.reason, 'TooLarge');
  });

  it('keeps a byte order mark', () => {
    assert.deepEqual(decodeFile(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])), { ok: true, text: '\uFEFFa' });
  });
});
