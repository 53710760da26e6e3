import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type BranchState,
  type Effect,
  type Input,
  initialState,
  type PushResult,
} from '../../../src/core/branch/state.ts';
import { step } from '../../../src/core/branch/step.ts';

const target = 'shop/web';
const author = { managers: [], proof: 'none' } as const;
const resource = { group: '', version: 'v1', resource: 'configmaps' };
const byteCap = 1_000;

type Ask<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>;

/** A remote, a repository, and a branch between them, whose jobs end when and how the property says. */
class World {
  state: BranchState = initialState({ byteCap, seen: false });
  now = 0;
  remote = 'A';
  readonly parents = new Map<string, string>();
  readonly confirmed: number[] = [];
  fetch: Ask<'fetch'> | undefined;
  commit: Ask<'commit'> | undefined;
  push: Ask<'push'> | undefined;
  overlapped = 0;
  #names = 0;

  constructor() {
    this.feed({ kind: 'target', target, settings: { uid: 'u', idleTimeoutMs: 0, maxDurationMs: 0 } });
  }

  feed(input: Input): void {
    const { state, effects } = step(this.state, input, this.now);
    this.state = state;
    for (const effect of effects) this.#take(effect);
    if (this.commit && this.push) this.overlapped += 1;
  }

  change(name: string, origin: 'live' | 'snapshot'): void {
    const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name };
    const change = {
      ...{ key: name, id, resource, operation: 'UPDATE' as const, live: {}, uid: name, resourceVersion: '1' },
      ...{ digest: name, body: undefined, whole: false, bytes: 120 },
    } as const;
    if (origin === 'live') this.feed({ kind: 'live', target, author, change });
    else this.feed({ kind: 'snapshot', target, collection: 'c', change });
  }

  endFetch(): void {
    if (this.fetch === undefined) return;
    this.fetch = undefined;
    const holds = this.state.queue.findLast(({ commit }) => this.holds(this.remote, commit))?.commit;
    const ours = typeof holds === 'string' ? { holds } : {};
    this.feed({ kind: 'fetched', result: { kind: 'ok', tip: this.remote, history: 'ahead', ...ours } });
  }

  endCommit(how: 'ok' | 'failed'): void {
    if (this.commit === undefined) return;
    const { base, writes } = this.commit;
    this.commit = undefined;
    if (how === 'failed') {
      this.feed({ kind: 'committed', result: { kind: 'failed', reason: 'CommitFailed', message: '' } });
      return;
    }
    let parent = base ?? '';
    const planned = writes.map(({ sequence }) => {
      if (sequence % 4 === 0) return { sequence, commit: null };
      parent = this.#made(parent, `c${sequence}`);
      return { sequence, commit: parent };
    });
    this.feed({ kind: 'committed', result: { kind: 'ok', planned } });
  }

  endPush(how: 'ok' | 'refused' | 'lost'): void {
    if (this.push === undefined) return;
    const { tip, expected } = this.push;
    this.push = undefined;
    const fits = this.remote === expected;
    if (fits && how !== 'refused') {
      assert.ok(this.holds(tip, this.remote), 'no push takes a commit away');
      this.remote = tip;
    }
    const result: PushResult =
      how === 'ok'
        ? { kind: fits ? 'pushed' : 'moved' }
        : { kind: 'failed', reason: 'RemoteUnreachable', message: '' };
    this.feed({ kind: 'pushed', result });
  }

  foreignPush(): void {
    this.remote = this.#made(this.remote, 'theirs');
  }

  /** Everything goes well from here on. */
  drain(): void {
    this.feed({
      kind: 'settled',
      target,
      collection: 'c',
      reconcile: { resource, namespace: '', resourceVersion: '' },
      sweep: undefined,
    });
    for (
      let turn = 0;
      turn < 200 && (this.state.queue.length > 0 || this.fetch || this.commit || this.push);
      turn++
    ) {
      this.endFetch();
      this.endCommit('ok');
      this.endPush('ok');
      this.now += 400_000;
      this.feed({ kind: 'tick' });
    }
  }

  holds(tip: string, commit: string | null | undefined): boolean {
    for (let at: string | undefined = tip; at !== undefined; at = this.parents.get(at))
      if (at === commit) return true;
    return false;
  }

  #made(parent: string, name: string): string {
    const commit = `${name}-${this.#names++}`;
    this.parents.set(commit, parent);
    return commit;
  }

  #take(effect: Effect): void {
    switch (effect.kind) {
      case 'fetch':
        assert.ok(!this.fetch && !this.commit && !this.push, 'a fetch runs alone');
        this.fetch = effect;
        break;
      case 'commit':
        assert.ok(!this.fetch && !this.commit, 'one commit at a time, and none beside a fetch');
        this.commit = effect;
        break;
      case 'push':
        assert.ok(!this.fetch && !this.push, 'one push at a time, and none beside a fetch');
        this.push = effect;
        break;
      case 'confirmed':
        for (const { sequence, commit } of effect.writes) {
          if (commit !== null) assert.ok(this.holds(this.remote, commit), `${commit} is not on the remote`);
          this.confirmed.push(sequence);
        }
    }
  }
}

const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('live', 'snapshot'),
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('fetch', 'commit', 'push', 'foreign', 'look', 'time') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('break-commit', 'refuse-push', 'lose-answer') }) },
);

describe('the jobs of a branch', () => {
  it('publish every write once and in order, whatever ends when and how', () => {
    let overlapped = 0;
    fc.assert(
      fc.property(fc.array(event, { minLength: 20, maxLength: 80 }), (events) => {
        const world = new World();
        for (const one of events) {
          if ('name' in one)
            world.change(`${one.name}${world.state.nextSequence}`, one.do === 'live' ? 'live' : 'snapshot');
          else if (one.do === 'fetch') world.endFetch();
          else if (one.do === 'commit') world.endCommit('ok');
          else if (one.do === 'push') world.endPush('ok');
          else if (one.do === 'foreign') world.foreignPush();
          else if (one.do === 'look') world.feed({ kind: 'look' });
          else if (one.do === 'break-commit') world.endCommit('failed');
          else if (one.do === 'refuse-push') world.endPush('refused');
          else if (one.do === 'lose-answer') world.endPush('lost');
          else {
            world.now += 700;
            world.feed({ kind: 'tick' });
          }
        }
        world.drain();
        const all = Array.from({ length: world.state.nextSequence - 1 }, (_unused, index) => index + 1);
        assert.deepEqual(world.confirmed, all);
        overlapped += world.overlapped;
      }),
      { numRuns: 2_000 },
    );
    assert.ok(overlapped > 0, 'no commit ever ran beside a push');
  });
});
