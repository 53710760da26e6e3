/** Writing the status of an object: only when it changed, and only on the very state it was decided on. */
import { isObject, type JsonObject } from '../core/json.ts';
import type { CallOptions } from './call.ts';
import { type KubeClient, resourceVersionOf } from './client.ts';
import { mergePatch } from './merge-patch.ts';
import type { ObjectRef } from './resource.ts';
import type { KubeFailure } from './result.ts';

export type StatusResult =
  | { readonly kind: 'written'; readonly object: JsonObject }
  /** Nothing was sent. */
  | { readonly kind: 'unchanged' }
  /** `conflict`: the object moved on. It is not tried again here; decide anew on the newer state. */
  | KubeFailure;

/**
 * @param object as it was read when the status was decided; its resourceVersion is the condition of the write
 * @param status the whole new status
 */
export async function writeStatus(
  client: KubeClient,
  ref: ObjectRef,
  object: JsonObject,
  status: JsonObject,
  options: CallOptions = {},
): Promise<StatusResult> {
  const patch = mergePatch(isObject(object.status) ? object.status : {}, status);
  if (patch === undefined) return { kind: 'unchanged' };
  const resourceVersion = resourceVersionOf(object);
  if (resourceVersion === '') throw new Error('a status can only be written on an object that was read');
  const body: JsonObject = { metadata: { resourceVersion }, status: patch };
  const answer = await client.patch(ref, { type: 'merge', body }, { ...options, subresource: 'status' });
  return answer.kind === 'ok' ? { kind: 'written', object: answer.object } : answer;
}
