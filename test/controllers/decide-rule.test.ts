import assert from 'node:assert/strict';
import {
  clusterWatchRuleConditions,
  gitTargetConditions,
  watchRuleConditions,
} from '../../src/api/conditions.ts';
import { decideRule, type RuleFacts, type RuleTarget } from '../../src/controllers/decide-rule.ts';
import { conditionsOf, gatesOf } from '../../src/controllers/gates.ts';
import { describeCollection } from '../../src/controllers/streams.ts';
import { type Catalog, nextCatalog, noCatalog, type ServedResource } from '../../src/core/catalog/index.ts';

const { gate } = gatesOf(gitTargetConditions);
const policy = {
  isSensitive: (_group: string, resource: string) => resource === 'secrets',
  sensitiveSupported: false,
};

function served(
  group: string,
  resource: string,
  kind: string,
  more: Partial<ServedResource> = {},
): ServedResource {
  const verbs = ['get', 'list', 'watch'];
  return {
    group,
    version: 'v1',
    resource,
    kind,
    namespaced: true,
    verbs,
    preferred: true,
    subresources: [],
    origin: 'builtin',
    ...more,
  };
}

const resources = [
  served('', 'configmaps', 'ConfigMap'),
  served('', 'secrets', 'Secret'),
  served('', 'pods', 'Pod'),
  served('apps', 'deployments', 'Deployment'),
  served('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole', { namespaced: false }),
];
const catalog: Catalog = nextCatalog(noCatalog, { resources, failed: [] }, 0, policy);

const target: RuleTarget = {
  validated: gate('Validated', 'Succeeded'),
  ready: true,
  stalled: false,
  reason: 'Succeeded',
  message: '',
};
const fine: RuleFacts = {
  kind: 'WatchRule',
  namespace: 'shop',
  items: [{ resources: ['configmaps'] }],
  target,
  targetName: 'shop/live',
  grant: { kind: 'admitted', lent: new Set(['shop', 'lent']) },
  kubeProviderName: 'default',
  catalog,
  previous: [],
  observed: [],
  before: [],
};

function decide(facts: Partial<RuleFacts>) {
  const all = { ...fine, ...facts };
  const table = all.kind === 'WatchRule' ? watchRuleConditions : clusterWatchRuleConditions;
  const { decision, collections } = decideRule(all);
  const conditions = conditionsOf([], table, decision, 1, '2026-01-01T12:00:00Z');
  return {
    conditions: Object.fromEntries(
      conditions.map(({ type, status, reason }) => [type, `${status}/${reason}`]),
    ),
    messages: Object.fromEntries(conditions.map(({ type, message }) => [type, message])),
    collections: collections.map(describeCollection),
    raw: collections,
  };
}

describe('what a rule means', () => {
  const table: readonly [string, Partial<RuleFacts>, readonly string[], Readonly<Record<string, string>>][] =
    [
      [
        'its own namespace',
        {},
        ['configmaps in shop'],
        { SourceNamespaceAuthorized: 'True/OwnNamespace', ResourcesResolved: 'True/Succeeded' },
      ],
      [
        'another lent namespace',
        { items: [{ resources: ['configmaps'], sourceNamespace: 'lent' }] },
        ['configmaps in lent'],
        { SourceNamespaceAuthorized: 'True/SourceNamespaceAllowed' },
      ],
      [
        'one denied item refuses the whole rule',
        {
          items: [
            { resources: ['configmaps'] },
            { resources: ['configmaps'], sourceNamespace: 'secret-plans' },
          ],
        },
        [],
        {
          SourceNamespaceAuthorized: 'False/SourceNamespaceNotAllowed',
          Ready: 'False/SourceNamespaceNotAllowed',
          Stalled: 'True/SourceNamespaceNotAllowed',
        },
      ],
      [
        'all namespaces have to be lent as such',
        { items: [{ resources: ['configmaps'], sourceNamespace: '*' }] },
        [],
        { SourceNamespaceAuthorized: 'False/SourceNamespaceNotAllowed' },
      ],
      [
        'all namespaces',
        {
          items: [{ resources: ['configmaps'], sourceNamespace: '*' }],
          grant: { kind: 'admitted', lent: new Set(['*']) },
        },
        ['configmaps in all namespaces'],
        { SourceNamespaceAuthorized: 'True/SourceNamespaceAllowed' },
      ],
      [
        'equal items are one',
        { items: [{ resources: ['configmaps', 'ConfigMaps'] }, { resources: ['configmaps'] }] },
        ['configmaps in shop'],
        {},
      ],
      [
        'different selectors stay apart',
        {
          items: [
            { resources: ['configmaps'] },
            { resources: ['configmaps'], objectSelector: { matchLabels: { a: '1' } } },
          ],
        },
        ['configmaps in shop', 'configmaps in shop (a=1)'],
        {},
      ],
      [
        'everything, without what is never mirrored or cannot be encrypted',
        { items: [{ apiGroups: ['*'], resources: ['*'] }] },
        ['configmaps in shop', 'deployments.apps in shop'],
        { ResourcesResolved: 'True/Succeeded' },
      ],
      [
        'a name nobody serves, beside one that is',
        { items: [{ resources: ['configmaps', 'gadgets'] }] },
        ['configmaps in shop'],
        { ResourcesResolved: 'False/ResourcesNotServed', Ready: 'False/ResourcesNotServed' },
      ],
      [
        'an excluded name',
        { items: [{ resources: ['pods'] }] },
        [],
        { ResourcesResolved: 'False/ResourcesNotServed' },
      ],
      [
        'discovery has not answered',
        { catalog: noCatalog },
        [],
        { ResourcesResolved: 'False/CatalogNotReady', Stalled: 'False/Progressing' },
      ],
      [
        'cluster-scoped names belong to the other kind',
        { items: [{ resources: ['clusterroles'] }] },
        [],
        { ResourcesResolved: 'False/ResourcesNotServed' },
      ],
      [
        'a cluster rule',
        { kind: 'ClusterWatchRule', namespace: '', items: [{ resources: ['clusterroles'] }] },
        ['clusterroles.rbac.authorization.k8s.io'],
        { ResourcesResolved: 'True/Succeeded' },
      ],
      [
        'no target',
        { target: undefined, grant: { kind: 'denied' } },
        [],
        {
          Ready: 'False/GitTargetNotFound',
          GitTargetReady: 'False/GitTargetNotFound',
          SourceNamespaceAuthorized: 'Unknown/CheckingSourceNamespacePolicy',
        },
      ],
      [
        'a target that is not admitted',
        {
          grant: { kind: 'denied' },
          target: { ...target, validated: gate('Validated', 'NamespaceNotAuthorized') },
        },
        [],
        { Ready: 'False/AccessDenied' },
      ],
      [
        'the same for a cluster rule',
        {
          kind: 'ClusterWatchRule',
          namespace: '',
          items: [{ resources: ['clusterroles'] }],
          grant: { kind: 'denied' },
          target: { ...target, validated: gate('Validated', 'NamespaceNotAuthorized') },
        },
        [],
        { Ready: 'False/GitTargetNamespaceNotAuthorized' },
      ],
      [
        'a target without its provider',
        { target: { ...target, validated: gate('Validated', 'GitProviderNotFound') } },
        ['configmaps in shop'],
        { Ready: 'False/GitProviderNotFound' },
      ],
      [
        'a target that is not valid',
        { target: { ...target, ready: false, validated: gate('Validated', 'InvalidConfig') } },
        ['configmaps in shop'],
        { Ready: 'False/GitDestinationInvalid' },
      ],
      [
        'a target that is on its way',
        { target: { ...target, ready: false, reason: 'InitialReplay' }, observed: undefined },
        ['configmaps in shop'],
        { Ready: 'False/GitTargetNotReady', GitTargetReady: 'False/GitTargetNotReady' },
      ],
    ];
  for (const [name, facts, collections, expected] of table) {
    it(name, () => {
      const decided = decide(facts);
      assert.deepEqual([...decided.collections].sort(), [...collections].sort());
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((type) => [type, decided.conditions[type]])),
        expected,
      );
    });
  }

  it('names the denied item', () => {
    const { messages } = decide({
      items: [{ resources: ['configmaps'] }, { resources: ['configmaps'], sourceNamespace: 'plans' }],
    });
    assert.match(messages.SourceNamespaceAuthorized ?? '', /rules\[1\] asks for plans/);
  });

  it('keeps what it watches while discovery can say nothing, and drops what is gone', () => {
    const before = decide({ items: [{ apiGroups: ['*'], resources: ['*'] }] }).raw;
    const dark = nextCatalog(nextCatalog(catalog, undefined, 1_000, policy), undefined, 100_000, policy);
    const kept = decide({ items: [{ apiGroups: ['*'], resources: ['*'] }], catalog: dark, previous: before });
    assert.deepEqual(kept.collections.sort(), ['configmaps in shop', 'deployments.apps in shop']);

    const without = resources.filter(({ resource }) => resource !== 'deployments');
    const seen = nextCatalog(catalog, { resources: without, failed: [] }, 1_000, policy);
    const later = nextCatalog(seen, { resources: without, failed: [] }, 100_000, policy);
    const after = decide({
      items: [{ apiGroups: ['*'], resources: ['*'] }],
      catalog: later,
      previous: before,
    });
    assert.deepEqual(after.collections, ['configmaps in shop']);
  });
});
