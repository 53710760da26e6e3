/** The annotation with which a person lifts a halt of a branch. Pure. */

import type { GitBranch } from '../api/git-branch.ts';
import { annotations } from '../api/group.ts';
import type { BranchObservation } from '../worker/mirror-spec.ts';

/** Its value on the GitBranch. */
export function requestedAt({ metadata }: Pick<GitBranch, 'metadata'>): string {
  return metadata.annotations?.[annotations.requestedAt] ?? '';
}

/**
 * The value the branch worker is given. A worker takes its first value for old, so a request made while nobody ran is handed over
 * only once the worker has looked at the remote.
 */
export function acknowledgement(
  branch: Pick<GitBranch, 'metadata' | 'status'>,
  observation: BranchObservation | undefined,
): string {
  const looked = observation?.tip !== undefined || observation?.halt !== undefined;
  return looked ? requestedAt(branch) : (branch.status?.lastHandledReconcileAt ?? '');
}

/** What the status may call handled: the request was handed over and no halt is left. */
export function handledRequest(
  branch: Pick<GitBranch, 'metadata' | 'status'>,
  observation: BranchObservation | undefined,
  handedOver: string | undefined,
): string | undefined {
  const wanted = requestedAt(branch);
  const done = observation?.tip !== undefined && observation.halt === undefined && handedOver === wanted;
  return (done ? wanted : branch.status?.lastHandledReconcileAt) || undefined;
}
