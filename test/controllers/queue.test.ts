import assert from 'node:assert/strict';
import { WorkQueue } from '../../src/controllers/queue.ts';
import { ManualClock } from '../kube/manual-clock.ts';

interface Held {
  readonly key: string;
  readonly finish: (again?: number) => void;
  readonly fail: () => void;
}

/** A queue whose work ends when the test says so. */
function heldQueue(workers = 4) {
  const clock = new ManualClock();
  const running: Held[] = [];
  const errors: string[] = [];
  const queue = new WorkQueue({
    clock,
    workers,
    work: (key) =>
      new Promise((resolve, reject) => {
        running.push({ key, finish: resolve, fail: () => reject(new Error('broken')) });
      }),
    onError: (key) => errors.push(key),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const take = async (): Promise<Held> => {
    await settle();
    return running.shift() ?? assert.fail('nothing runs');
  };
  const idle = async (): Promise<void> => {
    await settle();
    assert.deepEqual(running, []);
  };
  return { clock, queue, take, idle, errors, settle, running };
}

describe('the work queue', () => {
  it('works once on a key that was added many times', async () => {
    const { queue, take, idle } = heldQueue();
    queue.add('a');
    queue.add('a');
    (await take()).finish();
    await idle();
  });

  it('works once more on a key that was added while it ran, and never twice at a time', async () => {
    const { queue, take, idle } = heldQueue();
    queue.add('a');
    const first = await take();
    queue.add('a');
    queue.add('a');
    await idle();
    first.finish();
    (await take()).finish();
    await idle();
  });

  it('keeps to its number of workers', async () => {
    const { queue, take, idle, running, settle } = heldQueue(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await settle();
    assert.deepEqual(
      running.map(({ key }) => key),
      ['a', 'b'],
    );
    (await take()).finish();
    await settle();
    assert.deepEqual(
      running.map(({ key }) => key),
      ['b', 'c'],
    );
    (await take()).finish();
    (await take()).finish();
    await idle();
  });

  it('brings a key back when it asked for it', async () => {
    const { queue, take, idle, clock } = heldQueue();
    queue.add('a');
    (await take()).finish(10_000);
    await idle();
    clock.advance(9_999);
    await idle();
    clock.advance(1);
    (await take()).finish();
    await idle();
    assert.deepEqual(clock.waiting(), []);
  });

  it('keeps the earlier of two times, and drops it when the key is worked on before', async () => {
    const { queue, take, idle, clock } = heldQueue();
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 3_000);
    assert.deepEqual(clock.waiting(), [1_000]);
    queue.add('a');
    (await take()).finish();
    clock.advance(10_000);
    await idle();
  });

  it('tries what failed again, slower each time, and forgets the failures after a success', async () => {
    const { queue, take, clock, errors, settle } = heldQueue();
    queue.add('a');
    const waits: number[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      (await take()).fail();
      await settle();
      waits.push(clock.runNext());
    }
    assert.deepEqual(waits, [500, 1_000, 2_000, 4_000]);
    assert.deepEqual(errors, ['a', 'a', 'a', 'a']);
    (await take()).finish();
    await settle();
    queue.add('a');
    (await take()).fail();
    await settle();
    assert.deepEqual(clock.waiting(), [500]);
  });

  it('one failing key holds up no other', async () => {
    const { queue, take } = heldQueue(1);
    queue.add('bad');
    queue.add('good');
    (await take()).fail();
    assert.equal((await take()).key, 'good');
  });

  it('waits at its end for the work going on and takes nothing new', async () => {
    const { queue, take, idle, clock } = heldQueue();
    queue.add('a');
    queue.addAfter('b', 1_000);
    const held = await take();
    let stopped = false;
    const stop = queue.stop().then(() => {
      stopped = true;
    });
    queue.add('c');
    await idle();
    assert.equal(stopped, false);
    held.finish(10);
    await stop;
    assert.deepEqual(clock.waiting(), []);
  });
});
