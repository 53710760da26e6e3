/** What a WatchRule or ClusterWatchRule means: the collections it feeds to its GitTarget, and its conditions. Pure. */
import type { Condition } from '../api/condition.ts';
import { clusterWatchRuleConditions, watchRuleConditions } from '../api/conditions.ts';
import type { LabelSelector } from '../api/selector.ts';
import { type Contributor, findCondition } from '../api/trio.ts';
import {
  type Catalog,
  type ResolutionProblem,
  type RuleItem,
  resolveRule,
  resourceKey,
} from '../core/catalog/index.ts';
import { collectionKey } from '../kube/collection.ts';
import type { StreamObservation, WatchedCollection } from '../worker/mirror-spec.ts';
import { contributor, type Decision, type Gate, gatesOf, holds } from './gates.ts';
import { everyNamespace, type Grant, lends } from './grants.ts';
import { selectorQuery } from './selector.ts';
import { streamsFinding } from './streams.ts';

const watch = gatesOf(watchRuleConditions);
const cluster = gatesOf(clusterWatchRuleConditions);

export interface SelectedResources {
  readonly apiGroups?: string[] | undefined;
  readonly apiVersions?: string[] | undefined;
  readonly resources: string[];
  readonly objectSelector?: LabelSelector | undefined;
  /** WatchRule only; absent is the rule's own namespace. */
  readonly sourceNamespace?: string | undefined;
}

export interface RuleFacts {
  readonly kind: 'WatchRule' | 'ClusterWatchRule';
  /** Of the rule; '' for cluster scope. */
  readonly namespace: string;
  readonly items: readonly SelectedResources[];
  readonly target: RuleTarget | undefined;
  readonly targetName: string;
  readonly grant: Grant;
  readonly kubeProviderName: string;
  readonly catalog: Catalog;
  /** What the same rule resolved to before: kept where discovery can say nothing now. */
  readonly previous: readonly WatchedCollection[];
  readonly observed: readonly StreamObservation[] | undefined;
  readonly before: readonly Condition[];
}

export interface RuleTarget {
  readonly validated: Gate;
  readonly ready: boolean;
  readonly stalled: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface RuleResult {
  readonly decision: Decision;
  /** Empty when the rule is refused. */
  readonly collections: readonly WatchedCollection[];
}

const maxNamed = 10;

export function decideRule(facts: RuleFacts): RuleResult {
  const { collections, problems } = resolveItems(facts);
  const target = targetGate(facts);
  const authorized = facts.kind === 'WatchRule' ? authorizedGate(facts) : undefined;
  const allowed = facts.grant.kind === 'admitted' && (authorized === undefined || holds(authorized));
  const wanted = facts.target !== undefined && allowed ? collections : [];
  const resolved = resolvedGate(problems, collections);
  const streams = streamsGate(facts, wanted);
  const gates = [resolved, target, ...(authorized === undefined ? [] : [authorized]), streams];
  const contributors = [
    readyContributor(facts),
    ...(authorized === undefined || holds(authorized) ? [] : [contributor(authorized)]),
    ...[resolved, target, streams].map(contributor),
  ];
  return {
    decision: { gates, contributors: contributors.filter((one) => one !== undefined) },
    collections: wanted,
  };
}

/** One collection per resource, namespace and selector; equal ones of several items are one. */
function resolveItems({ kind, namespace, items, catalog, previous }: RuleFacts) {
  const collections = new Map<string, WatchedCollection>();
  const problems: ResolutionProblem[] = [];
  const scope = kind === 'WatchRule' ? 'Namespaced' : 'Cluster';
  for (const item of items) {
    const resolution = resolveRule(catalog, [toRuleItem(item)], scope);
    problems.push(...resolution.problems);
    const wanted = item.sourceNamespace ?? namespace;
    for (const resource of resolution.collections) {
      const collection: WatchedCollection = {
        group: resource.group,
        version: resource.version,
        resource: resource.resource,
        kind: resource.kind,
        namespaced: resource.namespaced,
        namespace: kind === 'ClusterWatchRule' || wanted === everyNamespace ? '' : wanted,
        labelSelector: selectorQuery(item.objectSelector),
      };
      collections.set(collectionKey(collection), collection);
    }
  }
  for (const collection of previous) {
    // Unknown is not gone: a stream that runs goes on while discovery cannot speak about its type.
    const verdict = catalog.entries.get(resourceKey(collection))?.verdict;
    if (!catalog.known || verdict?.kind === 'unknown') collections.set(collectionKey(collection), collection);
  }
  return { collections: [...collections.values()], problems };
}

function toRuleItem({ apiGroups, apiVersions, resources }: SelectedResources): RuleItem {
  return {
    resources,
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(apiVersions === undefined ? {} : { apiVersions }),
  };
}

function resolvedGate(
  problems: readonly ResolutionProblem[],
  collections: readonly WatchedCollection[],
): Gate {
  const [first] = problems.filter(({ kind }) => kind !== 'catalog-not-ready');
  const words = problems.slice(0, maxNamed).map(({ message }) => message);
  if (first !== undefined) return watch.gate('ResourcesResolved', 'ResourcesNotServed', words.join('; '));
  if (problems.length > 0) return watch.gate('ResourcesResolved', 'CatalogNotReady', words.join('; '));
  return watch.gate('ResourcesResolved', 'Succeeded', `${collections.length} collections`);
}

function targetGate({ target, targetName }: RuleFacts): Gate {
  if (target === undefined)
    return watch.gate('GitTargetReady', 'GitTargetNotFound', `there is no GitTarget ${targetName}`);
  if (target.ready) return watch.gate('GitTargetReady', 'Succeeded', `GitTarget ${targetName} is ready`);
  const words = `GitTarget ${targetName}: ${target.reason}: ${target.message}`;
  return watch.gate('GitTargetReady', 'GitTargetNotReady', words);
}

function authorizedGate({ namespace, items, grant, kubeProviderName, target }: RuleFacts): Gate {
  const no = (reason: Parameters<typeof watch.gate<'SourceNamespaceAuthorized'>>[1], message: string) =>
    watch.gate('SourceNamespaceAuthorized', reason, message);
  if (target === undefined) return no('CheckingSourceNamespacePolicy', 'decided once the GitTarget exists');
  if (grant.kind === 'unknown') {
    return no(
      'SourceNamespacePolicyUnavailable',
      `KubeProvider ${kubeProviderName} admits by label, and the labels of namespace ${namespace} cannot be read`,
    );
  }
  const others = items
    .map(({ sourceNamespace }, index) => ({ index, sourceNamespace: sourceNamespace ?? namespace }))
    .filter(({ sourceNamespace }) => sourceNamespace !== namespace);
  const denied = others.filter(({ sourceNamespace }) => !lends(grant, namespace, sourceNamespace));
  if (denied.length > 0) {
    const named = denied
      .slice(0, maxNamed)
      .map(({ index, sourceNamespace }) => `rules[${index}] asks for ${sourceNamespace}`);
    return no(
      'SourceNamespaceNotAllowed',
      `KubeProvider ${kubeProviderName} does not lend it: ${named.join(', ')}; the whole rule is refused`,
    );
  }
  if (others.length > 0) return no('SourceNamespaceAllowed', 'every other namespace named is lent');
  return no('OwnNamespace', "only the rule's own namespace is named");
}

function streamsGate({ observed, before }: RuleFacts, wanted: readonly WatchedCollection[]): Gate {
  const { reason, message } = streamsFinding(wanted, observed, findCondition(before, 'StreamsRunning'));
  return watch.gate('StreamsRunning', reason, message);
}

/** What only Ready can say; the rest follows from the other conditions. */
function readyContributor({
  kind,
  target,
  targetName,
  grant,
  kubeProviderName,
}: RuleFacts): Contributor | undefined {
  if (target === undefined) return watch.ready('GitTargetNotFound', `there is no GitTarget ${targetName}`);
  if (target.validated.reason === 'GitProviderNotFound')
    return watch.ready('GitProviderNotFound', target.validated.message);
  const elsewhere = !holds(target.validated) && target.validated.reason !== 'NamespaceNotAuthorized';
  if (grant.kind === 'denied' && !elsewhere) {
    const words = `KubeProvider ${kubeProviderName} does not admit the namespace of GitTarget ${targetName}`;
    return kind === 'ClusterWatchRule'
      ? cluster.ready('GitTargetNamespaceNotAuthorized', words)
      : watch.ready('AccessDenied', words);
  }
  if (!holds(target.validated))
    return watch.ready('GitDestinationInvalid', `GitTarget ${targetName}: ${target.validated.message}`);
  return watch.ready('Succeeded', `the objects feed GitTarget ${targetName}`);
}
