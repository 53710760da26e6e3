/** What a branch counts, and how the outcome of a write is counted. */
import type { Write } from '../core/branch/state.ts';
import { objectKey } from '../core/identity.ts';
import type { RefusalReason } from '../core/refusal.ts';
import type { PlannedOutcome } from './commit-writes.ts';

/** Counted where it happens; metrics read it. */
export interface BranchCounts {
  pushed(outcome: 'pushed' | 'moved' | 'failed', durationMs: number): void;
  fetched(reason: 'publication' | 'contention' | 'push_failure_probe' | 'refresh'): void;
  /** A commit reached the remote. */
  committed(write: Write): void;
  documents(write: Write, outcome: DocumentOutcome, count: number): void;
  /** New documents of a published write. */
  placed(target: string, disposition: 'new_file' | 'appended', count: number): void;
  refused(reason: RefusalReason): void;
  commitFailed(reason: 'refused' | 'error'): void;
  /** Decided writes that the remote has not confirmed. */
  queued(depth: number): void;
}

export type DocumentOutcome =
  | 'written'
  | 'deleted_live'
  | 'deleted_sweep'
  | 'unchanged'
  | 'retained'
  | 'refused';

/** Counts the documents of a final write by what became of them. */
export function countWrite(counts: BranchCounts, write: Write, { plan }: PlannedOutcome): void {
  const deleted = write.changes.filter(({ live }) => live === undefined).length;
  const counted = new Map<string, number>();
  for (const { outcome } of plan.outcomes) counted.set(outcome, (counted.get(outcome) ?? 0) + 1);
  const of = (outcome: string) => counted.get(outcome) ?? 0;
  const gone = Math.min(deleted, of('written'));
  counts.documents(write, write.sweep === undefined ? 'deleted_live' : 'deleted_sweep', gone);
  counts.documents(write, 'written', of('written') - gone);
  counts.documents(write, 'unchanged', of('unchanged'));
  counts.documents(write, 'retained', of('retained'));
  counts.documents(write, 'refused', of('refused'));
  for (const { reason } of plan.refused) counts.refused(reason);
  const created = new Set(
    write.changes.filter(({ operation }) => operation === 'CREATE').map(({ key }) => key),
  );
  for (const [action, disposition] of [
    ['create', 'new_file'],
    ['edit', 'appended'],
  ] as const) {
    const placed = plan.edits.filter((edit) => edit.action === action).flatMap(({ objects }) => objects);
    counts.placed(write.target, disposition, placed.filter((id) => created.has(objectKey(id))).length);
  }
}
