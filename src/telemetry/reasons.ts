/**
 * Every reason we give, in one table: refusals, conditions, streams, failures of a branch, Events. One word has one meaning wherever
 * it stands: plan output, condition, Event, metric label.
 */
import type { ConditionActor, ConditionTable } from '../api/conditions.ts';
import { kinds } from '../api/kinds.ts';
import type { FailureReason, Halt } from '../core/branch/state.ts';
import { type Actor, type RefusalReason, refusalReasons } from '../core/refusal.ts';
import type { StreamReason } from '../core/stream-reason.ts';

export type ReasonPlace = 'refusal' | 'condition' | 'stream' | 'branch' | 'event';

export interface Reason {
  readonly reason: string;
  readonly place: ReasonPlace;
  /** `Kind/Type` for a condition, else ''. */
  readonly where: string;
  readonly actor: ConditionActor | Actor;
}

const streamReasons = {
  WatchNotPermitted: 'platform-operator',
  NotServed: 'platform-operator',
  Throttled: 'sidecar',
  Unreachable: 'sidecar',
  MalformedStream: 'sidecar',
} as const satisfies Record<StreamReason, ConditionActor>;

const branchReasons = {
  AuthenticationFailed: 'platform-operator',
  HostKeyUnknown: 'platform-operator',
  RepositoryNotFound: 'platform-operator',
  RemoteUnreachable: 'sidecar',
  PushRefused: 'platform-operator',
  DiskFull: 'platform-operator',
  CommitFailed: 'sidecar',
  RemoteKeepsMoving: 'sidecar',
  BranchGone: 'repository-author',
  HistoryRewritten: 'repository-author',
} as const satisfies Record<FailureReason | Halt, ConditionActor>;

/** Reasons of Events that are no condition and no refusal. */
export const eventReasons = {
  FlushDone: 'nobody',
  FlushIncomplete: 'sidecar',
} as const satisfies Record<string, ConditionActor>;

export type EventReason = keyof typeof eventReasons;
export type AnyReason = RefusalReason | StreamReason | FailureReason | Halt | EventReason;

/** One row per reason and place. */
export function reasonsTable(): Reason[] {
  return [
    ...rows('refusal', refusalReasons),
    ...rows('stream', streamReasons),
    ...rows('branch', branchReasons),
    ...rows('event', eventReasons),
    ...kinds.flatMap(({ kind, conditions }) => conditionRows(kind, conditions)),
  ];
}

function conditionRows(kind: string, table: ConditionTable): Reason[] {
  return Object.entries(table).flatMap(([type, { reasons }]) =>
    Object.entries(reasons).map(
      ([reason, { actor }]): Reason => ({ reason, place: 'condition', where: `${kind}/${type}`, actor }),
    ),
  );
}

function rows(place: ReasonPlace, table: Readonly<Record<string, Reason['actor']>>): Reason[] {
  return Object.entries(table).map(([reason, actor]) => ({ reason, place, where: '', actor }));
}
