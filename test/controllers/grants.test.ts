import assert from 'node:assert/strict';
import type { KubeProviderSpec } from '../../src/api/kube-provider.ts';
import type { LabelSelector } from '../../src/api/selector.ts';
import { grantFor, lends } from '../../src/controllers/grants.ts';
import { matchesSelector, selectorQuery } from '../../src/controllers/selector.ts';

type Grants = KubeProviderSpec['allowedGitTargets'];

const names = (...list: string[]) => ({ from: 'Names', names: list }) as const;
const byTeam = { from: 'Selector', selector: { matchLabels: { team: 'blue' } } } as const;

describe('what a KubeProvider allows', () => {
  const table: readonly {
    readonly name: string;
    readonly grants: Grants;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly kind: 'admitted' | 'denied' | 'unknown';
    readonly lent?: readonly string[];
  }[] = [
    { name: 'nothing: nobody', grants: [], kind: 'denied' },
    { name: 'another name', grants: [{ consumerNamespaces: names('other') }], kind: 'denied' },
    {
      name: 'its name lends its own',
      grants: [{ consumerNamespaces: names('shop') }],
      kind: 'admitted',
      lent: ['shop'],
    },
    {
      name: 'all',
      grants: [{ consumerNamespaces: { from: 'All' }, sourceNamespaces: ['*'] }],
      kind: 'admitted',
      lent: ['*'],
    },
    {
      name: 'several grants add up',
      grants: [
        { consumerNamespaces: names('shop'), sourceNamespaces: ['a'] },
        { consumerNamespaces: { from: 'All' }, sourceNamespaces: ['b'] },
        { consumerNamespaces: names('other'), sourceNamespaces: ['c'] },
      ],
      kind: 'admitted',
      lent: ['a', 'b'],
    },
    {
      name: 'a label that fits',
      grants: [{ consumerNamespaces: byTeam }],
      labels: { team: 'blue' },
      kind: 'admitted',
      lent: ['shop'],
    },
    {
      name: 'a label that does not',
      grants: [{ consumerNamespaces: byTeam }],
      labels: { team: 'red' },
      kind: 'denied',
    },
    {
      name: 'labels nobody knows are no yes and no no',
      grants: [{ consumerNamespaces: byTeam }],
      kind: 'unknown',
    },
    {
      name: 'a name is enough where labels are not known',
      grants: [{ consumerNamespaces: byTeam }, { consumerNamespaces: names('shop') }],
      kind: 'admitted',
      lent: ['shop'],
    },
    {
      name: 'an empty selector admits all',
      grants: [{ consumerNamespaces: { from: 'Selector', selector: {} } }],
      labels: {},
      kind: 'admitted',
      lent: ['shop'],
    },
  ];
  for (const { name, grants, labels, kind, lent } of table) {
    it(name, () => {
      const grant = grantFor({ allowedGitTargets: grants }, 'shop', labels);
      assert.equal(grant.kind, kind);
      if (grant.kind === 'admitted') assert.deepEqual([...grant.lent].sort(), lent);
    });
  }

  it('lends what it says, its own name always, and the whole cluster only when that is said', () => {
    const some = grantFor(
      { allowedGitTargets: [{ consumerNamespaces: names('shop'), sourceNamespaces: ['a'] }] },
      'shop',
      undefined,
    );
    assert.deepEqual(
      ['a', 'shop', 'b', '*'].map((name) => lends(some, 'shop', name)),
      [true, true, false, false],
    );
    const all = grantFor(
      { allowedGitTargets: [{ consumerNamespaces: names('shop'), sourceNamespaces: ['*'] }] },
      'shop',
      undefined,
    );
    assert.deepEqual(
      ['a', '*'].map((name) => lends(all, 'shop', name)),
      [true, true],
    );
    assert.equal(lends({ kind: 'denied' }, 'shop', 'shop'), false);
  });
});

describe('label selectors', () => {
  const table: readonly [string, Parameters<typeof matchesSelector>[0], Record<string, string>, boolean][] = [
    ['an empty one matches all', {}, {}, true],
    ['a label', { matchLabels: { a: '1' } }, { a: '1', b: '2' }, true],
    ['another value', { matchLabels: { a: '1' } }, { a: '2' }, false],
    ['a label that objects inherit', { matchLabels: { constructor: '' } }, {}, false],
    ['In', { matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] }, { a: '2' }, true],
    ['In without the label', { matchExpressions: [{ key: 'a', operator: 'In', values: ['1'] }] }, {}, false],
    ['NotIn', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, { a: '1' }, false],
    [
      'NotIn without the label',
      { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] },
      {},
      true,
    ],
    ['Exists', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { a: '' }, true],
    ['DoesNotExist', { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { a: '' }, false],
  ];
  for (const [name, selector, labels, expected] of table) {
    it(name, () => assert.equal(matchesSelector(selector, labels), expected));
  }

  it('are one text, whatever order they were written in', () => {
    const a: LabelSelector = {
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [{ key: 'c', operator: 'In', values: ['y', 'x'] }],
    };
    const b: LabelSelector = {
      matchLabels: { a: '1', b: '2' },
      matchExpressions: [{ key: 'c', operator: 'In', values: ['x', 'y'] }],
    };
    assert.equal(selectorQuery(a), 'a=1,b=2,c in (x,y)');
    assert.equal(selectorQuery(a), selectorQuery(b));
    assert.equal(selectorQuery(undefined), '');
    assert.equal(
      selectorQuery({
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'DoesNotExist' },
          { key: 'c', operator: 'NotIn', values: ['1'] },
        ],
      }),
      '!b,a,c notin (1)',
    );
  });
});
