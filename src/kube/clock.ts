/** Time for this folder, so that tests can move it by hand. */

export interface Clock {
  /** Milliseconds that only go forward. Not a date. */
  now(): number;
  /** The date, for what is written into objects. */
  date(): Date;
  /** Calls `run` once after `ms`. The function returned calls that off. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits `ms`, or less when the signal aborts. Never rejects: the caller looks at the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
