import assert from 'node:assert/strict';
import { describeFlush, Flushes } from '../../src/controllers/flushes.ts';
import { refuse } from '../../src/core/refusal.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import type { FlushReport } from '../../src/worker/mirror-spec.ts';
import { ManualClock } from '../kube/manual-clock.ts';
import { doneFlush, RecordingMirror } from './recording-mirror.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(answer: () => Promise<FlushReport>) {
  const clock = new ManualClock();
  const mirror = new RecordingMirror();
  mirror.flushAnswer = answer;
  const done: string[] = [];
  const flushes = new Flushes({ mirror, clock, log: silentLog(), onDone: (target) => done.push(target) });
  return { clock, mirror, done, flushes };
}

describe('flushes asked for by annotation', () => {
  it('flush each value once, and answer when it has ended', async () => {
    const { flushes, mirror, done } = setUp(async () => doneFlush);
    assert.equal(flushes.ask('shop/live', 'one', 'running'), undefined);
    assert.equal(flushes.ask('shop/live', 'one', 'running'), undefined);
    await settle();
    assert.deepEqual(done, ['shop/live']);
    assert.equal(flushes.ask('shop/live', 'one', 'running'), doneFlush);
    assert.equal(mirror.flushed.length, 1);
    assert.equal(flushes.ask('shop/live', 'two', 'running'), undefined);
    await settle();
    assert.equal(mirror.flushed.length, 2);
  });

  it('give the flush 30 s from the asking, also for a target that starts late', () => {
    const { flushes, mirror, clock } = setUp(async () => doneFlush);
    flushes.ask('shop/live', 'one', 'starting');
    clock.advance(10_000);
    assert.deepEqual(mirror.flushed, []);
    flushes.ask('shop/live', 'one', 'running');
    assert.deepEqual(mirror.flushed, [{ target: 'shop/live', deadlineAt: 30_000 }]);
  });

  it('end without a flush when the target never starts', () => {
    const { flushes, clock, done, mirror } = setUp(async () => doneFlush);
    flushes.ask('shop/live', 'one', 'starting');
    clock.advance(30_000);
    assert.deepEqual(done, ['shop/live']);
    assert.equal(flushes.ask('shop/live', 'one', 'running')?.closed?.reason, 'NotRunning');
    assert.deepEqual(mirror.flushed, []);
  });

  it('end at once when the target must not run', () => {
    const { flushes, mirror } = setUp(async () => doneFlush);
    assert.equal(flushes.ask('shop/live', 'one', 'refused')?.closed?.reason, 'NotRunning');
    assert.deepEqual(mirror.flushed, []);
  });

  it('end when the flush does not come back', async () => {
    const { flushes, clock, done } = setUp(() => new Promise(() => undefined));
    flushes.ask('shop/live', 'one', 'running');
    clock.advance(34_999);
    assert.deepEqual(done, []);
    clock.advance(1);
    assert.equal(flushes.ask('shop/live', 'one', 'running')?.closed?.reason, 'Deadline');
  });

  it('end when the flush breaks', async () => {
    const { flushes, done } = setUp(async () => {
      throw new Error('broken');
    });
    flushes.ask('shop/live', 'one', 'running');
    await settle();
    assert.deepEqual(done, ['shop/live']);
    assert.equal(flushes.ask('shop/live', 'one', 'running')?.closed?.reason, 'Failed');
  });

  const commit = 'b'.repeat(40);
  const table: readonly [string, Partial<FlushReport>, string, RegExp][] = [
    ['nothing pending', {}, 'Done', /^nothing was left to publish; the branch is at aaaaaaaaaaaa$/],
    [
      'published',
      {
        published: [
          { target: 'shop/live', commit },
          { target: 'shop/b', commit },
        ],
      },
      'Done',
      /^published bbbbbbbbbbbb$/,
    ],
    [
      'refused',
      { refused: [refuse('NotEditable', 'an anchor')] },
      'Done',
      /1 edit is refused: NotEditable: an anchor \(repository-author\)/,
    ],
    [
      'pending',
      { pending: 3, closed: { reason: 'RemoteUnreachable', message: 'no answer' } },
      'Incomplete',
      /3 edits still wait; RemoteUnreachable: no answer/,
    ],
  ];
  for (const [name, report, head, message] of table) {
    it(`tell people: ${name}`, () => {
      const told = describeFlush({ ...doneFlush, ...report });
      assert.equal(told.outcome, head);
      assert.match(told.message, message);
    });
  }
});
