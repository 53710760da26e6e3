/** Reconciles a WatchRule. */
import { watchRuleConditions } from '../api/conditions.ts';
import { type Context, conflictMs, steadyMs, unconvergedMs } from './context.ts';
import { persist } from './persist.ts';
import { ruleStatus } from './rule-status.ts';

export async function reconcileWatchRule(context: Context, key: string): Promise<number | undefined> {
  const rule = context.store.get('WatchRule', key);
  if (rule === undefined || rule.metadata.deletionTimestamp !== undefined) {
    context.memory.resolved.delete(`WatchRule ${key}`);
    return undefined;
  }
  const status = ruleStatus(context, rule, watchRuleConditions);
  if (status === undefined) return unconvergedMs;
  return (await persist(context, 'WatchRule', rule, status)) === 'conflict' ? conflictMs : steadyMs;
}
