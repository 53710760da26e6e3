/** Reconciles a ClusterWatchRule. */
import { clusterWatchRuleConditions } from '../api/conditions.ts';
import { type Context, conflictMs, steadyMs, unconvergedMs } from './context.ts';
import { persist } from './persist.ts';
import { ruleStatus } from './rule-status.ts';

export async function reconcileClusterWatchRule(context: Context, key: string): Promise<number | undefined> {
  const rule = context.store.get('ClusterWatchRule', key);
  if (rule === undefined || rule.metadata.deletionTimestamp !== undefined) {
    context.memory.resolved.delete(`ClusterWatchRule ${key}`);
    return undefined;
  }
  const status = ruleStatus(context, rule, clusterWatchRuleConditions);
  if (status === undefined) return unconvergedMs;
  return (await persist(context, 'ClusterWatchRule', rule, status)) === 'conflict' ? conflictMs : steadyMs;
}
