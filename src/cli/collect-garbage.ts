/**
 * One full garbage collection after a snapshot. Reading a cluster leaves much that is dead in the old generation, and V8
 * takes its time to look there in a process that then idles: without this the memory of a start stays for hours.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../kube/clock.ts';

/** Other snapshots of the same start settle within this. */
const quietMs = 5_000;

/** Returns what to call after each settled snapshot. */
export function garbageCollector(clock: Clock): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  let cancel: () => void = () => undefined;
  return () => {
    cancel();
    cancel = clock.after(quietMs, () => {
      if (typeof collect === 'function') collect();
    });
  };
}
