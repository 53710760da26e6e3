/**
 * What has to be known before an object that is absent from a snapshot counts as deleted: that it is the same cluster,
 * and that the object is really not there. The branch decides; this only asks.
 */
import { isObject, type JsonObject } from '../core/json.ts';
import type { CallOptions } from './call.ts';
import type { KubeClient } from './client.ts';
import { text } from './loose.ts';
import type { CollectionRef, ResourceRef } from './resource.ts';
import type { KubeFailure } from './result.ts';

export interface ObjectName {
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export type ClusterIdResult = { readonly kind: 'ok'; readonly id: string } | KubeFailure;

export type GoneResult =
  | {
      readonly kind: 'ok';
      /** Not there. */
      readonly gone: readonly ObjectName[];
      /** There after all: made again meanwhile, or no longer taken by the selector. */
      readonly present: readonly ObjectName[];
    }
  /** Nothing is confirmed. */
  | KubeFailure;

/** Up to this many objects are asked for one by one. */
const singleReads = 10;

/** The uid of kube-system: another one means another, or a rebuilt, cluster. */
export async function readClusterId(client: KubeClient, options: CallOptions = {}): Promise<ClusterIdResult> {
  const ref = { group: '', version: 'v1', resource: 'namespaces', namespace: '', name: 'kube-system' };
  const answer = await client.get(ref, { ...options, metadataOnly: true });
  if (answer.kind !== 'ok') return answer;
  const id = isObject(answer.object.metadata) ? text(answer.object.metadata.uid) : '';
  return id === ''
    ? { kind: 'unreachable', message: 'get namespaces/kube-system: the answer has no uid' }
    : { kind: 'ok', id };
}

/**
 * Asks again for objects a snapshot did not hold: each by GET, more than ten by one list of metadata without a selector.
 * @param scope the namespace the snapshot covered, '' for all
 */
export async function confirmGone(
  client: KubeClient,
  resource: ResourceRef,
  scope: string,
  objects: readonly ObjectName[],
  options: CallOptions = {},
): Promise<GoneResult> {
  return objects.length <= singleReads
    ? confirmOneByOne(client, resource, objects, options)
    : confirmByList(client, { ...resource, namespace: scope }, objects, options);
}

async function confirmOneByOne(
  client: KubeClient,
  { group, version, resource }: ResourceRef,
  objects: readonly ObjectName[],
  options: CallOptions,
): Promise<GoneResult> {
  const gone: ObjectName[] = [];
  const present: ObjectName[] = [];
  for (const object of objects) {
    const answer = await client.get(
      { group, version, resource, ...object },
      { ...options, metadataOnly: true },
    );
    if (answer.kind === 'not-found') gone.push(object);
    else if (answer.kind === 'ok') present.push(object);
    else return answer;
  }
  // A type that is not served any more answers 404 for everything: that is no delete.
  if (gone.length > 0) {
    const [first] = gone;
    const probe = await firstPage(
      client,
      { group, version, resource, namespace: first?.namespace ?? '' },
      options,
    );
    if (probe !== undefined) return probe;
  }
  return { kind: 'ok', gone, present };
}

async function firstPage(
  client: KubeClient,
  collection: CollectionRef,
  options: CallOptions,
): Promise<KubeFailure | undefined> {
  for await (const page of client.list(collection, { ...options, limit: 1, metadataOnly: true })) {
    return page.kind === 'ok' ? undefined : page;
  }
  return undefined;
}

async function confirmByList(
  client: KubeClient,
  collection: CollectionRef,
  objects: readonly ObjectName[],
  options: CallOptions,
): Promise<GoneResult> {
  const found = new Set<string>();
  for await (const page of client.list(collection, { ...options, metadataOnly: true })) {
    if (page.kind !== 'ok') return page;
    for (const item of page.items) found.add(keyOf(nameOf(item)));
  }
  return {
    kind: 'ok',
    gone: objects.filter((object) => !found.has(keyOf(object))),
    present: objects.filter((object) => found.has(keyOf(object))),
  };
}

function nameOf({ metadata }: JsonObject): ObjectName {
  const fields = isObject(metadata) ? metadata : {};
  return { namespace: text(fields.namespace), name: text(fields.name) };
}

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`;
}
