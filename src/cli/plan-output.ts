/** What `plan` prints: the diff or the JSON on stdout, refusals and what was left out on stderr. */
import { describeObject } from '../core/identity.ts';
import type { Plan } from '../core/plan/index.ts';
import type { Refusal } from '../core/refusal.ts';

/** The shape of `--output json`. */
export interface PlanReport {
  readonly edits: readonly {
    readonly path: string;
    readonly action: 'create' | 'edit' | 'delete';
    readonly objects: readonly string[];
    readonly fields: readonly { readonly object: string; readonly field: string }[];
  }[];
  readonly refused: readonly {
    readonly object: string | null;
    readonly reason: string;
    readonly path: string | null;
    readonly actor: string;
    readonly message: string;
  }[];
  /** Files that are not read, and objects that are never mirrored. */
  readonly skipped: readonly { readonly path?: string; readonly object?: string; readonly reason: string }[];
}

export function reportOf(plan: Plan): PlanReport {
  return {
    edits: plan.edits.map(({ path, action, objects, fields }) => ({
      path,
      action,
      objects: objects.map(describeObject),
      fields: fields.map(({ object, field }) => ({ object: describeObject(object), field })),
    })),
    refused: plan.refused.map(({ object, reason, path, actor, message }) => ({
      object: object === undefined ? null : describeObject(object),
      reason,
      path: path ?? null,
      actor,
      message,
    })),
    skipped: [
      ...plan.skipped.map(({ path, reason }) => ({ path, reason })),
      ...plan.outcomes.flatMap(({ object, outcome, message }) =>
        outcome === 'never-mirrored' ? [{ object: describeObject(object), reason: message ?? '' }] : [],
      ),
    ],
  };
}

/** Lines for stderr, one for each thing a person should know. */
export function linesFor(plan: Plan): string[] {
  return [
    ...plan.refused.map(refusalLine),
    ...plan.notices.map(({ object, message }) => `note ${describeObject(object)}: ${message}`),
    ...reportOf(plan).skipped.map(({ path, object, reason }) => `skipped ${path ?? object ?? ''}: ${reason}`),
  ].map((line) => line.replace(/\s*[\r\n]+\s*/g, ' '));
}

function refusalLine({ reason, object, path, actor, message }: Refusal): string {
  const where = [object === undefined ? undefined : describeObject(object), path].filter(
    (part) => part !== undefined,
  );
  return `refused ${reason} ${where.join(' ')} (${actor}): ${message}`;
}
