import assert from 'node:assert/strict';
import { soak } from '../../soak/argocd.ts';
import { type ArgocdWorld, startArgocdWorld } from './guarded.ts';

describe('edits at random moments around syncs of Argo CD', function () {
  this.timeout(600_000);
  let world: ArgocdWorld;

  before(async () => {
    world = await startArgocdWorld();
  });
  after(() => world?.stop());

  it('are never lost in 20 tries, where without us they are', async () => {
    const seed = Date.now() % 100_000;
    const guarded = await soak(world, { tries: 20, seed, folders: 5, door: 'guarded' });
    assert.deepEqual(guarded.lost, [], `seed ${seed}`);
    const bare = await soak(world, { tries: 10, seed, folders: 5, door: 'none' });
    assert.ok(bare.lost.length > 0, 'the tries hit no sync');
  });
});
