/**
 * From what was found to conditions. Status and level of every reason stand in the condition tables, so a decision only says
 * which reason holds and why. Pure.
 */
import type { Condition } from '../api/condition.ts';
import type { ConditionTable, ReasonRow } from '../api/conditions.ts';
import { type ConditionUpdate, type Contributor, deriveTrio, setConditions } from '../api/trio.ts';

/** One condition as it was decided. */
export interface Gate {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly row: ReasonRow;
}

export interface Decision {
  /** Conditions besides the trio. */
  readonly gates: readonly Gate[];
  /** What Ready depends on, the most telling first. */
  readonly contributors: readonly Contributor[];
}

type ReasonOf<Table extends ConditionTable, Type extends keyof Table> = keyof Table[Type]['reasons'] & string;

/** Makes conditions of one kind; a reason that its table does not have does not compile. */
export function gatesOf<const Table extends ConditionTable & { Ready: unknown }>(table: Table) {
  return {
    gate<Type extends keyof Table & string>(
      type: Type,
      reason: ReasonOf<Table, Type>,
      message = '',
    ): Gate & { readonly type: Type; readonly reason: ReasonOf<Table, Type> } {
      return { type, reason, message, row: rowOf(table, type, reason) };
    },
    /** A reason of Ready itself. */
    ready(reason: ReasonOf<Table, 'Ready'>, message = ''): Contributor {
      return contributor({ type: 'Ready', reason, message, row: rowOf(table, 'Ready', reason) });
    },
  };
}

/** How a condition counts for Ready: what needs a person stalls, what passes by itself is progress. */
export function contributor({ row, reason, message }: Gate): Contributor {
  if (row.status === 'True') return { level: 'converged', reason, message };
  if (row.actor !== 'sidecar') return { level: 'stalled', reason, message };
  return { level: 'progressing', reason, message, ready: row.status };
}

export function holds(gate: Gate): boolean {
  return gate.row.status === 'True';
}

/**
 * The conditions of a status, from the ones it has. Order and transition times are kept; a condition of the table that was not
 * decided goes, unless it is told beside Ready by somebody else.
 */
export function conditionsOf(
  before: readonly Condition[] | undefined,
  table: ConditionTable,
  { gates, contributors }: Decision,
  generation: number,
  now: string,
): Condition[] {
  const trio = deriveTrio(contributors, generation, now);
  const updates: ConditionUpdate[] = [
    ...trio.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    ...gates.map(({ type, reason, message, row }) => ({ type, status: row.status, reason, message })),
  ].map((update) => ({ ...update, observedGeneration: generation }));
  const kept = (before ?? []).filter(({ type }) => {
    const row = table[type];
    return row === undefined || row.beside === true || updates.some((update) => update.type === type);
  });
  return setConditions(kept, updates, now);
}

function rowOf(table: ConditionTable, type: string, reason: string): ReasonRow {
  const row = table[type]?.reasons[reason];
  if (row === undefined) throw new Error(`the table of conditions has no ${type}/${reason}`);
  return row;
}
