/** Texts made to hurt: each ends in a value, in bounded time, and nothing throws. */
import assert from 'node:assert/strict';
import { appendDocument, editDocument, readDocuments, removeDocument } from '../../../src/core/yaml/index.ts';

const mega = 1024 * 1024;
const bomb = ['a: &a0 [x,x,x,x,x,x,x,x,x]'];
for (let level = 1; level < 30; level += 1)
  bomb.push(
    `b${level}: &a${level} [${Array(9)
      .fill(`*a${level - 1}`)
      .join(',')}]`,
  );

const unreadable: [string, string][] = [
  ['an alias bomb', `${bomb.join('\n')}\n`],
  ['five thousand open brackets', `a: ${'['.repeat(5000)}`],
  ['five thousand nested brackets', `a: ${'['.repeat(5000)}${']'.repeat(5000)}\n`],
  ['five thousand nested braces', '{a: '.repeat(5000)],
  ['five thousand dashes', `${'- '.repeat(5000)}x\n`],
  ['five thousand question marks', '? '.repeat(5000)],
  ['a staircase of keys', Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ['ten megabytes of brackets', '['.repeat(10 * mega)],
  ['ten megabytes of anchors', '&a '.repeat(3 * mega)],
  ['ten megabytes of quotes', '"'.repeat(10 * mega)],
  ['half a million keys', Array.from({ length: 500_000 }, (_, index) => `k${index}: v\n`).join('')],
];

const readable: [string, string][] = [
  ['ten megabytes of one word', 'a: '.concat('x'.repeat(10 * mega - 10))],
  ['ten megabytes of one block', `a: |\n${'  line of text\n'.repeat(690_000)}`],
  ['ten megabytes of comments', `a: 1\n${'# c\n'.repeat(2.4 * mega)}`],
  ['ten megabytes of escapes', `a: "${'\\\\'.repeat(5 * mega - 10)}"\n`],
  ['many documents', '---\na: 1\nb: {c: 2}\n'.repeat(50_000)],
];

function within(seconds: number, act: () => void): void {
  const started = performance.now();
  act();
  const took = performance.now() - started;
  // Room for a busy machine; work that is not linear takes minutes here.
  assert.ok(took < seconds * 5000, `took ${Math.round(took)} ms`);
}

function edit(text: string): ReturnType<typeof editDocument> {
  return editDocument(text, 0, { a: 'zz', b: { c: 1 } }, { listKeys: () => undefined });
}

describe('a hostile text', function () {
  this.timeout(60_000);

  for (const [name, text] of unreadable)
    it(`is unreadable and not editable: ${name}`, () => {
      within(2, () => assert.equal(readDocuments(text)[0]?.kind, 'unreadable'));
      within(2, () => {
        const result = edit(text);
        assert.equal(!result.ok && result.reason, 'NotEditable');
      });
    });

  for (const [name, text] of readable)
    it(`is read and edited in time: ${name}`, () => {
      within(2, () => assert.equal(readDocuments(text)[0]?.kind, 'value'));
      within(2, () => assert.ok(edit(text).ok));
      within(2, () => assert.ok(appendDocument(text, { x: 1 }).ok));
      within(2, () => assert.ok(removeDocument(text, 0).text.length < text.length));
    });

  it('may hold many broken documents', () => {
    within(2, () => assert.equal(readDocuments('---\na: [\n'.repeat(200_000)).length, 200_000));
  });

  it('never shows much of itself in a message', () => {
    for (const text of [
      `a: !${'x'.repeat(5000)} 1\n`,
      `a: *${'x'.repeat(5000)}\n`,
      `${'k'.repeat(900)}: 1\n`.repeat(2),
    ]) {
      const [document] = readDocuments(text);
      const message =
        document?.kind === 'unreadable'
          ? document.message
          : document?.kind === 'value'
            ? document.notEditable
            : '';
      assert.ok(message !== undefined && message !== '' && message.length < 200, message);
    }
  });
});
