import assert from 'node:assert/strict';
import {
  addGrant,
  expire,
  type Grant,
  grantMs,
  usableGrants,
  useGrant,
} from '../../../src/core/gate/index.ts';

describe('a grant', () => {
  const scope = 'config main flux shop/apps';
  const grant = (tip: string, mark: number, now = 0, grants: readonly Grant<number>[] = []) =>
    addGrant(grants, { scope, tip, mark }, now);

  it('gives each applier of the source one open answer', () => {
    let { grants } = grant('t1', 1);
    for (const applier of ['a', 'b']) {
      const [usable] = usableGrants(grants, { scope, appliers: [applier] }, 1);
      assert.ok(usable !== undefined);
      grants = useGrant(grants, usable, [applier]);
    }
    assert.deepEqual(usableGrants(grants, { scope, appliers: ['a', 'b'] }, 1), []);
    assert.equal(usableGrants(grants, { scope, appliers: ['a', 'c'] }, 1).length, 1);
  });

  it('is used by one applier at a time, so that another one that asks later still has its own', () => {
    const { grants } = grant('t1', 1);
    const [usable] = grants;
    assert.ok(usable !== undefined);
    const used = useGrant(grants, usable, ['a', 'b']);
    assert.equal(usableGrants(used, { scope, appliers: ['a'] }, 1).length, 0);
    assert.equal(usableGrants(used, { scope, appliers: ['b'] }, 1).length, 1);
  });

  it('is no other source’s', () => {
    const { grants } = grant('t1', 1);
    assert.deepEqual(usableGrants(grants, { scope: 'another', appliers: ['a'] }, 1), []);
  });

  it('ends after two minutes, and its mark is let go', () => {
    const { grants } = grant('t1', 1);
    assert.equal(usableGrants(grants, { scope, appliers: ['a'] }, grantMs - 1).length, 1);
    assert.equal(usableGrants(grants, { scope, appliers: ['a'] }, grantMs).length, 0);
    const { live, dropped } = expire(grants, grantMs);
    assert.deepEqual([live.length, dropped.map(({ mark }) => mark)], [0, [1]]);
  });

  it('of the same tip again takes the newer mark, and forgets no use', () => {
    const first = grant('t1', 1);
    const [usable] = first.grants;
    assert.ok(usable !== undefined);
    const again = grant('t1', 2, 5, useGrant(first.grants, usable, ['a']));
    assert.deepEqual(
      again.dropped.map(({ mark }) => mark),
      [1],
    );
    assert.deepEqual(usableGrants(again.grants, { scope, appliers: ['a'] }, 6), []);
  });

  it('is one of a bounded number, the newest first', () => {
    let grants: readonly Grant<number>[] = [];
    const dropped: number[] = [];
    for (let mark = 1; mark <= 100; mark++) {
      const added = grant(`t${mark}`, mark, mark, grants);
      grants = added.grants;
      dropped.push(...added.dropped.map((one) => one.mark));
    }
    assert.ok(grants.length <= 10);
    assert.equal(grants.length + dropped.length, 100);
    assert.equal(usableGrants(grants, { scope, appliers: ['a'] }, 101)[0]?.tip, 't100');
  });
});
