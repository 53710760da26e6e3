/** Small before/after triples: a text, a change of its value, the text that must come out. */
import assert from 'node:assert/strict';
import type { Path } from '../../../src/core/json.ts';
import { type EditResult, editDocument, readDocuments } from '../../../src/core/yaml/index.ts';

/** The value of a document, loose enough for tests to change in place. */
// biome-ignore lint/suspicious/noExplicitAny: a change reads as it would in the object itself
export type Change = (value: any) => void;

export interface Triple {
  it: string;
  before: string;
  change: Change;
  after: string;
  keys?: readonly string[];
  index?: number;
}

export function edit(
  before: string,
  change: Change,
  keys?: readonly string[] | ((path: Path) => readonly string[] | undefined),
  index = 0,
): EditResult {
  const document = readDocuments(before)[index];
  assert.ok(document?.kind === 'value', 'the text before is not a value');
  const desired = structuredClone(document.value);
  assert.ok(desired !== null && typeof desired === 'object' && !Array.isArray(desired));
  change(desired);
  return editDocument(before, index, desired, {
    listKeys: typeof keys === 'function' ? keys : () => keys,
  });
}

/** One test per triple, each also in the line ends of Windows and without the newline at the end. */
export function checkTriples(triples: readonly Triple[]): void {
  for (const triple of triples) {
    it(triple.it, () => {
      check(triple, (text) => text);
      check(triple, (text) => text.replaceAll('\n', '\r\n'));
      if (!triple.before.includes('|')) check(triple, (text) => text.replace(/\n$/, ''));
    });
  }
}

function check({ before, change, after, keys, index = 0 }: Triple, vary: (text: string) => string): void {
  const result = edit(vary(before), change, keys, index);
  assert.ok(result.ok, result.ok ? '' : `${result.reason}: ${result.message}`);
  assert.equal(result.text, vary(after));
  assert.equal(result.changed, before !== after);
}
