import assert from 'node:assert/strict';
import { garbageCollector } from '../../src/cli/collect-garbage.ts';
import { ManualClock } from '../kube/manual-clock.ts';

describe('the collection after a snapshot', () => {
  function setUp() {
    const clock = new ManualClock();
    let collected = 0;
    const collector = garbageCollector(clock, () => {
      collected += 1;
    });
    return { clock, collector, collected: () => collected };
  }

  it('comes once, when neither snapshots nor commits follow any more', () => {
    const { clock, collector, collected } = setUp();
    collector.settled();
    clock.advance(4_000);
    collector.settled();
    clock.advance(4_000);
    collector.worked();
    clock.advance(4_999);
    assert.equal(collected(), 0);
    clock.advance(1);
    assert.equal(collected(), 1);
    clock.advance(600_000);
    assert.equal(collected(), 1);
  });

  it('comes after two minutes although edits go on', () => {
    const { clock, collector, collected } = setUp();
    collector.settled();
    for (let second = 0; second < 120; second += 1) {
      assert.equal(collected(), 0);
      collector.worked();
      clock.advance(1_000);
    }
    assert.equal(collected(), 1);
  });

  it('does not come for edits alone', () => {
    const { clock, collector, collected } = setUp();
    collector.worked();
    clock.advance(600_000);
    assert.equal(collected(), 0);
  });
});
