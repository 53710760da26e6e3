import assert from 'node:assert/strict';
import fc from 'fast-check';
import { pairItems } from '../../../src/core/yaml/pair.ts';
import { commonSubsequence, risingRun } from '../../../src/core/yaml/sequence.ts';

const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 });

describe('a common subsequence', () => {
  it('is common, rising, and as long as possible', () => {
    fc.assert(
      fc.property(letters, letters, (a, b) => {
        const pairs = commonSubsequence(a, b);
        for (const [index, [left, right]] of pairs.entries()) {
          assert.equal(a[left], b[right]);
          const before = pairs[index - 1];
          assert.ok(before === undefined || (before[0] < left && before[1] < right));
        }
        assert.equal(pairs.length, longestCommon(a, b));
      }),
    );
  });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const [first, ...rest] = a;
  if (first === undefined || b.length === 0) return 0;
  const at = b.indexOf(first);
  const without = longestCommon(rest, b);
  return at < 0 ? without : Math.max(without, 1 + longestCommon(rest, b.slice(at + 1)));
}

describe('a rising run', () => {
  it('is a rising subsequence, and as long as possible', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(20), { maxLength: 9 }), (values) => {
        const run = risingRun(values);
        assert.deepEqual(
          run,
          values.filter((value) => run.includes(value)),
        );
        assert.deepEqual(
          run,
          run.toSorted((a, b) => a - b),
        );
        assert.equal(run.length, longestRising(values));
      }),
    );
  });
});

function longestRising(values: readonly number[], above = -1): number {
  const [first, ...rest] = values;
  if (first === undefined) return 0;
  const without = longestRising(rest, above);
  return first > above ? Math.max(without, 1 + longestRising(rest, first)) : without;
}

describe('pairing items', () => {
  it('pairs each item at most once', () => {
    const item = fc.oneof(
      fc.constantFrom('a', 'b', 1, null),
      fc.record({ name: fc.constantFrom('x', 'y', 'z'), port: fc.constantFrom(1, 2) }, { requiredKeys: [] }),
    );
    const items = fc.array(item, { maxLength: 6 });
    fc.assert(
      fc.property(
        items,
        items,
        fc.constantFrom(undefined, ['port'], ['port', 'name']),
        (current, desired, keys) => {
          const result = pairItems(current, desired, keys);
          assert.equal(result.length, desired.length);
          const used = result.filter((position) => position >= 0);
          assert.equal(new Set(used).size, used.length);
          assert.ok(used.every((position) => position < current.length));
        },
      ),
    );
  });
});
