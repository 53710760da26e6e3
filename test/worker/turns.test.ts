import assert from 'node:assert/strict';
import { RightOfWay } from '../../src/worker/turns.ts';
import { ManualClock } from '../kube/manual-clock.ts';

describe('the right of way', () => {
  let clock: ManualClock;
  let way: RightOfWay;
  beforeEach(() => {
    clock = new ManualClock();
    way = new RightOfWay(clock);
  });

  /** Turns of the thread, enough for whatever may go on. */
  async function turns(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** An answer that is made until it is told to end. */
  function answer(): { end(): Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = way.first(() => promise);
    return {
      async end() {
        resolve();
        await done;
      },
    };
  }

  it('lets work go on while its slice lasts, and everything else go first when it is over', async () => {
    const pause = way.turns();
    clock.advance(3);
    assert.equal(pause(), undefined);
    clock.advance(1);
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await pause();
    order.push('work');
    assert.deepEqual(order, ['other', 'work']);
    assert.equal(pause(), undefined, 'a new slice has begun');
  });

  it('gives one slice to all long work between two looks at the outside world, in the order it came', async () => {
    const pauses = [way.turns(), way.turns(), way.turns()];
    clock.advance(4);
    const order: number[] = [];
    const at: number[] = [];
    let turn = 0;
    const done = pauses.map(async (pause, index) => {
      await pause();
      order.push(index);
      at.push(turn);
    });
    for (; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(done);
    assert.deepEqual(order, [0, 1, 2]);
    assert.equal(new Set(at).size, 3, `in turns ${at}`);
  });

  it('holds long work back while an answer is made, and lets it go on at once after it', async () => {
    const pause = way.turns();
    await way.first(async () => undefined);
    const asked = answer();
    clock.advance(100);
    await pause();
    let went = false;
    clock.advance(4);
    const next = pause();
    assert.ok(next !== undefined, 'the slice is over');
    void next.then(() => {
      went = true;
    });
    await turns();
    assert.equal(went, false);
    await asked.end();
    await turns();
    assert.equal(went, true);
    assert.deepEqual(clock.waiting(), [], 'no timer is left');
    clock.advance(3);
    assert.equal(pause(), undefined, 'a new slice has begun');
  });

  it('holds it back as long as any of several answers is made', async () => {
    const pause = way.turns();
    const asked = [answer(), answer()];
    clock.advance(100);
    await pause();
    clock.advance(4);
    let went = false;
    void pause()?.then(() => {
      went = true;
    });
    await asked[0]?.end();
    await turns();
    assert.equal(went, false);
    await asked[1]?.end();
    await turns();
    assert.equal(went, true);
  });

  it('never starves long work, however busy those are who ask', async () => {
    const pauses = [way.turns(), way.turns()];
    const slices = [0, 0];
    let goesOn = true;
    answer();
    const working = pauses.map(async (pause, index) => {
      while (goesOn) {
        const turn = pause();
        if (turn !== undefined) await turn;
        slices[index] = (slices[index] ?? 0) + 1;
        clock.advance(4);
      }
    });
    for (let ms = 0; ms < 1_000; ms += 5) {
      clock.advance(5);
      await turns();
    }
    goesOn = false;
    for (let left = 0; left < 10; left++) {
      clock.advance(20);
      await turns();
    }
    await Promise.all(working);
    for (const count of slices) assert.ok(count >= 15 && count <= 40, `${slices} slices in a second`);
  });

  it('never holds back what a stream tells live, for an answer may wait for it', async () => {
    const [long, live] = [way.turns(), way.turns()];
    answer();
    clock.advance(100);
    await long('long');
    clock.advance(4);
    assert.equal(live('live')?.constructor, Promise, 'its own slice is long over');
    const order: string[] = [];
    void long('long')?.then(() => order.push('long'));
    void live('live')?.then(() => order.push('live'));
    await turns();
    assert.deepEqual(order, ['live']);
  });

  it('gives the way free when an answer fails', async () => {
    await assert.rejects(
      way.first(() => Promise.reject(new Error('broke'))),
      /broke/,
    );
    const pause = way.turns();
    clock.advance(3);
    assert.equal(pause(), undefined);
  });
});
