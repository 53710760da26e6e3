/** The rules of a GitTarget and what they mean now. */
import type { ClusterWatchRule } from '../api/cluster-watch-rule.ts';
import type { GitTarget } from '../api/git-target.ts';
import { findCondition } from '../api/trio.ts';
import type { WatchRule } from '../api/watch-rule.ts';
import { noCatalog } from '../core/catalog/index.ts';
import { collectionKey } from '../kube/collection.ts';
import type { WatchedCollection } from '../worker/mirror-spec.ts';
import type { Context } from './context.ts';
import { decideRule, type RuleFacts, type RuleResult, type RuleTarget } from './decide-rule.ts';
import { keyFrom, keyOf } from './object-key.ts';
import type { TargetView } from './target-view.ts';

export type AnyRule = WatchRule | ClusterWatchRule;

export interface RuleView {
  readonly rule: AnyRule;
  readonly result: RuleResult;
}

export function targetKeyOf({ kind, metadata, spec }: AnyRule): string {
  const namespace = kind === 'ClusterWatchRule' ? spec.gitTargetRef.namespace : metadata.namespace;
  return keyFrom(namespace, spec.gitTargetRef.name);
}

/** Every rule that feeds the target. */
export function rulesOf(context: Context, view: TargetView): RuleView[] {
  const { store } = context;
  const rules: AnyRule[] = [...store.list('WatchRule'), ...store.list('ClusterWatchRule')];
  return rules
    .filter((rule) => rule.metadata.deletionTimestamp === undefined && targetKeyOf(rule) === view.key)
    .map((rule) => ({ rule, result: viewRule(context, rule, view) }));
}

/** The union of what the rules of a target select; equal collections are one. */
export function collectionsOf(context: Context, view: TargetView): WatchedCollection[] {
  const collections = new Map<string, WatchedCollection>();
  for (const { result } of rulesOf(context, view)) {
    for (const collection of result.collections) collections.set(collectionKey(collection), collection);
  }
  return [...collections.values()];
}

/** @param view of the rule's target; undefined when there is none */
export function viewRule(context: Context, rule: AnyRule, view: TargetView | undefined): RuleResult {
  const { memory, mirror, encryption } = context;
  const memoryKey = `${rule.kind} ${keyOf(rule)}`;
  // A changed rule keeps nothing of what it meant before.
  const intent = JSON.stringify([rule.metadata.uid, rule.metadata.generation]);
  const before = memory.resolved.get(memoryKey);
  const known = view?.cluster?.catalog ?? noCatalog;
  const catalog = view === undefined ? known : encryption.catalogFor(known, view.sealing);
  const facts: RuleFacts = {
    kind: rule.kind,
    namespace: rule.metadata.namespace ?? '',
    items: rule.spec.rules,
    target: view === undefined ? undefined : targetOf(view),
    targetName: targetKeyOf(rule),
    grant: view?.grant ?? { kind: 'denied' },
    kubeProviderName: view?.kubeProviderName ?? '',
    catalog,
    previous: before?.intent === intent ? before.collections : [],
    observed:
      view === undefined || !memory.applied.has(view.key) ? undefined : mirror.observe(view.key)?.streams,
    before: rule.status?.conditions ?? [],
  };
  const result = decideRule(facts);
  if (catalog.known) memory.resolved.set(memoryKey, { intent, collections: result.collections });
  return result;
}

/** Its Ready is taken from its status: that is what the rule repeats. */
function targetOf({ target, validated }: TargetView): RuleTarget {
  const conditions = target.status?.conditions ?? [];
  const ready = readyOf(target);
  return {
    validated,
    ready: ready?.status === 'True',
    stalled: findCondition(conditions, 'Stalled')?.status === 'True',
    reason: ready?.reason ?? 'NotReady',
    message: ready?.message ?? 'it was not looked at yet',
  };
}

function readyOf({ status }: GitTarget) {
  return findCondition(status?.conditions, 'Ready');
}
