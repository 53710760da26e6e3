import assert from 'node:assert/strict';
import { soak } from '../../soak/flux.ts';
import { type GuardedWorld, startGuardedWorld } from './guarded.ts';

describe('edits at random moments around applies of Flux', function () {
  this.timeout(420_000);
  let world: GuardedWorld;

  before(async () => {
    world = await startGuardedWorld();
  });
  after(() => world?.stop());

  it('are never lost in 20 tries, where without us they are', async () => {
    const seed = Date.now() % 100_000;
    const guarded = await soak(world, { tries: 20, seed, folders: 5, door: 'guarded' });
    assert.deepEqual(guarded.lost, [], `seed ${seed}`);
    const bare = await soak(world, { tries: 10, seed, folders: 5, door: 'none' });
    assert.ok(bare.lost.length > 0, 'the tries hit no apply');
  });
});
