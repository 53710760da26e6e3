import assert from 'node:assert/strict';
import fc from 'fast-check';
import { gitBranchName, isBranchAllowed } from '../../src/controllers/branch-name.ts';
import { type Destination, destinationLosers, normalFolder } from '../../src/controllers/destination.ts';
import { keyOf } from '../../src/controllers/object-key.ts';

function destination(name: string, folder: string, age = 0, place: Partial<Destination> = {}): Destination {
  const creationTimestamp = `2026-01-01T00:00:0${age}Z`;
  return {
    metadata: { name, namespace: 'shop', creationTimestamp },
    repository: 'git/shop',
    branch: 'main',
    folder,
    ...place,
  };
}

describe('who owns a folder', () => {
  const table: readonly [string, readonly Destination[], Readonly<Record<string, string>>][] = [
    ['two folders beside each other', [destination('a', 'x'), destination('b', 'y', 1)], {}],
    [
      'the same folder: the older keeps it',
      [destination('b', 'x', 1), destination('a', 'x', 0)],
      { 'shop/b': 'shop/a' },
    ],
    ['one inside the other', [destination('a', 'x', 0), destination('b', 'x/y', 1)], { 'shop/b': 'shop/a' }],
    ['one above the other', [destination('a', 'x/y', 0), destination('b', 'x', 1)], { 'shop/b': 'shop/a' }],
    ['a name that only starts the same', [destination('a', 'x'), destination('b', 'xy', 1)], {}],
    [
      'the root is above everything',
      [destination('a', 'x', 0), destination('b', '', 1)],
      { 'shop/b': 'shop/a' },
    ],
    ['of the same age: by name', [destination('b', 'x'), destination('a', 'x')], { 'shop/b': 'shop/a' }],
    ['another branch', [destination('a', 'x'), destination('b', 'x', 1, { branch: 'dev' })], {}],
    [
      'another repository',
      [destination('a', 'x'), destination('b', 'x', 1, { repository: 'git/other' })],
      {},
    ],
    [
      'one that gave way is in nobody else’s way',
      [destination('a', 'x/y', 0), destination('b', 'x', 1), destination('c', 'x/z', 2)],
      { 'shop/b': 'shop/a' },
    ],
  ];
  for (const [name, destinations, losers] of table) {
    it(name, () => assert.deepEqual(Object.fromEntries(destinationLosers(destinations)), losers));
  }

  it('leaves no two keepers that overlap, whatever the order of the list', () => {
    const one = fc.record({
      folder: fc.constantFrom('', 'a', 'a/b', 'a/c', 'ab', 'a/b/c', 'b'),
      age: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), fc.infiniteStream(fc.integer()), (list, noise) => {
        const all = list.map(({ folder, age }, index) => destination(`t${index}`, folder, age));
        const losers = destinationLosers(all);
        const shuffled = all.map((item) => ({ item, at: noise.next().value })).sort((a, b) => a.at - b.at);
        assert.deepEqual(
          new Map([...destinationLosers(shuffled.map(({ item }) => item))].sort()),
          new Map([...losers].sort()),
        );
        const kept = all
          .filter((item) => !losers.has(keyOf(item)))
          .map(({ folder }) => `${folder}/`.replace(/^\/$/, ''));
        for (const [index, a] of kept.entries()) {
          for (const b of kept.slice(index + 1))
            assert.ok(!a.startsWith(b) && !b.startsWith(a), `${a} and ${b}`);
        }
      }),
    );
  });

  it('reads a path the way people write it', () => {
    assert.deepEqual(['.', './a/', 'a//b', 'a/./b/', 'a'].map(normalFolder), ['', 'a', 'a/b', 'a/b', 'a']);
  });
});

describe('names of GitBranches', () => {
  const free = () => false;
  it('are the provider and the branch', () => {
    assert.equal(gitBranchName('git', 'main', free), 'git-main');
    assert.equal(gitBranchName('git', 'env/Prod_EU', free), 'git-env-prod-eu');
  });
  it('get a hash when another branch has the name, and always the same one', () => {
    const taken = (name: string) => name === 'git-env-prod';
    const name = gitBranchName('git', 'env_prod', taken);
    assert.match(name, /^git-env-prod-[0-9a-f]{8}$/);
    assert.equal(gitBranchName('git', 'env_prod', taken), name);
    assert.notEqual(gitBranchName('git', 'env.prod', taken), name);
  });
  it('are names Kubernetes takes, for any branch', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 255, unit: 'binary' }), (branch) => {
        const name = gitBranchName('git', branch, free);
        assert.ok(name.length <= 253);
        assert.match(name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
      }),
    );
  });
});

describe('allowed branches', () => {
  const table: readonly [string, readonly string[], boolean][] = [
    ['main', ['main'], true],
    ['main', ['master'], false],
    ['env/prod', ['env/*'], true],
    ['env/eu/prod', ['env/*'], false],
    ['env/eu/prod', ['env/**'], true],
    ['.hidden', ['*'], true],
    ['main', ['!master'], false],
    ['a+b', ['a+b'], true],
  ];
  for (const [branch, patterns, allowed] of table) {
    it(`${branch} under ${patterns.join(' ')}: ${allowed}`, () =>
      assert.equal(isBranchAllowed(branch, patterns), allowed));
  }
});
