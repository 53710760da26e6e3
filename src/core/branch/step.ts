/**
 * Moves a branch on: (state, input, now) -> (state, effects).
 *
 * One job (fetch, commit, push) runs at a time: a push starts at once when nothing runs, and what is decided meanwhile goes
 * into the next one. Only while streams wait for memory a commit and a push run side by side, since the push is what frees
 * it. The state passed in must not be used afterwards.
 */

import { isBusy, startJob } from './jobs.ts';
import type {
  BranchState,
  CommitResult,
  Effect,
  Failure,
  FailureReason,
  FetchResult,
  FlushAnswer,
  Input,
  PushResult,
  Step,
  Write,
} from './state.ts';
import {
  closeAll,
  closeLive,
  closeSnapshot,
  closeTarget,
  gatherEcho,
  gatherLive,
  gatherSnapshot,
  liveDeadline,
} from './window.ts';

/** Compare-and-swap refusals in a row before we wait (api reference 2.5). */
export const pushAttempts = 3;
/** Wait after a failed cycle, doubling up to the maximum while anything is pending. */
export const retryFirstMs = 5_000;
export const retryMaxMs = 300_000;

export function step(state: BranchState, input: Input, now: number): Step {
  if (state.stopped) return { state, effects: [] };
  const effects: Effect[] = [];
  let next = take(state, input, now, effects);
  next = closeDueWindows(next, now);
  next = forgetFailure(confirm(next, effects));
  next = answerFlushes(next, now, effects);
  next = startJob(next, now, effects);
  next = finishStop(next, now, effects);
  const wake = wakeAt(next);
  if (wake !== undefined && !next.stopped) effects.push({ kind: 'wake', at: wake });
  return { state: next, effects };
}

function take(state: BranchState, input: Input, now: number, effects: Effect[]): BranchState {
  switch (input.kind) {
    case 'target':
      return setTarget(state, input, now);
    case 'live':
      if (input.change.echo) return gatherEcho(state, now, input.target, input.change);
      return gatherLive(state, now, input.target, input.author, input.change);
    case 'snapshot':
      return gatherSnapshot(state, now, input.target, input.collection, input.change);
    case 'settled':
      return closeSnapshot(state, now, input.target, input.collection, input);
    case 'broken-off':
      return closeSnapshot(state, now, input.target, input.collection);
    case 'fetched':
      return takeFetched({ ...state, running: undefined }, input.result, now, effects);
    case 'committed':
      return takeCommitted({ ...state, running: undefined }, input.result, now, effects);
    case 'pushed':
      return takePushed({ ...state, pushing: undefined }, state.pushing, input.result, now, effects);
    case 'look':
      return { ...state, lookAgain: true, lookAfterFetch: state.running === 'fetch' };
    case 'acknowledge':
      return acknowledge(state);
    case 'flush':
      return takeFlush(state, input, now);
    case 'stop':
      return { ...closeAll(state, now), stopping: { deadlineAt: input.deadlineAt }, retryAt: now };
    case 'tick':
      return state;
  }
}

function setTarget(state: BranchState, input: Extract<Input, { kind: 'target' }>, now: number): BranchState {
  const targets = new Map(state.targets);
  if (input.settings !== undefined) {
    targets.set(input.target, input.settings);
    return { ...state, targets };
  }
  // What was gathered for a target that goes away is still published; only new edits are no longer taken.
  const closed = closeTarget(state, now, input.target);
  targets.delete(input.target);
  return { ...closed, targets };
}

function closeDueWindows(state: BranchState, now: number): BranchState {
  const deadline = liveDeadline(state);
  return deadline !== undefined && deadline <= now ? closeLive(state, now) : state;
}

function takeFetched(state: BranchState, result: FetchResult, now: number, effects: Effect[]): BranchState {
  if (result.kind === 'failed') return fail(state, result.reason, result.message, now, effects);
  const previous = state.base.kind === 'known' ? state.base.tip : null;
  if (result.history === 'unrelated') return halt(state, 'HistoryRewritten', effects);
  if (result.tip === null && state.seen) return halt(state, 'BranchGone', effects);
  const lost = previous ?? result.previous;
  if (result.history === 'rewritten' && result.tip !== null && lost !== undefined) {
    effects.push({ kind: 'rewritten', previous: lost, tip: result.tip });
  }
  const queue = takePublished(state.queue, result, effects);
  const moved = state.base.kind !== 'known' || result.tip !== previous || result.recreated === true;
  return {
    ...state,
    base: { kind: 'known', tip: result.tip },
    seen: state.seen || result.tip !== null,
    lookAgain: state.lookAfterFetch,
    lookAfterFetch: false,
    // A moved tip makes every commit of ours that it lacks worthless: plan the kept objects again on it.
    queue: moved ? queue.map(unplanned) : queue,
  };
}

/** A tip that holds commits of ours means that only the answer to their push was lost: they are published. */
function takePublished(
  queue: readonly Write[],
  { tip, holds }: Extract<FetchResult, { kind: 'ok' }>,
  effects: Effect[],
): readonly Write[] {
  const newest = queue.findLastIndex(
    (write) => typeof write.commit === 'string' && [tip, holds].includes(write.commit),
  );
  if (newest < 0) return queue;
  effects.push({ kind: 'confirmed', writes: queue.slice(0, newest + 1), tip });
  return queue.slice(newest + 1);
}

function takeCommitted(
  state: BranchState,
  result: CommitResult,
  now: number,
  effects: Effect[],
): BranchState {
  if (result.kind === 'failed') {
    // What the local repository holds is in doubt: begin again from what the remote says.
    const doubted = { ...state, lookAgain: true, queue: state.queue.map(unplanned) };
    return fail(doubted, result.reason, result.message, now, effects);
  }
  const commits = new Map(result.planned.map((planned) => [planned.sequence, planned.commit]));
  const queue = state.queue.map((write) => {
    const commit = commits.get(write.sequence);
    return commit === undefined ? write : { ...write, commit };
  });
  return { ...state, queue };
}

function takePushed(
  state: BranchState,
  tip: string | undefined,
  result: PushResult,
  now: number,
  effects: Effect[],
): BranchState {
  if (result.kind === 'failed') {
    // A refused or broken push may have moved the remote all the same: look before the next try.
    return fail({ ...state, lookAgain: true }, result.reason, result.message, now, effects);
  }
  if (result.kind === 'moved') {
    const moves = state.moves + 1;
    const looking = { ...state, lookAgain: true, moves };
    if (moves < pushAttempts) return looking;
    const message = `the remote branch moved during ${moves} pushes in a row`;
    return fail({ ...looking, moves: 0 }, 'RemoteKeepsMoving', message, now, effects);
  }
  if (tip === undefined) throw new Error('a push ended that was not under way');
  return {
    ...state,
    base: { kind: 'known', tip },
    seen: true,
    moves: 0,
    failures: 0,
    failure: undefined,
    retryAt: 0,
  };
}

function fail(
  state: BranchState,
  reason: FailureReason,
  message: string,
  now: number,
  effects: Effect[],
): BranchState {
  const failures = state.failures + 1;
  const retryAt = now + Math.min(retryMaxMs, retryFirstMs * 2 ** (failures - 1));
  const since = state.failure?.reason === reason ? state.failure.since : now;
  const failure: Failure = { reason, message, since };
  effects.push({ kind: 'failing', failure, retryAt });
  return { ...state, failures, failure, retryAt };
}

function halt(state: BranchState, reason: 'BranchGone' | 'HistoryRewritten', effects: Effect[]): BranchState {
  effects.push({ kind: 'halted', halt: reason });
  return { ...state, halt: reason, lookAgain: false };
}

/** A person looked and says go on: take the remote as it is now. */
function acknowledge(state: BranchState): BranchState {
  if (state.halt === undefined) return state;
  return {
    ...state,
    halt: undefined,
    seen: false,
    base: { kind: 'unknown' },
    queue: state.queue.map(unplanned),
  };
}

function takeFlush(state: BranchState, input: Extract<Input, { kind: 'flush' }>, now: number): BranchState {
  const closed = closeAll(state, now);
  const flush = { id: input.id, mark: closed.nextSequence - 1, deadlineAt: input.deadlineAt };
  // Somebody waits: a retry that was put off is worth one more try now.
  return { ...closed, flushes: [...closed.flushes, flush], retryAt: now };
}

/** Takes writes off the head of the queue that are planned and, if they made a commit, published. */
function confirm(state: BranchState, effects: Effect[]): BranchState {
  if (state.running === 'fetch' || state.base.kind !== 'known') return state;
  const published = publishedCount(state.queue, state.base.tip);
  if (published === 0) return state;
  effects.push({ kind: 'confirmed', writes: state.queue.slice(0, published), tip: state.base.tip });
  return { ...state, queue: state.queue.slice(published) };
}

/** Nothing pending and nothing to look at: whatever failed before no longer matters. */
function forgetFailure(state: BranchState): BranchState {
  if (state.failure === undefined || hasWork(state) || isBusy(state)) return state;
  return { ...state, failure: undefined, failures: 0, retryAt: 0 };
}

/** Writes are published up to the commit that the remote is at; those that needed no commit follow for free. */
function publishedCount(queue: readonly Write[], tip: string | null): number {
  let count =
    queue.findIndex((write) => write.commit !== undefined && write.commit !== null && write.commit === tip) +
    1;
  while (queue[count]?.commit === null) count += 1;
  return count;
}

function answerFlushes(state: BranchState, now: number, effects: Effect[]): BranchState {
  if (state.flushes.length === 0) return state;
  const oldest = state.queue[0]?.sequence ?? Number.POSITIVE_INFINITY;
  const waiting = state.flushes.filter((flush) => {
    const answer = flushAnswer(state, flush.mark < oldest, flush.deadlineAt <= now, now);
    if (answer !== undefined) effects.push({ kind: 'answer', flush: flush.id, answer });
    return answer === undefined;
  });
  return { ...state, flushes: waiting };
}

function flushAnswer(
  state: BranchState,
  published: boolean,
  late: boolean,
  now: number,
): FlushAnswer | undefined {
  if (state.halt !== undefined)
    return { kind: 'closed', reason: state.halt, message: haltMessages[state.halt] };
  if (published && state.base.kind === 'known' && !state.lookAgain)
    return { kind: 'published', tip: state.base.tip };
  const { failure } = state;
  if (failure !== undefined && state.retryAt > now) {
    return { kind: 'closed', reason: failure.reason, message: failure.message };
  }
  if (late)
    return {
      kind: 'closed',
      reason: 'Deadline',
      message: 'the deadline passed before every edit was published',
    };
  return undefined;
}

export const haltMessages = {
  BranchGone: 'the remote branch was deleted; annotate the GitBranch to create it again',
  HistoryRewritten:
    'the remote branch was replaced by an unrelated history; annotate the GitBranch to accept it',
} as const;

function finishStop(state: BranchState, now: number, effects: Effect[]): BranchState {
  if (state.stopping === undefined) return state;
  const idle =
    !isBusy(state) && (state.queue.length === 0 || state.retryAt > now || state.halt !== undefined);
  if (!idle && state.stopping.deadlineAt > now) return state;
  for (const { id } of state.flushes) effects.push({ kind: 'answer', flush: id, answer: stoppingAnswer });
  effects.push({ kind: 'stopped', unpublished: state.queue.length });
  return { ...state, flushes: [], stopped: true };
}

/** What a flush is told by a branch that ends or has ended. */
export const stoppingAnswer: FlushAnswer = {
  kind: 'closed',
  reason: 'Stopping',
  message: 'the branch is being stopped; what is not published is found again at the next start',
};

function wakeAt(state: BranchState): number | undefined {
  const times = state.flushes.map((flush) => flush.deadlineAt);
  const deadline = liveDeadline(state);
  if (deadline !== undefined) times.push(deadline);
  if (!isBusy(state) && state.halt === undefined && state.retryAt > 0 && hasWork(state)) {
    times.push(state.retryAt);
  }
  if (state.stopping !== undefined) times.push(state.stopping.deadlineAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

function hasWork(state: BranchState): boolean {
  return state.queue.length > 0 || state.lookAgain || state.base.kind === 'unknown';
}

function unplanned(write: Write): Write {
  return { ...write, commit: undefined };
}
