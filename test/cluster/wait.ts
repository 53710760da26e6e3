/** Waiting for something to become true, with an error that says what did not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** A minute by default: what passes never waits that long, and a busy machine may need it. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Calls `probe` until it returns something truthy, and returns that. A probe that throws counts as not yet. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 50 }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  let cause: unknown;
  do {
    try {
      const value = await probe();
      if (value) {
        return value;
      }
      last = inspect(value);
      cause = undefined;
    } catch (error) {
      last = error instanceof Error ? error.message : inspect(error);
      cause = error;
    }
    await sleep(intervalMs);
  } while (performance.now() < deadline);
  throw new Error(`still waiting after ${timeoutMs} ms for: ${what}; last seen: ${last}`, { cause });
}
