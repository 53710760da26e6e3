/** A token bucket: `burst` calls at once, then `qps` a second. For API servers that are not ours to load. */
import { type Clock, pause } from './clock.ts';

export interface RateLimit {
  readonly qps: number;
  readonly burst: number;
}

/** Makes a function that resolves when the next call may start, in the order it was asked. */
export function rateLimiter(limit: RateLimit, clock: Clock): (signal: AbortSignal) => Promise<void> {
  // The time at which the bucket would be full again; each call moves it by one token.
  let fullAt = clock.now();
  return async (signal) => {
    const now = clock.now();
    const perCall = 1000 / limit.qps;
    fullAt = Math.max(fullAt, now) + perCall;
    const wait = fullAt - now - limit.burst * perCall;
    if (wait > 0) await pause(clock, wait, signal);
  };
}
