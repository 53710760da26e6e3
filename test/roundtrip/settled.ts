/** When the controllers are done with an object that somebody just wrote. */
import { isObject, type Json, type JsonObject, valueAt } from '../../src/core/json.ts';
import { until } from '../cluster/wait.ts';
import type { Api, Place } from './api.ts';

const observed = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'ReplicationController',
  'PodDisruptionBudget',
]);

/** Reads until the object's controller has seen it and two answers in a row are the same. */
export async function readSettled(api: Api, place: Place): Promise<JsonObject> {
  const versions: Json[] = [];
  const probe = async () => {
    const answer = await api.get(place);
    if (answer.kind !== 'ok') throw new Error(answer.message);
    versions.push(valueAt(answer.object, ['metadata', 'resourceVersion']) ?? null);
    const last = versions.slice(-2);
    const isQuiet = last.length === 2 && last[0] === last[1];
    return isQuiet && isSeen(answer.object) ? answer.object : undefined;
  };
  return await until(`${place} to settle`, probe, { timeoutMs: 60_000 });
}

/** Deployments and the like say which generation they have seen; the rest say what state they are in. */
function isSeen(live: JsonObject): boolean {
  const status = isObject(live.status) ? live.status : {};
  if (observed.has(String(live.kind)))
    return status.observedGeneration === valueAt(live, ['metadata', 'generation']);
  switch (live.kind) {
    case 'CustomResourceDefinition':
      return hasCondition(status, 'Established');
    case 'HorizontalPodAutoscaler':
      return status.conditions !== undefined;
    case 'Namespace':
    case 'PersistentVolumeClaim':
      return status.phase !== undefined;
    default:
      return true;
  }
}

function hasCondition(status: JsonObject, type: string): boolean {
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

/** Waits until an object that was deleted is gone. */
export async function untilGone(api: Api, place: Place): Promise<void> {
  await until(
    `${place} to be gone`,
    async () => {
      const answer = await api.get(place);
      return answer.kind === 'refused' && answer.reason === 'NotFound';
    },
    { timeoutMs: 60_000 },
  );
}
