/**
 * The decision: open, superseded or closed, from what was found out. Unknown is never open (contracts 6).
 *
 * A refused edit never closes a door: it is named beside the decision.
 */
import type { FailureReason, Halt, TargetKey } from '../branch/state.ts';
import type { ApplierKind } from './question.ts';

export type ClosedReason =
  | 'SnapshotPending'
  | 'NotFresh'
  | 'PushRefused'
  | 'RemoteUnreachable'
  | 'BranchGone'
  | 'HistoryRewritten'
  | 'SaveHoldsWindow'
  | 'LeaderUnreachable'
  | 'Deadline';

/** An edit that Git holds and the asked revision does not. */
export interface PublishedEdit {
  readonly target: TargetKey;
  /** `Deployment/shop/web`. */
  readonly object: string;
  readonly fields: readonly string[];
  readonly commit: string;
  readonly author: string;
}

/** An edit that cannot be written; the apply will overwrite it. */
export interface RefusedEdit {
  readonly target: TargetKey;
  readonly object: string;
  readonly fields: readonly string[];
  readonly reason: string;
}

export type GateAnswer =
  | { readonly decision: 'open'; readonly covered: false }
  | {
      readonly decision: 'open';
      readonly covered: true;
      readonly tip: string;
      readonly revision: string;
      readonly edits: readonly PublishedEdit[];
      readonly refused: readonly RefusedEdit[];
    }
  | {
      readonly decision: 'superseded';
      readonly tip: string;
      readonly edits: readonly PublishedEdit[];
      readonly refused: readonly RefusedEdit[];
    }
  | Closed;

export interface Closed {
  readonly decision: 'closed';
  readonly reason: ClosedReason;
  /** A sentence for a person. */
  readonly message: string;
  readonly retryAfterMs: number;
}

/** How well a watched collection is known at the moment of the question. */
export type Freshness =
  /** Everything the API server had accepted is handled. */
  | 'fresh'
  /** No snapshot has settled since this process started. */
  | 'unsettled'
  /** The API server does not serve the type. */
  | 'not-served'
  /** 401 or 403. */
  | 'denied'
  /** It could not be read, or something in it could not be taken over. */
  | 'stale';

export interface CollectionEvidence {
  /** For people, e.g. `deployments.apps in shop`. */
  readonly name: string;
  readonly freshness: Freshness;
  /** A snapshot of it settled once, in this process or before. */
  readonly settledOnce: boolean;
  readonly message: string;
}

export interface TargetEvidence {
  readonly target: TargetKey;
  /** It is at work; its streams are known. */
  readonly running: boolean;
  readonly collections: readonly CollectionEvidence[];
  /** The folder's tree at the asked revision is the tip's; undefined = not compared. */
  readonly sameTree: boolean | undefined;
  readonly refused: readonly RefusedEdit[];
}

export type FlushEvidence =
  | { readonly kind: 'published'; readonly tip: string | null }
  | {
      readonly kind: 'closed';
      readonly reason: FailureReason | Halt | 'Deadline' | 'Stopping';
      readonly message: string;
    };

export interface GateFacts {
  readonly applier: ApplierKind;
  readonly revision: string;
  readonly targets: readonly TargetEvidence[];
  readonly flush: FlushEvidence;
  /** Our repository holds the asked commit, if need be after one fetch. */
  readonly hasRevision: boolean;
  /** What was published since the asked revision. */
  readonly edits: readonly PublishedEdit[];
}

export function decide(facts: GateFacts): GateAnswer {
  const { applier, targets, flush, hasRevision, revision } = facts;
  const blind = targets.flatMap((target) => blindness(target, applier) ?? []).at(0);
  if (blind !== undefined) return blind;
  if (flush.kind === 'closed') return closed(flushReasons[flush.reason], flush.message);
  const { tip } = flush;
  if (tip === null) {
    return closed(
      'BranchGone',
      `the remote has no such branch, but ${short(revision)} of it is about to be applied`,
    );
  }
  if (!hasRevision) {
    return closed('NotFresh', `the remote does not show the commit ${short(revision)} on this branch (yet)`);
  }
  const refused = targets.flatMap((target) => target.refused);
  if (targets.every(({ sameTree }) => sameTree === true)) {
    return { decision: 'open', covered: true, tip, revision, edits: [], refused };
  }
  return { decision: 'superseded', tip, edits: facts.edits, refused };
}

/** Why a target cannot vouch for its live objects; undefined when it can. */
function blindness(target: TargetEvidence, applier: ApplierKind): Closed | undefined {
  if (!target.running) {
    return closed('SnapshotPending', `GitTarget ${target.target} has not read its objects yet`);
  }
  for (const collection of target.collections) {
    const reason = blindReason(collection, applier);
    if (reason !== undefined) {
      return closed(reason, `GitTarget ${target.target}: ${collection.name}: ${collection.message}`);
    }
  }
  return undefined;
}

/**
 * No deadlock: what is not served cannot be edited, and what we were never allowed to read was never promised to anybody;
 * with Flux the latter is only reported, since one source may feed many folders.
 */
function blindReason(
  { freshness, settledOnce }: CollectionEvidence,
  applier: ApplierKind,
): ClosedReason | undefined {
  switch (freshness) {
    case 'fresh':
    case 'not-served':
      return undefined;
    case 'unsettled':
      return 'SnapshotPending';
    case 'denied':
      return settledOnce || applier === 'argocd' ? 'NotFresh' : undefined;
    case 'stale':
      return 'NotFresh';
  }
}

const flushReasons: Readonly<Record<FailureReason | Halt | 'Deadline' | 'Stopping', ClosedReason>> = {
  PushRefused: 'PushRefused',
  AuthenticationFailed: 'PushRefused',
  RemoteKeepsMoving: 'PushRefused',
  CommitFailed: 'PushRefused',
  DiskFull: 'PushRefused',
  RemoteUnreachable: 'RemoteUnreachable',
  HostKeyUnknown: 'RemoteUnreachable',
  RepositoryNotFound: 'RemoteUnreachable',
  BranchGone: 'BranchGone',
  HistoryRewritten: 'HistoryRewritten',
  Deadline: 'Deadline',
  Stopping: 'Deadline',
};

/** When asking again may help: what a person must solve is not worth a question a second. */
const retryAfter: Readonly<Record<ClosedReason, number>> = {
  SnapshotPending: 2_000,
  NotFresh: 2_000,
  PushRefused: 15_000,
  RemoteUnreachable: 10_000,
  BranchGone: 60_000,
  HistoryRewritten: 60_000,
  SaveHoldsWindow: 2_000,
  LeaderUnreachable: 5_000,
  Deadline: 2_000,
};

export function closed(reason: ClosedReason, message: string): Closed {
  return { decision: 'closed', reason, message, retryAfterMs: retryAfter[reason] };
}

function short(commit: string): string {
  return commit.slice(0, 12);
}
