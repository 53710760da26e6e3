/** Which objects have to be looked at again when one changed. Pure, over the store. */
import type { GitTarget } from '../api/git-target.ts';
import { keyFrom, keyOf, splitKey } from './object-key.ts';
import type { KindName } from './objects.ts';
import { targetKeyOf } from './rule-view.ts';
import type { Store } from './store.ts';
import { branchNamed, branchObject } from './target-view.ts';

export type Dependent = readonly [kind: KindName, key: string];

/** The object itself is one of them. */
export function dependentsOf(store: Store, kind: KindName, key: string): Dependent[] {
  const self: Dependent = [kind, key];
  const { namespace } = splitKey(key);
  switch (kind) {
    case 'KubeProvider':
      return [self, ...targetsOfCluster(store, key)];
    case 'GitProvider':
      // Another repository may turn up under any target's folder.
      return [self, ...branchesIn(store, namespace), ...everyTarget(store)];
    case 'GitBranch':
      return [self, ...branchesIn(store, namespace), ...everyTarget(store)];
    case 'GitTarget':
      return [self, ...providersIn(store, namespace), ...branchesIn(store, namespace), ...everyTarget(store)];
    case 'WatchRule':
    case 'ClusterWatchRule': {
      const rule = store.get(kind, key);
      // Of a deleted rule nobody knows any more whom it fed.
      return [self, ...(rule === undefined ? everyTarget(store) : withRules(store, targetKeyOf(rule)))];
    }
  }
}

/** What the observation of a target is told in. */
export function observersOf(store: Store, targetKey: string): Dependent[] {
  const target = store.get('GitTarget', targetKey);
  if (target === undefined) return [];
  return [...withRules(store, targetKey), ...branchOf(store, target)];
}

export function targetsOfCluster(store: Store, kubeProvider: string): Dependent[] {
  return store
    .list('GitTarget')
    .filter(({ spec }) => spec.kubeProviderRef.name === kubeProvider)
    .flatMap((target) => withRules(store, keyOf(target)));
}

export function targetsOfNamespace(store: Store, namespace: string): Dependent[] {
  return store
    .list('GitTarget')
    .filter(({ metadata }) => metadata.namespace === namespace)
    .flatMap((target) => withRules(store, keyOf(target)));
}

export function targetsOfGitProvider(store: Store, providerKey: string): Dependent[] {
  const { namespace } = splitKey(providerKey);
  return [
    ...branchesIn(store, namespace),
    ...store
      .list('GitTarget')
      .filter(
        (target) =>
          keyFrom(target.metadata.namespace, branchNamed({ store }, target).providerName) === providerKey,
      )
      .map((target): Dependent => ['GitTarget', keyOf(target)]),
  ];
}

function withRules(store: Store, targetKey: string): Dependent[] {
  const rules = (['WatchRule', 'ClusterWatchRule'] as const).flatMap((kind) =>
    store
      .list(kind)
      .filter((rule) => targetKeyOf(rule) === targetKey)
      .map((rule): Dependent => [kind, keyOf(rule)]),
  );
  return [['GitTarget', targetKey], ...rules];
}

function branchOf(store: Store, target: GitTarget): Dependent[] {
  const { providerName, branch } = branchNamed({ store }, target);
  const object = branchObject({ store }, target.metadata.namespace ?? '', providerName, branch);
  return object === undefined ? [] : [['GitBranch', keyOf(object)]];
}

function branchesIn(store: Store, namespace: string): Dependent[] {
  return store
    .list('GitBranch')
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map((branch): Dependent => ['GitBranch', keyOf(branch)]);
}

function providersIn(store: Store, namespace: string): Dependent[] {
  return store
    .list('GitProvider')
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map((provider): Dependent => ['GitProvider', keyOf(provider)]);
}

function everyTarget(store: Store): Dependent[] {
  return store.list('GitTarget').flatMap((target) => withRules(store, keyOf(target)));
}
