import assert from 'node:assert/strict';
import { Lineage } from '../../src/git/lineage.ts';

describe('the lineage of our commits', () => {
  it('knows what stands on what through several chains, and says nothing of the rest', () => {
    const lineage = new Lineage();
    lineage.note('remote', ['a', 'b']);
    lineage.note('b', ['c']);
    assert.ok(lineage.standsOn('c', 'remote'));
    assert.ok(lineage.standsOn('c', 'a'));
    assert.ok(lineage.standsOn('remote', 'remote'));
    assert.ok(!lineage.standsOn('a', 'b'), 'not the other way round');
    assert.ok(!lineage.standsOn('c', 'elsewhere'));
    lineage.note(null, ['root']);
    assert.ok(!lineage.standsOn('root', 'remote'));
  });

  it('forgets the oldest of very many', () => {
    const lineage = new Lineage();
    const chain = Array.from({ length: 10_002 }, (_unused, index) => `commit-${index}`);
    lineage.note('remote', chain);
    assert.ok(lineage.standsOn('commit-10001', 'commit-1'));
    assert.ok(!lineage.standsOn('commit-10001', 'remote'));
  });
});
