/** What the workers count. Metrics implement it; tests read it. */
import type { TargetKey } from '../core/branch/state.ts';
import type { Collection, Snapshot } from '../kube/collection.ts';
import type { BranchCounts } from './branch-counts.ts';
import type { EventOutcome } from './collection-feed.ts';
import type { MirrorSpec } from './mirror-spec.ts';

export interface MirrorCounts {
  branch(spec: MirrorSpec): BranchCounts;
  event(target: TargetKey, collection: Collection, outcome: EventOutcome): void;
  /** Handing a change to its branch took this long, waiting for memory included. */
  handled(collection: Collection, durationMs: number): void;
  settled(target: TargetKey, collection: Collection, snapshot: Snapshot): void;
  /** sops was asked to seal a document. */
  sealed(outcome: 'encrypted' | 'failed'): void;
  /** An applier's own write was told from edits. */
  applied(target: TargetKey, verdict: 'echo' | 'collision'): void;
}
