/** When a changed spec means another target, another plan, or nothing at all. */
import type { FlushReport, MirrorSpec } from './mirror-spec.ts';
import type { TargetRun } from './target-run.ts';

/** A flush of a target that does not run. */
export const notRunning: FlushReport = {
  tip: null,
  published: [],
  refused: [],
  pending: 0,
  closed: { reason: 'NotRunning', message: 'the GitTarget is not running; its conditions say why' },
};

/** What cannot be changed in place: the object itself, its branch, and the connection its streams hold. */
export function isAnother(
  { target, branchKey }: { readonly target: TargetRun; readonly branchKey: string },
  spec: MirrorSpec,
): boolean {
  const { uid, cluster } = target.spec;
  return uid !== spec.uid || cluster.client !== spec.cluster.client || branchKey !== branchKeyOf(spec);
}

/** The settings that planning reads: another value may give a refused edit a place. */
export function planningOf({ placement, serializeNamespace, prune, ignoreManagers }: MirrorSpec): string {
  return JSON.stringify([placement, serializeNamespace, prune, ignoreManagers]);
}

export function branchKeyOf(spec: MirrorSpec): string {
  return `${spec.access.url.key} ${spec.branch}`;
}
