import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import {
  type BranchState,
  type Effect,
  type Input,
  initialState,
  type ObjectChange,
} from '../../../src/core/branch/state.ts';
import { step } from '../../../src/core/branch/step.ts';

const target = 'shop/web';
const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
const author = { managers: ['kubectl-edit'], proof: 'managedFields' } as const;
const alice = {
  git: { name: 'alice', email: 'alice@example.org' },
  managers: ['kubectl'],
  proof: 'audit',
} as const;

function change(name: string, resourceVersion = '1'): ObjectChange {
  const id = { group: 'apps', kind: 'Deployment', namespace: 'shop', name };
  return {
    key: name,
    id,
    resource,
    operation: 'UPDATE',
    live: { metadata: { name } },
    uid: name,
    resourceVersion,
    digest: `${name}@${resourceVersion}`,
    body: undefined,
    whole: false,
    bytes: 100,
  };
}

/** Drives a branch like the worker does, but with the answers of the world written in the test. */
class Run {
  state: BranchState;
  now = 1_000;
  effects: Effect[] = [];
  asked: Extract<Effect, { kind: 'commit' }> | undefined;

  constructor(options: { idle?: number; max?: number; byteCap?: number; seen?: boolean } = {}) {
    this.state = initialState({ byteCap: options.byteCap ?? 1_000_000, seen: options.seen ?? false });
    const settings = { uid: 'u', idleTimeoutMs: options.idle ?? 0, maxDurationMs: options.max ?? 60_000 };
    this.feed({ kind: 'target', target, settings });
    this.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'A', history: 'same' } });
  }

  feed(input: Input): Effect[] {
    const result = step(this.state, input, this.now);
    this.state = result.state;
    this.effects = [...result.effects];
    this.asked = this.effects.find((effect) => effect.kind === 'commit') ?? this.asked;
    return this.effects;
  }

  edit(name: string, by: typeof author | typeof alice = author): Effect[] {
    return this.feed({ kind: 'live', target, author: by, change: change(name) });
  }

  /** Answers the last commit effect: every write becomes the commit named after its sequence. */
  commit(): Effect[] {
    assert.equal(this.state.running, 'commit');
    const planned = (this.asked?.writes ?? []).map((write) => ({
      sequence: write.sequence,
      commit: `c${write.sequence}`,
    }));
    return this.feed({ kind: 'committed', result: { kind: 'ok', planned } });
  }

  pushed(): Effect[] {
    return this.feed({ kind: 'pushed', result: { kind: 'pushed' } });
  }
}

function find<Kind extends Effect['kind']>(
  effects: readonly Effect[],
  kind: Kind,
): Extract<Effect, { kind: Kind }> {
  const found = effects.find((effect): effect is Extract<Effect, { kind: Kind }> => effect.kind === kind);
  assert.ok(
    found,
    `expected a ${kind} effect, got ${effects.map((effect) => effect.kind).join(', ') || 'none'}`,
  );
  return found;
}

function kinds(effects: readonly Effect[]): string[] {
  return effects.map((effect) => effect.kind);
}

describe('a branch with window 0s', () => {
  it('commits an edit at once, pushes it on the tip it was planned on, and confirms it', () => {
    const run = new Run();
    assert.equal(find(run.edit('web'), 'commit').base, 'A');
    const push = find(run.commit(), 'push');
    assert.deepEqual([push.tip, push.expected, push.target], ['c1', 'A', target]);
    const confirmed = find(run.pushed(), 'confirmed');
    assert.deepEqual([confirmed.tip, confirmed.writes.map((write) => write.commit)], ['c1', ['c1']]);
    assert.equal(run.state.queue.length, 0);
  });

  it('gives every edit that arrives during a push its own commit in the next push', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    assert.deepEqual(kinds(run.edit('api')), []);
    run.edit('db');
    const commit = find(run.pushed(), 'commit');
    assert.deepEqual([commit.base, commit.writes.map((write) => write.sequence)], ['c1', [2, 3]]);
    assert.equal(find(run.commit(), 'push').tip, 'c3');
  });

  it('pushes what is committed although edits keep coming faster than they can be committed', () => {
    const run = new Run();
    run.edit('web');
    for (let count = 0; count < 5; count += 1) {
      run.edit(`other-${count}`);
      run.now += 300;
      run.commit();
      if (run.state.pushing !== undefined) break;
    }
    assert.ok(run.state.pushing);
    assert.ok(run.state.queue.some((write) => write.commit === undefined));
  });

  it('confirms a write that changed nothing only behind the writes before it', () => {
    const run = new Run();
    run.edit('web');
    run.feed({ kind: 'committed', result: { kind: 'ok', planned: [{ sequence: 1, commit: null }] } });
    assert.equal(run.state.queue.length, 0, 'nothing was pending before it');
    run.edit('api');
    run.edit('db');
    run.commit();
    run.feed({ kind: 'pushed', result: { kind: 'failed', reason: 'RemoteUnreachable', message: 'down' } });
    assert.equal(run.state.queue.length, 2);
  });
});

describe('a commit window', () => {
  it('closes after silence and not before', () => {
    const run = new Run({ idle: 5_000 });
    assert.equal(find(run.edit('web'), 'wake').at, 6_000);
    run.now = 4_000;
    assert.equal(find(run.edit('api'), 'wake').at, 9_000);
    run.now = 8_999;
    assert.deepEqual(kinds(run.feed({ kind: 'tick' })), ['wake']);
    run.now = 9_000;
    const commit = find(run.feed({ kind: 'tick' }), 'commit');
    assert.deepEqual(
      commit.writes[0]?.changes.map((one) => one.key),
      ['web', 'api'],
    );
  });

  it('closes at its maximum although edits keep coming', () => {
    const run = new Run({ idle: 5_000, max: 7_000 });
    run.edit('web');
    run.now = 5_000;
    assert.equal(find(run.edit('api'), 'wake').at, 8_000);
    run.now = 8_000;
    assert.ok(find(run.feed({ kind: 'tick' }), 'commit'));
  });

  it('closes when another author edits, so that no commit has two authors', () => {
    const run = new Run({ idle: 5_000 });
    run.edit('web');
    const commit = find(run.edit('api', alice), 'commit');
    assert.deepEqual(
      commit.writes.map((write) => write.author.git?.name),
      [undefined],
    );
    assert.equal(run.state.live?.author.git?.name, 'alice');
  });

  it('keeps the last state of an object edited twice, and that it was created', () => {
    const run = new Run({ idle: 5_000 });
    run.feed({ kind: 'live', target, author, change: { ...change('web', '1'), operation: 'CREATE' } });
    run.feed({ kind: 'live', target, author, change: change('web', '2') });
    const [held] = [...(run.state.live?.changes.values() ?? [])];
    assert.deepEqual([held?.operation, held?.resourceVersion], ['CREATE', '2']);
  });

  it('closes at the byte cap', () => {
    const run = new Run({ idle: 5_000, byteCap: 150 });
    run.edit('web');
    assert.ok(find(run.edit('api'), 'commit'));
  });

  it('of a snapshot stays open beside live edits until the snapshot settles', () => {
    const run = new Run({ idle: 0 });
    run.feed({ kind: 'snapshot', target, collection: 'c', change: change('old') });
    const live = find(run.edit('web'), 'commit');
    assert.deepEqual(
      live.writes.map((write) => write.reconcile),
      [undefined],
    );
    const reconcile = { resource, namespace: 'shop', resourceVersion: '9' };
    run.feed({ kind: 'settled', target, collection: 'c', reconcile, sweep: undefined });
    const snapshot = find(run.commit(), 'commit');
    assert.deepEqual(
      snapshot.writes.map((write) => write.reconcile),
      [reconcile],
    );
  });

  it('for a target that goes away is still committed', () => {
    const run = new Run({ idle: 5_000 });
    run.edit('web');
    assert.ok(find(run.feed({ kind: 'target', target, settings: undefined }), 'commit'));
    run.commit();
    assert.deepEqual(kinds(run.edit('api')), []);
  });
});

describe('a moved remote', () => {
  it('is fetched, the kept objects are planned again on its tip, and pushed without force', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    assert.deepEqual(kinds(run.feed({ kind: 'pushed', result: { kind: 'moved' } })), ['fetch']);
    const replay = find(
      run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'B', history: 'ahead' } }),
      'commit',
    );
    assert.deepEqual([replay.base, replay.writes[0]?.changes[0]?.key], ['B', 'web']);
    const push = find(run.commit(), 'push');
    assert.equal(push.expected, 'B');
    find(run.pushed(), 'confirmed');
  });

  it('that keeps moving is tried three times, then waits with doubling pauses', () => {
    const run = new Run();
    run.edit('web');
    const waits: number[] = [];
    for (let cycle = 0; cycle < 8; cycle += 1) {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        if (run.state.running === 'fetch') {
          run.feed({ kind: 'fetched', result: { kind: 'ok', tip: `B${cycle}${attempt}`, history: 'ahead' } });
        }
        run.commit();
        run.feed({ kind: 'pushed', result: { kind: 'moved' } });
      }
      const failing = find(run.effects, 'failing');
      assert.equal(failing.failure.reason, 'RemoteKeepsMoving');
      waits.push(failing.retryAt - run.now);
      run.now = failing.retryAt;
      run.feed({ kind: 'tick' });
    }
    assert.deepEqual(waits, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    assert.equal(run.state.queue.length, 1, 'the edit is still pending');
  });

  it('that already holds our commit means only the answer was lost', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'pushed', result: { kind: 'failed', reason: 'RemoteUnreachable', message: 'reset' } });
    run.now = find(run.effects, 'failing').retryAt;
    assert.deepEqual(kinds(run.feed({ kind: 'tick' })), ['fetch']);
    const effects = run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'c1', history: 'ahead' } });
    assert.deepEqual(
      find(effects, 'confirmed').writes.map((write) => write.commit),
      ['c1'],
    );
    assert.equal(run.state.failure, undefined);
  });

  it('with an unrelated history stops the branch until a person says go on', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'pushed', result: { kind: 'moved' } });
    const effects = run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'Z', history: 'unrelated' } });
    assert.equal(find(effects, 'halted').halt, 'HistoryRewritten');
    assert.deepEqual(kinds(run.edit('api')), []);
    assert.deepEqual(kinds(run.feed({ kind: 'acknowledge' })), ['fetch']);
    const commit = find(
      run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'Z', history: 'same' } }),
      'commit',
    );
    assert.deepEqual([commit.base, commit.writes.length], ['Z', 2]);
  });

  it('that lost a branch we have seen stops; a branch never seen is created', () => {
    const gone = new Run({ seen: true });
    gone.feed({ kind: 'look' });
    const effects = gone.feed({ kind: 'fetched', result: { kind: 'ok', tip: null, history: 'same' } });
    assert.equal(find(effects, 'halted').halt, 'BranchGone');

    const fresh = new Run();
    fresh.state = initialState({ byteCap: 1e6, seen: false });
    fresh.feed({ kind: 'target', target, settings: { uid: 'u', idleTimeoutMs: 0, maxDurationMs: 0 } });
    fresh.feed({ kind: 'fetched', result: { kind: 'ok', tip: null, history: 'same' } });
    assert.equal(find(fresh.edit('web'), 'commit').base, null);
    assert.equal(find(fresh.commit(), 'push').expected, null);
  });

  it('with a rewritten history tells which commits fell out and goes on', () => {
    const run = new Run();
    run.feed({ kind: 'look' });
    const effects = run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'B', history: 'rewritten' } });
    const { previous, tip } = find(effects, 'rewritten');
    assert.deepEqual([previous, tip], ['A', 'B']);
  });

  it('that was rewritten while the process was down is told as well', () => {
    // The branch state is new after a restart; the repository still knows the tip it had.
    const run = new Run();
    run.state = initialState({ byteCap: 1e6, seen: true });
    run.feed({ kind: 'tick' });
    const result = { kind: 'ok', tip: 'B', history: 'rewritten', previous: 'A' } as const;
    assert.equal(find(run.feed({ kind: 'fetched', result }), 'rewritten').previous, 'A');
  });
});

describe('a flush', () => {
  it('with nothing pending is answered from what is known, without asking the remote', () => {
    const run = new Run();
    const effects = run.feed({ kind: 'flush', id: 7, deadlineAt: 9_000 });
    assert.deepEqual(find(effects, 'answer'), {
      kind: 'answer',
      flush: 7,
      answer: { kind: 'published', tip: 'A' },
    });
    assert.ok(!kinds(effects).includes('fetch'));
  });

  it('closes the window and is answered when that write is published, later edits notwithstanding', () => {
    const run = new Run({ idle: 5_000 });
    run.edit('web');
    run.feed({ kind: 'flush', id: 1, deadlineAt: 60_000 });
    run.feed({ kind: 'flush', id: 2, deadlineAt: 60_000 });
    run.commit();
    run.edit('api');
    const answers = run.pushed().filter((effect) => effect.kind === 'answer');
    assert.deepEqual(
      answers.map((effect) => effect.answer),
      [
        { kind: 'published', tip: 'c1' },
        { kind: 'published', tip: 'c1' },
      ],
    );
  });

  it('is closed with the reason as soon as a try has failed', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'flush', id: 1, deadlineAt: 60_000 });
    run.feed({
      kind: 'pushed',
      result: { kind: 'failed', reason: 'PushRefused', message: 'protected branch' },
    });
    const { answer } = find(run.effects, 'answer');
    assert.deepEqual(answer, { kind: 'closed', reason: 'PushRefused', message: 'protected branch' });
  });

  it('tries at once although a retry was put off', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'pushed', result: { kind: 'failed', reason: 'RemoteUnreachable', message: 'down' } });
    assert.deepEqual(kinds(run.feed({ kind: 'flush', id: 1, deadlineAt: 60_000 })).includes('fetch'), true);
  });

  it('is closed at its deadline, never left without an answer', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'flush', id: 1, deadlineAt: 3_000 });
    assert.equal(find(run.effects, 'wake').at, 3_000);
    run.now = 3_000;
    const { answer } = find(run.feed({ kind: 'tick' }), 'answer');
    assert.equal(answer.kind === 'closed' && answer.reason, 'Deadline');
  });
});

describe('a graceful stop', () => {
  it('publishes what was gathered and then says it is done', () => {
    const run = new Run({ idle: 5_000 });
    run.edit('web');
    run.feed({ kind: 'stop', deadlineAt: 20_000 });
    run.commit();
    assert.equal(find(run.pushed(), 'stopped').unpublished, 0);
  });

  it('ends at its deadline and says how much is not published', () => {
    const run = new Run({ idle: 5_000 });
    run.edit('web');
    run.feed({ kind: 'stop', deadlineAt: 20_000 });
    run.now = 20_000;
    assert.equal(find(run.feed({ kind: 'tick' }), 'stopped').unpublished, 1);
  });
});

describe('a failed commit', () => {
  it('keeps the write and tries again later', () => {
    const run = new Run();
    run.edit('web');
    run.feed({ kind: 'committed', result: { kind: 'failed', reason: 'DiskFull', message: 'no space left' } });
    const failing = find(run.effects, 'failing');
    assert.equal(failing.retryAt, run.now + 5_000);
    run.now = failing.retryAt;
    assert.deepEqual(kinds(run.feed({ kind: 'tick' })), ['fetch'], 'the local repository is in doubt');
    const again = run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'A', history: 'same' } });
    assert.equal(find(again, 'commit').writes.length, 1);
  });
});

describe('windows side by side', () => {
  // Windows were once kept by collection alone: objects of one target were written into the folder of another.
  it('keep two targets apart that watch the same collection', () => {
    const run = new Run({ idle: 5_000 });
    run.feed({
      kind: 'target',
      target: 'shop/b',
      settings: { uid: 'v', idleTimeoutMs: 0, maxDurationMs: 0 },
    });
    run.feed({ kind: 'snapshot', target, collection: 'c', change: change('web') });
    run.feed({ kind: 'snapshot', target: 'shop/b', collection: 'c', change: change('web') });
    run.feed({ kind: 'flush', id: 1, deadlineAt: 60_000 });
    const writes = run.asked?.writes.map((write) => [write.target, write.targetUid, write.changes.length]);
    assert.deepEqual(writes, [
      [target, 'u', 1],
      ['shop/b', 'v', 1],
    ]);
  });

  // A live edit once overtook the older state that a snapshot window still held, and was written over by it.
  it('decide the states of one object in the order they came', () => {
    const run = new Run({ idle: 5_000 });
    run.feed({ kind: 'snapshot', target, collection: 'c', change: change('web', '1') });
    run.feed({ kind: 'live', target, author, change: change('web', '2') });
    run.feed({ kind: 'snapshot', target, collection: 'c', change: change('web', '3') });
    run.feed({ kind: 'flush', id: 1, deadlineAt: 60_000 });
    const decided = run.state.queue.flatMap((write) => write.changes.map((one) => one.resourceVersion));
    assert.deepEqual(decided, ['1', '2', '3']);
  });
});

describe('a lost answer to a push', () => {
  // The commit reached the remote and somebody pushed on top: planning it again would have reverted them.
  it('is seen although the tip moved on, and nothing is planned again', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'pushed', result: { kind: 'failed', reason: 'RemoteUnreachable', message: 'reset' } });
    run.now = find(run.effects, 'failing').retryAt;
    run.feed({ kind: 'tick' });
    const result = { kind: 'ok', tip: 'theirs', history: 'ahead', holds: 'c1' } as const;
    const effects = run.feed({ kind: 'fetched', result });
    assert.deepEqual(
      find(effects, 'confirmed').writes.map((write) => write.commit),
      ['c1'],
    );
    assert.ok(!kinds(effects).includes('commit'));
  });

  it('from a repository that was made anew leads to planning again', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'pushed', result: { kind: 'failed', reason: 'RemoteUnreachable', message: 'reset' } });
    run.now = find(run.effects, 'failing').retryAt;
    run.feed({ kind: 'tick' });
    const result = { kind: 'ok', tip: 'A', history: 'same', recreated: true } as const;
    assert.ok(find(run.feed({ kind: 'fetched', result }), 'commit'));
  });
});

describe('a branch that ends', () => {
  it('answers every flush that still waits', () => {
    const run = new Run();
    run.edit('web');
    run.commit();
    run.feed({ kind: 'flush', id: 4, deadlineAt: 90_000 });
    run.feed({ kind: 'stop', deadlineAt: 20_000 });
    run.now = 20_000;
    const { flush, answer } = find(run.feed({ kind: 'tick' }), 'answer');
    assert.deepEqual([flush, answer.kind === 'closed' && answer.reason], [4, 'Stopping']);
  });

  it('looks again when told so while a fetch was under way', () => {
    const run = new Run();
    run.feed({ kind: 'look' });
    run.feed({ kind: 'look' });
    const effects = run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'A', history: 'same' } });
    assert.deepEqual(kinds(effects), ['fetch']);
  });
});

describe('a branch whose streams wait for memory', () => {
  /** Two halves of a snapshot that fill the cap; the first is committed. */
  function pressed(): Run {
    const run = new Run({ byteCap: 2_000 });
    for (let at = 0; at < 21; at += 1)
      run.feed({ kind: 'snapshot', target, collection: 'c', change: change(`web-${at}`) });
    run.commit();
    return run;
  }

  it('pushes what is committed while the rest is committed on top of it', () => {
    const run = pressed();
    assert.deepEqual(kinds(run.effects), ['commit', 'push']);
    assert.equal(find(run.effects, 'commit').base, 'c1');
    assert.equal(find(run.effects, 'push').tip, 'c1');
    const effects = run.pushed();
    assert.deepEqual(
      find(effects, 'confirmed').writes.map((write) => write.commit),
      ['c1'],
    );
    const next = find(run.commit(), 'push');
    assert.deepEqual([next.tip, next.expected], ['c2', 'c1']);
  });

  it('fetches only when both have ended, and plans all of it again when the remote moved', () => {
    const run = pressed();
    assert.deepEqual(kinds(run.feed({ kind: 'pushed', result: { kind: 'moved' } })), []);
    assert.deepEqual(kinds(run.commit()), ['fetch']);
    const effects = run.feed({ kind: 'fetched', result: { kind: 'ok', tip: 'B', history: 'ahead' } });
    const { base, writes } = find(effects, 'commit');
    assert.deepEqual([base, writes.map(({ sequence }) => sequence)], ['B', [1, 2]]);
  });

  it('believes the push and not the commit that failed beside it', () => {
    const run = pressed();
    run.feed({ kind: 'committed', result: { kind: 'failed', reason: 'CommitFailed', message: 'broken' } });
    assert.deepEqual(kinds(run.pushed()), ['fetch']);
    assert.deepEqual(run.state.base, { kind: 'known', tip: 'c1' });
  });
});

describe('a snapshot larger than half the byte cap', () => {
  // What an earlier half holds in the queue once counted against the next window, and every object became a commit.
  it('is decided in halves, not object by object', () => {
    const run = new Run({ byteCap: 2_000 });
    for (let at = 0; at < 18; at += 1) {
      run.feed({ kind: 'snapshot', target, collection: 'c', change: change(`web-${at}`) });
    }
    assert.deepEqual(
      run.state.queue.map((write) => write.changes.length),
      [11],
    );
  });
});
