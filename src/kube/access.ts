/** Asks the API server what our own credential may do. */
import { isObject, type JsonObject } from '../core/json.ts';
import type { CallOptions } from './call.ts';
import type { KubeClient } from './client.ts';
import { text } from './loose.ts';
import type { KubeFailure } from './result.ts';

export interface AccessQuestion {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** '' or absent: in all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
}

export type AccessResult =
  | { readonly kind: 'ok'; readonly allowed: boolean; readonly message: string }
  | KubeFailure;

/** A SelfSubjectAccessReview. A failure is no answer, neither yes nor no. */
export async function mayI(
  client: KubeClient,
  question: AccessQuestion,
  options: CallOptions = {},
): Promise<AccessResult> {
  const { verb, group, resource, subresource = '', namespace = '', name = '' } = question;
  const resourceAttributes: JsonObject = { verb, group, resource, subresource, namespace, name };
  const answer = await client.review(
    { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    },
    options,
  );
  if (answer.kind !== 'ok') return answer;
  const status = isObject(answer.object.status) ? answer.object.status : {};
  const allowed = status.allowed === true && status.denied !== true;
  const where = namespace === '' ? 'in all namespaces' : `in namespace ${namespace}`;
  const what = `${verb} ${[resource, subresource].filter((part) => part !== '').join('/')} ${where}`;
  const because = text(status.reason) || text(status.evaluationError);
  return {
    kind: 'ok',
    allowed,
    message: `${what}: ${allowed ? 'allowed' : 'not allowed'}${because === '' ? '' : ` (${because})`}`,
  };
}
