/** What an applier asks before it applies, and the GitTargets such a question can be about. */
import type { TargetKey } from '../branch/state.ts';

export type ApplierKind = 'argocd' | 'flux';
/** Where in its work the applier is: rendering, about to apply, or fetching what it will apply. */
export type GatePhase = 'render' | 'presync' | 'fetch';

export interface ApplicationRef {
  readonly namespace: string;
  readonly name: string;
}

/** May the applier write `revision` of this repository over what is live? */
export interface GateQuestion {
  readonly applier: ApplierKind;
  /** The Application, or what stands for it: for Flux the source. */
  readonly application: ApplicationRef;
  readonly repoURL: string;
  /** A branch name, or HEAD for the default branch; anything else names no branch that somebody writes. */
  readonly targetRevision: string;
  /** The commit it is about to apply. */
  readonly revision: string;
  /** '' is the whole repository. */
  readonly path: string;
  readonly phase: GatePhase;
}

/** One GitTarget as far as the gate must know it. */
export interface GateTarget {
  readonly key: TargetKey;
  readonly namespace: string;
  /** Key of the normalised repository URL. */
  readonly repository: string;
  readonly branch: string;
  /** Normalised; '' is the root. */
  readonly path: string;
  /** Its condition Validated holds. */
  readonly validated: boolean;
  /** Its credential has reached this remote at least once. */
  readonly credentialVerified: boolean;
  /** Its KubeProvider lets it guard appliers of other namespaces. */
  readonly crossNamespace: boolean;
  /** It is meant to write: not suspended, and nothing in its own spec keeps it from running. */
  readonly writes: boolean;
}
