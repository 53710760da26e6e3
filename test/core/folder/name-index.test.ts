import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NameIndex, type RowNames } from '../../../src/core/folder/name-index.ts';

// The two of a pair have one hash.
const collisions = ['costarring', 'liquid', 'declinate', 'macallums', 'altarage', 'zinke'];
const names = fc.uniqueArray(fc.constantFrom(...collisions, 'a', 'b', 'c', ''), { maxLength: 3 });
const rows = fc
  .array(names, { maxLength: 30 })
  .map((all) => all.map((own, row): RowNames => ({ row, names: own })));

function found(index: NameIndex, name: string): number[] {
  const seen: number[] = [];
  index.search(name, (row) => {
    seen.push(row);
    return false;
  });
  return seen;
}

/** What must be found, in order; rows of other names may come between. */
function assertFinds(index: NameIndex, expected: readonly RowNames[]): void {
  const holds = new Map(expected.map(({ row, names: own }) => [row, own]));
  for (const name of [...collisions, 'a', 'b', 'c', '', 'absent']) {
    const seen = found(index, name);
    assert.deepEqual(
      seen.filter((row) => holds.get(row)?.includes(name)),
      expected.filter(({ names: own }) => own.includes(name)).map(({ row }) => row),
    );
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
    );
  }
}

describe('the index of names', () => {
  it('finds every row of a name, in order, also beside names of the same hash', () => {
    fc.assert(fc.property(rows, (all) => assertFinds(NameIndex.of(all), all)));
  });

  it('ends where it is told to', () => {
    const index = NameIndex.of([0, 1, 2].map((row) => ({ row, names: ['web'] })));
    const seen: number[] = [];
    index.search('web', (row) => {
      seen.push(row);
      return row === 1;
    });
    assert.deepEqual(seen, [0, 1]);
  });

  it('follows rows that move, go and come', () => {
    const steps = fc.array(fc.oneof(fc.constant('stay'), fc.constant('go'), names), { maxLength: 40 });
    fc.assert(
      fc.property(rows, steps, (before, plan) => {
        const places = new Int32Array(before.length).fill(-1);
        const now: RowNames[] = [];
        const added: RowNames[] = [];
        let old = 0;
        for (const step of plan) {
          const row = before[old];
          if (typeof step !== 'string') {
            const fresh = { row: now.length, names: step };
            now.push(fresh);
            added.push(fresh);
          } else if (row !== undefined) {
            if (step === 'stay') {
              places[old] = now.length;
              now.push({ row: now.length, names: row.names });
            }
            old += 1;
          }
        }
        assertFinds(NameIndex.of(before).moved(places, added), now);
      }),
    );
  });
});
