/** The event loop delay of a process that only waits, beside one that works. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * How far apart the samples are, prom-client's default. Node records the time from one sample to the next, so this much of
 * every record is no delay.
 */
export const samplingMs = 10;

export interface IdleDelay {
  /** Milliseconds, since it was last asked. */
  p99(): Promise<number>;
  stop(): void;
}

export function startIdle(): IdleDelay {
  // It ends with our end of the channel, so it never outlives us.
  const child = fork(join(import.meta.dirname, 'idle-process.ts'), { execArgv: [] });
  return {
    async p99() {
      const answered = once(child, 'message');
      child.send('p99');
      const [ms] = await answered;
      return Number(ms);
    },
    stop: () => child.disconnect(),
  };
}
