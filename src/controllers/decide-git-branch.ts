/** What is known of one branch, as conditions. Pure. */
import { gitBranchConditions } from '../api/conditions.ts';
import type { Contributor } from '../api/trio.ts';
import type { Failure } from '../core/branch/state.ts';
import type { BranchObservation } from '../worker/mirror-spec.ts';
import { type Decision, gatesOf } from './gates.ts';

const { ready } = gatesOf(gitBranchConditions);

export interface BranchFacts {
  readonly branch: string;
  readonly provider: {
    readonly name: string;
    readonly exists: boolean;
    readonly ready: boolean;
    readonly allowed: boolean;
  };
  /** Name of the older GitBranch of the same branch. */
  readonly duplicateOf: string | undefined;
  /** GitTargets that name the branch. */
  readonly targets: number;
  readonly observation: BranchObservation | undefined;
}

export function decideGitBranch(facts: BranchFacts): Decision {
  return { gates: [], contributors: [decide(facts)] };
}

function decide({ branch, provider, duplicateOf, targets, observation }: BranchFacts): Contributor {
  if (!provider.exists)
    return ready('GitProviderNotFound', `there is no GitProvider ${provider.name} in this namespace`);
  if (!provider.allowed) {
    return ready(
      'BranchNotAllowed',
      `no pattern of allowedBranches of GitProvider ${provider.name} matches ${branch}`,
    );
  }
  if (duplicateOf !== undefined) {
    return ready('Duplicate', `GitBranch ${duplicateOf} names the same branch and is older; delete this one`);
  }
  if (targets === 0) return ready('NotReferenced', 'no GitTarget uses the branch');
  const halt = observation?.halt;
  if (halt !== undefined) return ready(halt, haltMessage(branch, halt));
  if (observation?.failure !== undefined) {
    return ready(failureReason(observation.failure), failureMessage(observation.failure));
  }
  if (observation?.tip !== undefined) {
    return ready(
      'Succeeded',
      observation.tip === null
        ? 'the remote has no such branch yet; the first edit makes it'
        : 'the remote branch is known',
    );
  }
  if (!provider.ready)
    return ready('GitProviderNotReady', `GitProvider ${provider.name} is not ready; see its conditions`);
  return ready('Checking', 'the remote is being asked');
}

/** Both words are Ready reasons of GitBranch and of GitTarget. */
export function failureReason({ reason }: Failure): 'PushRefused' | 'RemoteUnreachable' {
  return reason === 'PushRefused' ? 'PushRefused' : 'RemoteUnreachable';
}

export function failureMessage({ reason, message }: Failure): string {
  return `${reason}: ${message}`;
}

export function haltMessage(branch: string, halt: 'BranchGone' | 'HistoryRewritten'): string {
  const what =
    halt === 'BranchGone'
      ? `branch ${branch} was deleted on the remote`
      : `branch ${branch} shares no commit with what was published`;
  return `${what}; to go on, set the annotation reconcile.configbutler.ai/requestedAt of the GitBranch to a new value`;
}
