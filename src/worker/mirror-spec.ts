/**
 * What the controllers ask of the workers, and what they read back. The controllers decide whether a GitTarget may run and
 * with which settings; the workers run it and report facts. Conditions are made from these facts, never here.
 */
import type { Failure, Halt, TargetKey } from '../core/branch/state.ts';
import type { PlacementSpec } from '../core/folder/index.ts';
import type { KustomizeLayout } from '../core/kustomize/index.ts';
import type { Refusal } from '../core/refusal.ts';
import type { ArgocdTracking } from '../core/sanitize/index.ts';
import type { Concealed } from '../core/sealed/index.ts';
import type { Access } from '../git/credentials.ts';
import type { Signer } from '../git/signing.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Collection, StreamState } from '../kube/collection.ts';
import type { Examination, FlushMark } from './examine.ts';

/** A collection to watch, with what the planner needs to know of its type. */
export interface WatchedCollection extends Collection {
  readonly kind: string;
  readonly namespaced: boolean;
}

/** How sensitive objects of a target are sealed. Another object is another setting. */
export interface Sealing {
  /** age recipients, for documents that no rule of the repository governs. */
  readonly recipients: readonly string[];
  /** Private age keys, one a line; undefined: documents are sealed and never opened. */
  readonly keys: Concealed<string> | undefined;
}

/** One GitTarget that may run, with everything it refers to resolved. */
export interface MirrorSpec {
  /** `namespace/name` of the GitTarget. */
  readonly key: TargetKey;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Name of the GitProvider, in the same namespace. */
  readonly provider: string;
  readonly access: Access;
  readonly committer: { readonly name: string; readonly email: string };
  readonly signer: Signer | undefined;
  readonly branch: string;
  /** Normalised: no trailing slash, '' for the repository root. */
  readonly path: string;
  /** Git has confirmed this branch before (GitBranch.status.lastPushedCommit): gone means gone, not new. */
  readonly lastPushedCommit: string | undefined;
  readonly idleTimeoutMs: number;
  readonly maxDurationMs: number;
  readonly liveTemplate: string | undefined;
  readonly reconcileTemplate: string | undefined;
  readonly placement: PlacementSpec;
  readonly serializeNamespace: boolean | undefined;
  readonly prune: 'Never' | 'OnEvent' | 'Always';
  readonly ignoreManagers: readonly string[];
  readonly suspend: boolean;
  /** Undefined: sensitive objects are refused. */
  readonly sealing: Sealing | undefined;
  /** Name of the KubeProvider, its client and the uid of its kube-system namespace. */
  readonly cluster: { readonly name: string; readonly client: KubeClient; readonly uid: string };
  readonly collections: readonly WatchedCollection[];
  /** How an Argo CD would mark what it applies. */
  readonly tracking: ArgocdTracking;
  /** Value of reconcile.configbutler.ai/requestedAt: a new one reads Git again and takes a new snapshot. */
  readonly resync: string;
  /** Value of the same annotation on the GitBranch: a new one takes the remote as it is after a halt. */
  readonly acknowledged: string;
}

/** `deployments.apps in shop`. */
export function describeCollection({ group, resource, namespace }: WatchedCollection): string {
  return `${resource}${group === '' ? '' : `.${group}`}${namespace === '' ? '' : ` in ${namespace}`}`;
}

export interface StreamObservation {
  readonly collection: WatchedCollection;
  readonly state: StreamState;
}

export interface BranchObservation {
  /** Tip of the remote as last seen; null = no such branch; undefined = not read yet. */
  readonly tip: string | null | undefined;
  /** Milliseconds since the epoch. */
  readonly verifiedAt: number | undefined;
  readonly verifiedBy: 'Push' | 'Fetch' | undefined;
  /** Last commit of ours that the remote confirmed. */
  readonly lastPushedCommit: string | undefined;
  readonly lastPushedAt: number | undefined;
  readonly failure: Failure | undefined;
  readonly retryAt: number | undefined;
  readonly halt: Halt | undefined;
  /** Closed windows that the remote has not confirmed, plus open ones. */
  readonly pendingWrites: number;
  readonly pendingObjects: number;
}

export interface TargetObservation {
  readonly branch: BranchObservation;
  readonly streams: readonly StreamObservation[];
  /** The folder was read at this commit; undefined = not read yet. */
  readonly folder:
    | {
        readonly commit: string | null;
        /** Refuses the whole folder; nothing is written while it stands. */
        readonly refusals: readonly Refusal[];
        /** Files without a readable record, by path with the reason. */
        readonly skipped: readonly { readonly path: string; readonly reason: string }[];
        readonly documents: number;
        /** Which kustomization takes new objects in. */
        readonly layout?: KustomizeLayout;
      }
    | undefined;
  /** Edits refused one by one; each stays until its object is written or changes back. */
  readonly refused: readonly Refusal[];
  /** Documents whose object is gone but that prune keeps; undefined = no snapshot yet. */
  readonly retained: number | undefined;
  /** Last words for people, e.g. that an autoscaler owns replicas. */
  readonly notices: readonly string[];
}

export interface FlushReport {
  readonly tip: string | null;
  readonly published: readonly { readonly target: TargetKey; readonly commit: string }[];
  readonly refused: readonly Refusal[];
  /** Edits still not published when the flush ended, and why. */
  readonly pending: number;
  readonly closed: { readonly reason: string; readonly message: string } | undefined;
}

/** A fact worth an Event on the GitTarget; `reason` is a refusal reason, a notice code or one of these. */
export interface MirrorEvent {
  readonly target: TargetKey;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Mirror {
  /** The whole wanted set: starts, changes and stops what differs. Never restarts streams that stay the same. */
  apply(specs: readonly MirrorSpec[]): void;
  observe(target: TargetKey): TargetObservation | undefined;
  /** Publishes every edit accepted so far by the streams of the target. Concurrent calls share one flush. */
  flush(target: TargetKey, deadlineAt: number): Promise<FlushReport>;
  /** A mark of this moment without a flush, for an apply that runs already; undefined when none of them runs. */
  mark(keys: readonly TargetKey[]): FlushMark | undefined;
  /**
   * Finds out for a gate whether a revision holds every live edit of these targets; they share a branch. Those that do not
   * run are left out.
   */
  examine(
    targets: readonly TargetKey[],
    revision: string,
    deadlineAt: number,
  ): Promise<Examination | undefined>;
  /** The default branch of a repository that a running target writes to; undefined when it cannot be had. */
  defaultBranch(repository: string): Promise<string | undefined>;
  /** Called after something observable changed; returns how to stop listening. */
  onChange(listener: (target: TargetKey) => void): () => void;
  onEvent(listener: (event: MirrorEvent) => void): () => void;
  /** Publishes what it can until then and ends. Returns the number of edits that are not published. */
  stop(deadlineAt: number): Promise<number>;
}
