/** Writes a status once, says an Event when Ready changed, and keeps the condition metrics. */
import type { KindDefinition } from '../api/definition.ts';
import { apiGroup, apiVersion, apiVersionName } from '../api/group.ts';
import { readyEvent } from '../api/trio.ts';
import { isObject, type JsonObject, parseJson } from '../core/json.ts';
import type { EventSubject } from '../kube/events.ts';
import type { ObjectRef } from '../kube/resource.ts';
import { writeStatus } from '../kube/status.ts';
import { setConditionMetrics } from './condition-metrics.ts';
import type { Context } from './context.ts';
import type { KindName, Objects } from './objects.ts';
import { definitions } from './store.ts';

export type Persisted = 'written' | 'unchanged' | 'conflict' | 'gone';

/**
 * A conflict is dropped: the object moved on, and is looked at again. Throws when the API server refused or did not answer.
 * @param object as it was when the status was decided
 */
export async function persist<Kind extends KindName>(
  context: Context,
  kind: Kind,
  object: Objects[Kind],
  status: NonNullable<Objects[Kind]['status']>,
): Promise<Persisted> {
  const { client, store, metrics, events } = context;
  const conditions = status.conditions ?? [];
  setConditionMetrics(metrics, kind, object.metadata, conditions);
  const result = await writeStatus(client, refOf(kind, object), toJson(object), toJson(status));
  if (result.kind === 'unchanged') return 'unchanged';
  const outcome = outcomeOf(result.kind);
  metrics.count('status_writes_total', { kind, outcome });
  if (outcome === 'conflict' || outcome === 'gone') return outcome;
  if (result.kind !== 'written')
    throw new Error(`status of ${kind} ${object.metadata.name}: ${result.message}`);
  const event = readyEvent(object.status?.conditions, conditions);
  if (event !== undefined) events.record({ about: subjectOf(kind, object), ...event });
  store.put(kind, result.object);
  return 'written';
}

export function refOf(
  kind: KindName,
  { metadata }: { readonly metadata: { name: string; namespace?: string | undefined } },
): ObjectRef {
  const definition: KindDefinition = definitions[kind];
  const { name, namespace = '' } = metadata;
  return { group: apiGroup, version: apiVersionName, resource: definition.plural, namespace, name };
}

export function subjectOf(
  kind: KindName,
  {
    metadata,
  }: { readonly metadata: { name: string; namespace?: string | undefined; uid?: string | undefined } },
): EventSubject {
  const { name, namespace = '', uid } = metadata;
  return { apiVersion, kind, namespace, name, ...(uid === undefined ? {} : { uid }) };
}

function outcomeOf(kind: string): 'written' | 'conflict' | 'gone' | 'failed' {
  if (kind === 'written' || kind === 'conflict') return kind;
  return kind === 'not-found' ? 'gone' : 'failed';
}

/** Takes out what is undefined, which JSON has no word for. */
function toJson(value: object): JsonObject {
  const json = parseJson(JSON.stringify(value));
  return isObject(json) ? json : {};
}
