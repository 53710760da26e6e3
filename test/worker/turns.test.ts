import assert from 'node:assert/strict';
import { takingTurns } from '../../src/worker/turns.ts';

describe('work that takes turns', () => {
  it('goes on at once while its slice lasts, and lets others go first when it is over', async () => {
    let now = 0;
    const pause = takingTurns(() => now);
    now = 7;
    assert.equal(pause(), undefined);
    now = 8;
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await pause();
    order.push('work');
    assert.deepEqual(order, ['other', 'work']);
    assert.equal(pause(), undefined, 'a new slice has begun');
  });
});
