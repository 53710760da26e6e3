import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lineSplitter } from '../../src/kube/lines.ts';

describe('splitting bytes into lines', () => {
  it('gives the same lines however the bytes arrive', () => {
    const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(
        fc.array(line),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        (lines, sizes) => {
          const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
          const splitter = lineSplitter(1000);
          const found: string[] = [];
          let at = 0;
          for (let turn = 0; at < bytes.length; turn += 1) {
            const next = at + (sizes[turn % sizes.length] ?? 1);
            found.push(...splitter.push(bytes.subarray(at, next)).lines);
            at = next;
          }
          assert.deepEqual(
            found,
            lines.map((text) => Buffer.from(text).toString()).filter((text) => text !== ''),
          );
        },
      ),
    );
  });

  it('keeps an unfinished line to itself', () => {
    const splitter = lineSplitter(100);
    assert.deepEqual(splitter.push(Buffer.from('one\ntw')).lines, ['one']);
    assert.deepEqual(splitter.push(Buffer.from('o\n')).lines, ['two']);
  });

  for (const [story, chunks] of [
    ['whole', ['ok\n123456\nnever\n']],
    ['in parts', ['ok\n123', '456\n']],
    ['without an end', ['ok\n123', '456']],
  ] as const) {
    it(`stops at a line over the limit that comes ${story}, after the lines before it`, () => {
      const splitter = lineSplitter(5);
      const results = chunks.map((chunk) => splitter.push(Buffer.from(chunk)));
      assert.deepEqual(
        results.flatMap(({ lines }) => lines),
        ['ok'],
      );
      assert.equal(results.at(-1)?.tooLong, true);
    });
  }
});
