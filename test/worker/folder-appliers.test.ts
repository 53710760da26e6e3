import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/core/json.ts';
import { unknownTracking } from '../../src/core/sanitize/index.ts';
import type { Applier } from '../../src/worker/cluster-facts.ts';
import { FolderAppliers } from '../../src/worker/folder-appliers.ts';

const folder = { repository: 'git.example.test/shop', branch: 'main', path: 'apps/shop' };
const marked = (name: string): JsonObject => ({
  metadata: {
    labels: {
      'kustomize.toolkit.fluxcd.io/name': name,
      'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
    },
  },
});
const unmarked: JsonObject = { metadata: { name: 'by-hand' } };

function appliersOf(applier: Applier) {
  const asked: string[] = [];
  const facts = {
    async applier({ name }: { name: string }) {
      asked.push(name);
      return applier as Exclude<Applier, { kind: 'none' }>;
    },
  };
  return {
    appliers: new FolderAppliers(
      facts,
      () => folder,
      () => unknownTracking,
    ),
    asked,
  };
}

const substitution = { isSubstituted: true, postBuild: { variables: new Map(), unread: [], where: 'x' } };

describe('the appliers of a folder', () => {
  it('are nobody before an object with a mark was seen', async () => {
    const { appliers, asked } = appliersOf({ kind: 'elsewhere' });
    assert.equal(await appliers.substitution(unmarked), undefined);
    assert.equal(await appliers.substitution(undefined), undefined);
    assert.equal(appliers.isSeen, false);
    assert.deepEqual(asked, []);
  });

  it('fill in what they say, for objects of their own and for those nobody has marked', async () => {
    const { appliers, asked } = appliersOf({ kind: 'applies', revisions: [], isExact: true, substitution });
    assert.equal(await appliers.substitution(marked('own')), substitution);
    appliers.saw({ kind: 'Flux', namespace: 'flux-system', name: 'seen' });
    assert.equal(await appliers.substitution(unmarked), substitution);
    assert.equal(await appliers.substitution(undefined), substitution);
    assert.deepEqual(asked, ['own', 'seen', 'seen']);
    assert.equal(appliers.isApplied, true);
  });

  it('fill in nothing without a postBuild, and who knows what when they cannot be read', async () => {
    const none = appliersOf({ kind: 'applies', revisions: [], isExact: false });
    assert.deepEqual(await none.appliers.substitution(marked('k')), { isSubstituted: false });
    assert.equal(none.appliers.isApplied, false);
    const unknown = appliersOf({ kind: 'unknown', message: 'forbidden' });
    assert.deepEqual(await unknown.appliers.substitution(marked('k')), { isSubstituted: true });
    const elsewhere = appliersOf({ kind: 'elsewhere' });
    assert.equal(await elsewhere.appliers.substitution(marked('k')), undefined);
  });
});
