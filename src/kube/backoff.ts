/**
 * How long to wait before the next attempt: 1 s, doubling, capped, with jitter. A single event is no recovery: only a
 * session that lived for a while starts the row again, else a server that says a word and closes would be stormed.
 */

export interface Backoff {
  readonly failures: number;
}

export const noBackoff: Backoff = { failures: 0 };

/** For what a person has to mend, such as missing rights. */
export const longestBackoff: Backoff = { failures: 7 };

const firstMs = 1000;
const capMs = 60_000;
const jitter = 0.2;

/** How long a session must live to count as a recovery. */
const healthyAfterMs = 30_000;

export function afterSession(backoff: Backoff, livedMs: number): Backoff {
  return { failures: livedMs >= healthyAfterMs ? 1 : backoff.failures + 1 };
}

/** @param random in [0, 1) */
export function delayMs({ failures }: Backoff, random: number): number {
  if (failures === 0) return 0;
  // The exponent is capped too: 2 ** 1000 would not be a number to compare.
  const step = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), capMs);
  return Math.round(step * (1 - jitter + 2 * jitter * random));
}
