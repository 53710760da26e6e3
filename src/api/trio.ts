/** How conditions are made: the trio Ready, Reconciling, Stalled from what was found, and updates that keep time and order. */
import type { Condition, ConditionStatus } from './condition.ts';

type Level = 'converged' | 'progressing' | 'stalled';

/** One thing Ready depends on. */
export interface Contributor {
  readonly level: Level;
  readonly reason: string;
  readonly message: string;
  /** Ready while progressing: False (the default) when it is known not to hold, Unknown when it is not decided. */
  readonly ready?: 'False' | 'Unknown';
}

export interface ConditionUpdate {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

export interface ReadyEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

const rank = { converged: 0, progressing: 1, stalled: 2 } as const satisfies Record<Level, number>;
const succeeded: Contributor = { level: 'converged', reason: 'Succeeded', message: '' };
const maxMessage = 32_768;

/**
 * The trio of the worst contributor; of equals, the first one. All three are always written, False ones too.
 * `now` is the transition time of new conditions; setCondition keeps the old one where the status stays.
 */
export function deriveTrio(
  contributors: readonly Contributor[],
  observedGeneration: number,
  now: string,
): Condition[] {
  const worst = worstOf(contributors);
  return trioOf(worst).map((update) => ({
    type: update.type,
    status: update.status,
    observedGeneration,
    lastTransitionTime: now,
    reason: update.reason,
    message: bounded(update.message),
  }));
}

/** Sets one condition: updated in place, new ones at the end; the transition time moves only with the status. */
export function setCondition(
  conditions: readonly Condition[],
  update: ConditionUpdate,
  now: string,
): Condition[] {
  const before = findCondition(conditions, update.type);
  const after: Condition = {
    type: update.type,
    status: update.status,
    ...(update.observedGeneration === undefined ? {} : { observedGeneration: update.observedGeneration }),
    lastTransitionTime: before?.status === update.status ? before.lastTransitionTime : now,
    reason: update.reason,
    message: bounded(update.message),
  };
  if (before === undefined) return [...conditions, after];
  return conditions.map((condition) => (condition === before ? after : condition));
}

export function setConditions(
  conditions: readonly Condition[],
  updates: readonly ConditionUpdate[],
  now: string,
): Condition[] {
  return updates.reduce<Condition[]>((list, update) => setCondition(list, update, now), [...conditions]);
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The Event of a status write: one when the status of Ready changed or the object became stalled, else none. An absent
 * Ready counts as Unknown, so a new object that is still being read makes no Event.
 */
export function readyEvent(
  before: readonly Condition[] | undefined,
  after: readonly Condition[],
): ReadyEvent | undefined {
  const ready = findCondition(after, 'Ready');
  if (ready === undefined) return undefined;
  const wasReady = findCondition(before, 'Ready')?.status ?? 'Unknown';
  const stalled = findCondition(after, 'Stalled')?.status === 'True';
  const becameStalled = stalled && findCondition(before, 'Stalled')?.status !== 'True';
  if (ready.status === wasReady && !becameStalled) return undefined;
  return { type: stalled ? 'Warning' : 'Normal', reason: ready.reason, message: ready.message };
}

function worstOf(contributors: readonly Contributor[]): Contributor {
  let worst = contributors[0] ?? succeeded;
  for (const contributor of contributors) {
    if (rank[contributor.level] > rank[worst.level]) worst = contributor;
  }
  return worst;
}

function trioOf({ level, reason, message, ready = 'False' }: Contributor): ConditionUpdate[] {
  if (level === 'converged') {
    return [
      { type: 'Ready', status: 'True', reason, message },
      { type: 'Reconciling', status: 'False', reason: 'Succeeded', message: '' },
      { type: 'Stalled', status: 'False', reason: 'Succeeded', message: '' },
    ];
  }
  if (level === 'progressing') {
    return [
      { type: 'Ready', status: ready, reason, message },
      { type: 'Reconciling', status: 'True', reason, message },
      { type: 'Stalled', status: 'False', reason: 'Progressing', message: '' },
    ];
  }
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Reconciling', status: 'False', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

function bounded(message: string): string {
  return message.length <= maxMessage ? message : `${message.slice(0, maxMessage - 1)}…`;
}
