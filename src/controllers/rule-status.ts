/** The status of either kind of rule. */
import type { ConditionTable } from '../api/conditions.ts';
import type { WatchRuleStatus } from '../api/watch-rule.ts';
import type { Context } from './context.ts';
import { conditionsOf } from './gates.ts';
import { type AnyRule, targetKeyOf, viewRule } from './rule-view.ts';
import { streamsStatus } from './streams.ts';
import { viewTarget } from './target-view.ts';
import { timestampOf } from './time.ts';

export function ruleStatus(context: Context, rule: AnyRule, table: ConditionTable): WatchRuleStatus {
  const { store, mirror, memory, clock } = context;
  const target = store.get('GitTarget', targetKeyOf(rule));
  const view = target === undefined ? undefined : viewTarget(context, target);
  const { decision, collections } = viewRule(context, rule, view);
  const generation = rule.metadata.generation ?? 0;
  const observed =
    view !== undefined && memory.applied.has(view.key) ? mirror.observe(view.key)?.streams : undefined;
  return {
    observedGeneration: generation,
    conditions: conditionsOf(rule.status?.conditions, table, decision, generation, timestampOf(clock.date())),
    streams: streamsStatus(collections, observed ?? []),
  };
}
