import assert from 'node:assert/strict';
import { Alarm } from '../../src/worker/alarm.ts';
import { ManualClock } from '../kube/manual-clock.ts';

describe('a wait that can be cut short', () => {
  function scene() {
    const clock = new ManualClock();
    const alarm = new Alarm(clock);
    let ended = 0;
    const wait = (ms: number) => alarm.wait(ms).then(() => (ended += 1));
    return { clock, alarm, wait, ended: () => ended };
  }

  it('ends in its time', async () => {
    const { clock, wait, ended } = scene();
    const waiting = wait(1_000);
    clock.advance(999);
    assert.equal(ended(), 0);
    clock.advance(1);
    await waiting;
    assert.equal(ended(), 1);
  });

  it('ends when it is rung, and a ring is heard once', async () => {
    const { alarm, clock, wait, ended } = scene();
    const first = wait(1_000);
    alarm.ring();
    await first;
    const second = wait(1_000);
    clock.advance(10);
    assert.equal(ended(), 1);
    clock.advance(1_000);
    await second;
  });

  it('does not begin when it was rung before', async () => {
    const { alarm, clock, wait } = scene();
    alarm.ring();
    await wait(1_000);
    assert.deepEqual(clock.waiting(), []);
  });

  it('never begins again once it is off', async () => {
    const { alarm, clock, wait } = scene();
    const waiting = wait(1_000);
    alarm.off();
    await waiting;
    await wait(1_000);
    assert.deepEqual(clock.waiting(), []);
    assert.equal(alarm.isOff, true);
  });
});
