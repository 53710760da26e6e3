/**
 * One full garbage collection once the work of a snapshot is done. Reading a cluster leaves much that is dead in the old
 * generation, and V8 takes its time to look there in a process that then idles: without this the memory of a start stays
 * for hours.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../kube/clock.ts';

/** Other snapshots of the same start, and the commits they make, follow each other within this. */
const quietMs = 5_000;
/** Edits may never stop coming. */
const latestMs = 120_000;

export interface GarbageCollector {
  /** A snapshot settled: there is something to collect. */
  settled(): void;
  /** Something was decided, committed or published. */
  worked(): void;
}

export function garbageCollector(clock: Clock, collect = nodeCollect()): GarbageCollector {
  let wantedSince: number | undefined;
  let cancel: () => void = () => undefined;

  function wait(): void {
    if (wantedSince === undefined) return;
    cancel();
    cancel = clock.after(Math.min(quietMs, Math.max(0, wantedSince + latestMs - clock.now())), () => {
      wantedSince = undefined;
      collect();
    });
  }

  return {
    settled() {
      wantedSince ??= clock.now();
      wait();
    },
    worked: wait,
  };
}

function nodeCollect(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return () => {
    if (typeof collect === 'function') collect(thorough);
  };
}

/** A plain collection keeps the emptied pages, for minutes or for good: memory of a process that then has nothing to do. */
const thorough = { type: 'major', execution: 'sync', flavor: 'last-resort' };
