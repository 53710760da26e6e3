/** Turns of the thread for streams: a long snapshot lets everything else have its turn between two slices. */
import type { Clock } from './clock.ts';

/**
 * Asked after each event: what is returned has to be awaited before the next one; undefined while the slice lasts. `long` is
 * what a snapshot tells, `live` what just happened.
 */
export type StreamTurn = (work: 'live' | 'long') => Promise<void> | undefined;

const sliceMs = 10;

export function streamTurns(clock: Clock): StreamTurn {
  let startedAt = clock.now();
  return () => {
    if (clock.now() - startedAt < sliceMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        startedAt = clock.now();
        resolve();
      });
    });
  };
}
