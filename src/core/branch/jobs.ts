/** Which job a branch begins next, and beside which other one. */
import type { BranchState, Effect, Write } from './state.ts';
import { underPressure } from './window.ts';

/** Edits that keep coming join the next push for so long; then what is committed goes out without them. */
const pushPatienceMs = 1_000;

export function startJob(state: BranchState, now: number, effects: Effect[]): BranchState {
  if (state.running === 'fetch' || state.halt !== undefined || state.retryAt > now || state.stopped)
    return state;
  if (state.base.kind === 'unknown' || state.lookAgain) {
    if (isBusy(state)) return state;
    effects.push({ kind: 'fetch' });
    return { ...state, running: 'fetch' };
  }
  const sideBySide = underPressure(state);
  const committing = startCommit(state, state.base.tip, now, sideBySide, effects);
  return startPush(committing, state.base.tip, sideBySide, effects);
}

function startCommit(
  state: BranchState,
  published: string | null,
  now: number,
  besidePush: boolean,
  effects: Effect[],
): BranchState {
  if (state.running !== undefined || (state.pushing !== undefined && !besidePush)) return state;
  const isLate = state.queue.some(({ commit, decidedAt }) => commit && now - decidedAt >= pushPatienceMs);
  const writes = state.queue.filter((write) => write.commit === undefined);
  if (writes.length === 0 || (isLate && !besidePush)) return state;
  effects.push({ kind: 'commit', base: lastCommit(state.queue) ?? published, writes });
  return { ...state, running: 'commit' };
}

function startPush(
  state: BranchState,
  published: string | null,
  besideCommit: boolean,
  effects: Effect[],
): BranchState {
  if (state.pushing !== undefined || (state.running !== undefined && !besideCommit)) return state;
  const tip = lastCommit(state.queue);
  const target = state.queue.findLast(({ commit }) => typeof commit === 'string')?.target;
  if (tip === null || target === undefined || tip === published) return state;
  effects.push({ kind: 'push', tip, expected: published, target });
  return { ...state, pushing: tip };
}

export function isBusy({ running, pushing }: BranchState): boolean {
  return running !== undefined || pushing !== undefined;
}

function lastCommit(queue: readonly Write[]): string | null {
  return queue.findLast((write) => typeof write.commit === 'string')?.commit ?? null;
}
