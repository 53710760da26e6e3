/**
 * The life of one branch as values: what is collected, what is decided, what Git has confirmed.
 *
 * `step(state, input)` in step.ts is the only code that moves a state on. Core: no I/O, no clock; the worker feeds inputs
 * one at a time and carries out the effects exactly as said. Times are milliseconds of any one clock.
 */
import type { ObjectId } from '../identity.ts';
import type { JsonObject } from '../json.ts';
import type { Refusal } from '../refusal.ts';

/** `namespace/name` of a GitTarget. */
export type TargetKey = string;

/** Who made an edit, as Git shall name them, and how well that is proven. */
export interface Author {
  /** Git author; undefined = the committer signs alone. */
  readonly git?: { readonly name: string; readonly email: string };
  /** Field managers seen on the edit, e.g. `kubectl-edit`. */
  readonly managers: readonly string[];
  readonly proof: 'audit' | 'managedFields' | 'none';
}

export interface ChangeResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** One live object as a stream brought it, waiting to be planned. */
export interface ObjectChange {
  readonly key: string;
  readonly id: ObjectId;
  readonly resource: ChangeResource;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The raw object without its status; undefined for a delete. */
  readonly live: JsonObject | undefined;
  /** For a delete: seen as DELETED, or missing from a settled snapshot. */
  readonly deletion?: 'observed' | 'absent';
  readonly uid: string;
  readonly resourceVersion: string;
  /** Digest and canonical text of the sanitized object; no text for a delete and for a sensitive object. */
  readonly digest: string;
  readonly body: string | undefined;
  /** Planned without the handled state: in a mirror, at a snapshot asked for by hand. */
  readonly whole: boolean;
  /** The applier's own write in its apply window: nothing is planned for it, it only becomes the handled state, in order. */
  readonly echo?: boolean;
  /** Estimated memory, for the byte cap. */
  readonly bytes: number;
}

/** Documents of one collection that a complete snapshot did not hold are removed (prune mode Always). */
export interface Sweep {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly present: ReadonlySet<string>;
}

/** What a commit message says of a write that came from a snapshot. */
export interface Reconcile {
  readonly resource: ChangeResource;
  readonly namespace: string | undefined;
  readonly resourceVersion: string;
}

export interface TargetSettings {
  /** uid of the GitTarget: another object of the same name is another target. */
  readonly uid: string;
  /** Silence that closes a live window; 0 = every change is its own commit. */
  readonly idleTimeoutMs: number;
  readonly maxDurationMs: number;
}

export interface Window {
  readonly target: TargetKey;
  readonly origin: 'live' | 'snapshot';
  readonly author: Author;
  readonly openedAt: number;
  lastAt: number;
  bytes: number;
  /** By object key; the last write of an object wins, first-seen order is kept. Owned by the state that holds it. */
  readonly changes: Map<string, ObjectChange>;
}

/** A closed window: decided, to be planned, committed and published in order. Kept until the remote confirms it. */
export interface Write {
  readonly sequence: number;
  readonly target: TargetKey;
  readonly targetUid: string;
  readonly author: Author;
  readonly changes: readonly ObjectChange[];
  readonly reconcile: Reconcile | undefined;
  readonly sweep: Sweep | undefined;
  readonly bytes: number;
  readonly decidedAt: number;
  /** Set once planned on the present base: the commit, or null when there was nothing to commit. */
  commit: string | null | undefined;
}

/** Why a branch stands still until a person has looked. */
export type Halt = 'BranchGone' | 'HistoryRewritten';

export type FailureReason =
  | 'AuthenticationFailed'
  | 'HostKeyUnknown'
  | 'RepositoryNotFound'
  | 'RemoteUnreachable'
  | 'PushRefused'
  | 'DiskFull'
  | 'CommitFailed'
  | 'RemoteKeepsMoving';

export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  readonly since: number;
}

export type Base =
  | { readonly kind: 'unknown' }
  /** tip null = the remote has no such branch. */
  | { readonly kind: 'known'; readonly tip: string | null };

/** A push is the one job that may go on beside another: see `pushing`. */
export type Job = 'fetch' | 'commit';

export interface Flush {
  readonly id: number;
  /** Writes up to this sequence must be published. */
  readonly mark: number;
  readonly deadlineAt: number;
}

export interface BranchState {
  readonly byteCap: number;
  readonly targets: ReadonlyMap<TargetKey, TargetSettings>;
  /** The one open live window. */
  readonly live: Window | undefined;
  /** Open snapshot windows by target and collection. */
  readonly snapshots: ReadonlyMap<string, Window>;
  readonly queue: readonly Write[];
  readonly nextSequence: number;
  readonly base: Base;
  /** Ever confirmed on the remote; from status at start. A seen branch that is gone is never created again by us. */
  readonly seen: boolean;
  readonly running: Job | undefined;
  /** The commit that a push under way publishes. No fetch runs beside it; a commit does while streams wait for memory. */
  readonly pushing: string | undefined;
  /** Something says the remote moved: fetch before anything else. */
  readonly lookAgain: boolean;
  /** Said while a fetch was under way, which may have asked before the remote moved. */
  readonly lookAfterFetch: boolean;
  /** Pushes refused by compare-and-swap in this cycle. */
  readonly moves: number;
  readonly failures: number;
  readonly failure: Failure | undefined;
  readonly retryAt: number;
  readonly halt: Halt | undefined;
  readonly flushes: readonly Flush[];
  readonly stopping: { readonly deadlineAt: number } | undefined;
  readonly stopped: boolean;
}

export type FetchResult =
  | {
      readonly kind: 'ok';
      readonly tip: string | null;
      readonly history: 'same' | 'ahead' | 'rewritten' | 'unrelated';
      /** The tip before a rewrite, as the repository knew it; also from before a restart. */
      readonly previous?: string;
      /** The newest commit of our queue that the tip holds: the answer to its push was lost. */
      readonly holds?: string;
      /** The local repository had to be made anew: commits of ours that were not pushed are gone. */
      readonly recreated?: boolean;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string };

export interface PlannedWrite {
  readonly sequence: number;
  /** null: nothing to commit. */
  readonly commit: string | null;
}

export type CommitResult =
  | { readonly kind: 'ok'; readonly planned: readonly PlannedWrite[] }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string };

export type PushResult =
  | { readonly kind: 'pushed' }
  | { readonly kind: 'moved' }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string };

export type Input =
  | { readonly kind: 'target'; readonly target: TargetKey; readonly settings: TargetSettings | undefined }
  | {
      readonly kind: 'live';
      readonly target: TargetKey;
      readonly author: Author;
      readonly change: ObjectChange;
    }
  | {
      readonly kind: 'snapshot';
      readonly target: TargetKey;
      readonly collection: string;
      readonly change: ObjectChange;
    }
  | {
      readonly kind: 'settled';
      readonly target: TargetKey;
      readonly collection: string;
      readonly reconcile: Reconcile;
      readonly sweep: Sweep | undefined;
    }
  /** The snapshot of a collection broke off: what it gathered is still true, object by object. */
  | { readonly kind: 'broken-off'; readonly target: TargetKey; readonly collection: string }
  | { readonly kind: 'fetched'; readonly result: FetchResult }
  | { readonly kind: 'committed'; readonly result: CommitResult }
  | { readonly kind: 'pushed'; readonly result: PushResult }
  | { readonly kind: 'look' }
  | { readonly kind: 'acknowledge' }
  | { readonly kind: 'flush'; readonly id: number; readonly deadlineAt: number }
  | { readonly kind: 'stop'; readonly deadlineAt: number }
  | { readonly kind: 'tick' };

export type FlushAnswer =
  | { readonly kind: 'published'; readonly tip: string | null }
  | {
      readonly kind: 'closed';
      readonly reason: FailureReason | Halt | 'Deadline' | 'Stopping';
      readonly message: string;
    };

export type Effect =
  | { readonly kind: 'fetch' }
  | { readonly kind: 'commit'; readonly base: string | null; readonly writes: readonly Write[] }
  | {
      readonly kind: 'push';
      readonly tip: string;
      readonly expected: string | null;
      readonly target: TargetKey;
    }
  /** These writes are final: persist the handled states, count, tell people. In queue order. */
  | { readonly kind: 'confirmed'; readonly writes: readonly Write[]; readonly tip: string | null }
  | { readonly kind: 'halted'; readonly halt: Halt }
  | { readonly kind: 'rewritten'; readonly previous: string; readonly tip: string }
  | { readonly kind: 'failing'; readonly failure: Failure; readonly retryAt: number }
  | { readonly kind: 'answer'; readonly flush: number; readonly answer: FlushAnswer }
  | { readonly kind: 'wake'; readonly at: number }
  | { readonly kind: 'stopped'; readonly unpublished: number };

export interface Step {
  readonly state: BranchState;
  readonly effects: readonly Effect[];
}

/** What became of one object of a planned write; the worker keeps it until the write is confirmed. */
export type ObjectOutcome =
  | { readonly kind: 'written'; readonly key: string }
  | { readonly kind: 'unchanged'; readonly key: string }
  | { readonly kind: 'retained'; readonly key: string }
  | { readonly kind: 'refused'; readonly key: string; readonly refusal: Refusal };

export function initialState(options: { byteCap: number; seen: boolean }): BranchState {
  return {
    byteCap: options.byteCap,
    targets: new Map(),
    live: undefined,
    snapshots: new Map(),
    queue: [],
    nextSequence: 1,
    base: { kind: 'unknown' },
    seen: options.seen,
    running: undefined,
    pushing: undefined,
    lookAgain: false,
    lookAfterFetch: false,
    moves: 0,
    failures: 0,
    failure: undefined,
    retryAt: 0,
    halt: undefined,
    flushes: [],
    stopping: undefined,
    stopped: false,
  };
}
