/** The status of either kind of rule. */
import type { ConditionTable } from '../api/conditions.ts';
import type { WatchRuleStatus } from '../api/watch-rule.ts';
import type { Context } from './context.ts';
import { conditionsOf } from './gates.ts';
import { type AnyRule, targetKeyOf, viewRule } from './rule-view.ts';
import { isDecided, isSettling } from './settling.ts';
import { streamsStatus } from './streams.ts';
import { viewTarget } from './target-view.ts';
import { timestampOf } from './time.ts';

/** Undefined: nothing newer than the status is known yet. */
export function ruleStatus(
  context: Context,
  rule: AnyRule,
  table: ConditionTable,
): WatchRuleStatus | undefined {
  const { store, mirror, memory, clock } = context;
  const target = store.get('GitTarget', targetKeyOf(rule));
  const view = target === undefined ? undefined : viewTarget(context, target);
  const { decision, collections } = viewRule(context, rule, view);
  if (view !== undefined && isSettling(context, view) && isDecided(rule)) return undefined;
  const generation = rule.metadata.generation ?? 0;
  const observed =
    view !== undefined && memory.applied.has(view.key) ? mirror.observe(view.key)?.streams : undefined;
  return {
    observedGeneration: generation,
    conditions: conditionsOf(rule.status?.conditions, table, decision, generation, timestampOf(clock.date())),
    streams: streamsStatus(collections, observed ?? []),
  };
}
