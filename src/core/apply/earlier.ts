/**
 * What a process of ours that has ended left undone of a SyncGate it had answered, read back from its answer and from the
 * Application: a sync to go on with, or an apply to watch.
 */
import { promisesMore, type SyncOperation } from './operation.ts';

/** The answer as the SyncGate's status has it. */
export interface EarlierAnswer {
  readonly phase: string;
  readonly message: string;
  readonly degraded: boolean;
  /** Milliseconds since the epoch. */
  readonly observedAt: number;
  /** When Argo CD made the SyncGate, in milliseconds since the epoch. */
  readonly createdAt: number;
}

export type LeftToDo =
  /** Nothing, or nothing that can be read back honestly. */
  | 'nothing'
  /** The sync has failed with our words, and they said that it goes on. */
  | 'continue'
  /** It has not failed yet. */
  | 'wait'
  /** It was let through and may still write. */
  | 'follow';

/** After this nobody waits for the sync any more. */
export const continuedForMs = 300_000;
/** Kubernetes and Argo CD cut their times to seconds. */
const secondMs = 1_000;

/**
 * @param said what Argo CD's sync result says of the gate; undefined when it says nothing
 * @param now milliseconds since the epoch
 */
export function leftToDo(
  answer: EarlierAnswer,
  operation: SyncOperation | undefined,
  said: string | undefined,
  now: number,
): LeftToDo {
  // A sync that began after the gate was made is another one: whoever started it has seen how this one ended.
  if (operation?.sources === undefined || !(operation.startedAt <= answer.createdAt + secondMs))
    return 'nothing';
  const isOver = operation.phase === 'Succeeded' || operation.phase === 'Failed';
  if (answer.phase === 'Open') return isOver || operation.attemptEnded ? 'nothing' : 'follow';
  const hasFailedSo = operation.phase === 'Failed' && said === answer.message;
  // What failed because the gate stayed closed is asked for again whenever it opens.
  if (answer.phase === 'Closed') return answer.degraded && hasFailedSo ? 'continue' : 'nothing';
  if (answer.phase !== 'Superseded' || !promisesMore(answer.message)) return 'nothing';
  if (!(now - answer.observedAt <= continuedForMs)) return 'nothing';
  if (!isOver) return 'wait';
  return hasFailedSo ? 'continue' : 'nothing';
}
