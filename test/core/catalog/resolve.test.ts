import assert from 'node:assert/strict';
import {
  type Catalog,
  type Discovery,
  nextCatalog,
  noCatalog,
  type RuleItem,
  type RuleScope,
  resolveRule,
  resourceKey,
} from '../../../src/core/catalog/index.ts';
import { policy, served } from './facts.ts';

const resources = [
  served('configmaps'),
  served('secrets'),
  served('pods'),
  served('namespaces', { namespaced: false }),
  served('deployments.v1.apps', { subresources: ['scale', 'status'], scalePath: '.spec.replicas' }),
  served('ingresses.v1.networking.k8s.io'),
  served('clusterroles.v1.rbac.authorization.k8s.io', { namespaced: false }),
  served('events'),
  served('events.v1.events.k8s.io'),
  served('widgets.v1.example.org', { origin: 'crd' }),
  served('widgets.v1beta1.example.org', { origin: 'crd', preferred: false }),
  served('gadgets.v1beta1.example.org', { origin: 'crd' }),
  served('gadgets.v1.example.com', { origin: 'crd' }),
];

function catalogOf(discovery: Discovery): Catalog {
  return nextCatalog(noCatalog, discovery, 0, policy);
}

function resolve(
  item: RuleItem,
  scope: RuleScope = 'Namespaced',
  catalog = catalogOf({ resources, failed: [] }),
): { keys: string[]; problems: string[] } {
  const { collections, problems } = resolveRule(catalog, [item], scope);
  return {
    keys: collections.map(resourceKey).sort(),
    problems: problems.map(({ kind, resource }) => `${kind} ${resource}`),
  };
}

describe('the items of a watch rule', () => {
  for (const [story, item, keys, problems] of [
    ['a name that one group serves', { resources: ['deployments'] }, ['deployments.v1.apps'], []],
    ['names in any case', { resources: ['ConfigMaps'] }, ['configmaps.v1'], []],
    ['a stated core group', { apiGroups: [''], resources: ['secrets'] }, ['secrets.v1'], []],
    ['the preferred version', { resources: ['widgets'] }, ['widgets.v1.example.org'], []],
    [
      'a stated version',
      { apiVersions: ['v1beta1'], resources: ['widgets'] },
      ['widgets.v1beta1.example.org'],
      [],
    ],
    [
      'all versions',
      { apiVersions: ['*'], resources: ['widgets'] },
      ['widgets.v1.example.org', 'widgets.v1beta1.example.org'],
      [],
    ],
    ['a name in two groups', { resources: ['gadgets'] }, [], ['ambiguous gadgets']],
    [
      'a name in two groups that are stated',
      { apiGroups: ['*'], resources: ['gadgets'] },
      ['gadgets.v1.example.com', 'gadgets.v1beta1.example.org'],
      [],
    ],
    ['a name nobody serves', { resources: ['wodgets'] }, [], ['not-served wodgets']],
    ['a name in another group', { apiGroups: ['apps'], resources: ['secrets'] }, [], ['not-served secrets']],
    ['a version nobody serves', { apiVersions: ['v3'], resources: ['widgets'] }, [], ['not-served widgets']],
    ['an excluded name', { resources: ['pods'] }, [], ['not-followable pods']],
    ['an excluded name in two groups', { resources: ['events'] }, [], ['not-followable events']],
    ['a cluster-scoped name', { resources: ['namespaces'] }, [], ['wrong-scope namespaces']],
    [
      'everything of a group',
      { apiGroups: ['example.org'], resources: ['*'] },
      ['gadgets.v1beta1.example.org', 'widgets.v1.example.org'],
      [],
    ],
    [
      'one good name and one bad',
      { resources: ['secrets', 'wodgets'] },
      ['secrets.v1'],
      ['not-served wodgets'],
    ],
  ] as const) {
    it(`resolves ${story}`, () => {
      assert.deepEqual(resolve(item), { keys: [...keys], problems: [...problems] });
    });
  }

  it('takes every followable type of its scope by *', () => {
    assert.deepEqual(resolve({ resources: ['*'] }).keys, [
      'configmaps.v1',
      'deployments.v1.apps',
      'gadgets.v1.example.com',
      'gadgets.v1beta1.example.org',
      'ingresses.v1.networking.k8s.io',
      'secrets.v1',
      'widgets.v1.example.org',
    ]);
    assert.deepEqual(resolve({ resources: ['*'] }, 'Cluster').keys, [
      'clusterroles.v1.rbac.authorization.k8s.io',
      'namespaces.v1',
    ]);
  });

  it('names each collection once however many items mean it', () => {
    const items = [{ resources: ['secrets'] }, { apiGroups: [''], resources: ['*'] }];
    const { collections } = resolveRule(catalogOf({ resources, failed: [] }), items, 'Namespaced');
    assert.equal(collections.filter(({ resource }) => resource === 'secrets').length, 1);
  });

  it('is not ready before discovery answered', () => {
    for (const name of ['secrets', '*']) {
      assert.deepEqual(resolve({ resources: [name] }, 'Namespaced', noCatalog).problems, [
        `catalog-not-ready ${name}`,
      ]);
    }
  });

  it('never takes a group that does not answer for one that serves nothing', () => {
    const failed = [{ group: 'example.org', version: 'v1', message: 'no endpoints' }];
    const degraded = catalogOf({ resources: [served('secrets')], failed });
    assert.deepEqual(resolve({ resources: ['widgets'] }, 'Namespaced', degraded).problems, [
      'catalog-not-ready widgets',
    ]);
  });

  it('keeps a retained type, and says so by * when it lost sight of one', () => {
    const failed = [{ group: 'example.org', version: 'v1', message: 'no endpoints' }];
    const rest = resources.filter(({ group, version }) => group !== 'example.org' || version !== 'v1');
    const before = catalogOf({ resources, failed: [] });
    const retained = nextCatalog(before, { resources: rest, failed }, 1000, policy);
    assert.deepEqual(resolve({ resources: ['widgets'] }, 'Namespaced', retained), {
      keys: ['widgets.v1.example.org'],
      problems: [],
    });
    const lost = nextCatalog(retained, { resources: rest, failed }, 120_000, policy);
    assert.deepEqual(resolve({ apiGroups: ['example.org'], resources: ['*'] }, 'Namespaced', lost), {
      keys: ['gadgets.v1beta1.example.org'],
      problems: ['catalog-not-ready widgets'],
    });
  });
});
