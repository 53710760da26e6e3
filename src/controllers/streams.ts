/** What the streams of a rule or a target amount to: the numbers in its status and the reason of StreamsRunning. Pure. */
import type { Condition } from '../api/condition.ts';
import { collectionKey, type StreamReason } from '../kube/collection.ts';
import type { StreamObservation, WatchedCollection } from '../worker/mirror-spec.ts';

export interface StreamsStatus {
  readonly summary: string;
  readonly total: number;
  readonly ready: number;
  readonly replaying: number;
  readonly blocked: number;
  readonly pendingSample?: string[];
}

export type StreamsReason =
  | 'AllStreamsReady'
  | 'NoResolvedTypes'
  | 'InitialReplay'
  | 'Replaying'
  | 'WatchError'
  | 'WatchNotPermitted'
  | 'NotReady';

export interface StreamsFinding {
  readonly reason: StreamsReason;
  readonly message: string;
}

const maxSample = 5;
const maxText = 512;

/** Numbers for the wanted collections; one that the workers do not know yet counts as replaying. */
export function streamsStatus(
  wanted: readonly WatchedCollection[],
  observed: readonly StreamObservation[],
): StreamsStatus {
  const states = statesOf(wanted, observed);
  const ready = states.filter(({ state }) => state?.phase === 'streaming').length;
  const blocked = states.filter(({ state }) => state?.phase === 'blocked').length;
  const pending = states.filter(({ state }) => state?.phase !== 'streaming').slice(0, maxSample);
  return {
    summary: `${ready}/${states.length}`,
    total: states.length,
    ready,
    replaying: states.length - ready - blocked,
    blocked,
    ...(pending.length === 0
      ? {}
      : { pendingSample: pending.map(({ collection }) => describeCollection(collection).slice(0, maxText)) }),
  };
}

/**
 * @param before the condition as it is, to tell a first snapshot from a later one
 * @param rulesKnown whether the rules can be read at present: what may be missing from `wanted` is not nothing
 */
export function streamsFinding(
  wanted: readonly WatchedCollection[],
  observed: readonly StreamObservation[] | undefined,
  before: Condition | undefined,
  rulesKnown = true,
): StreamsFinding {
  if (wanted.length === 0 && !rulesKnown)
    return { reason: 'NotReady', message: 'the rules cannot be read at present' };
  if (wanted.length === 0) return { reason: 'NoResolvedTypes', message: 'no resource has to be watched' };
  if (observed === undefined) return { reason: 'NotReady', message: 'the streams are not started yet' };
  const states = statesOf(wanted, observed);
  const blocked = states.filter(({ state }) => state?.phase === 'blocked');
  const [worst] = blocked.toSorted((a, b) => severity(a.state) - severity(b.state));
  if (worst?.state?.phase === 'blocked') {
    const more = blocked.length > 1 ? ` (and ${blocked.length - 1} more)` : '';
    const reason = worst.state.reason === 'WatchNotPermitted' ? 'WatchNotPermitted' : 'WatchError';
    return { reason, message: `${describeCollection(worst.collection)}: ${worst.state.message}${more}` };
  }
  const waiting = states.filter(({ state }) => state?.phase !== 'streaming').length;
  if (waiting === 0)
    return { reason: 'AllStreamsReady', message: `${states.length} of ${states.length} streams are live` };
  const again = before?.status === 'True' || before?.reason === 'Replaying';
  return {
    reason: again ? 'Replaying' : 'InitialReplay',
    message: `${waiting} of ${states.length} streams still read their snapshot`,
  };
}

/** `deployments.apps in shop`, with the selector when there is one. */
export function describeCollection({
  group,
  resource,
  namespace,
  namespaced,
  labelSelector,
}: WatchedCollection): string {
  const type = group === '' ? resource : `${resource}.${group}`;
  const where = !namespaced ? '' : namespace === '' ? ' in all namespaces' : ` in ${namespace}`;
  return `${type}${where}${labelSelector === '' ? '' : ` (${labelSelector})`}`;
}

function statesOf(wanted: readonly WatchedCollection[], observed: readonly StreamObservation[]) {
  const byKey = new Map(observed.map(({ collection, state }) => [collectionKey(collection), state]));
  return wanted.map((collection) => ({ collection, state: byKey.get(collectionKey(collection)) }));
}

const severities: Readonly<Record<StreamReason, number>> = {
  WatchNotPermitted: 0,
  NotServed: 1,
  MalformedStream: 2,
  Unreachable: 3,
  Throttled: 4,
};

function severity(state: StreamObservation['state'] | undefined): number {
  return state?.phase === 'blocked' ? severities[state.reason] : 9;
}
