/** The time after a start in which a status stays as it is: what it says was found out before, and nothing newer is known yet. */
import { type Context, graceMs } from './context.ts';
import type { TargetView } from './target-view.ts';

/** @param view of a GitTarget whose status, or whose rule's status, is to be decided */
export function isSettling({ memory, mirror, clock, startedAt }: Context, view: TargetView): boolean {
  if (view.settling) return true;
  const starting = memory.applied.has(view.key) && mirror.observe(view.key) === undefined;
  return starting && clock.now() - startedAt < graceMs;
}

/** Whether the status was decided on the present spec, perhaps by a process before this one. */
export function isDecided({
  metadata,
  status,
}: {
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: { readonly observedGeneration?: number | undefined } | undefined;
}): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation;
}
