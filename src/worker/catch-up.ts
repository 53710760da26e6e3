/**
 * Compares what the API server lists of one collection with what was handled or is under way: which objects have a version
 * that we do not know, and which are not there any more. Reads nothing; `collection-feed.ts` does something about it.
 */
import { type ObjectId, objectKey } from '../core/identity.ts';
import type { ObjectVersion } from '../kube/metadata-list.ts';
import type { HandledStates } from './handled.ts';
import { every, othersFirst } from './turns.ts';
import type { UnderWay } from './under-way.ts';

export interface KnownVersions {
  /** Of this collection and of others. */
  readonly handled: Pick<HandledStates, 'versions' | 'get'>;
  readonly underWay: Pick<UnderWay, 'resourceVersion'>;
}

export interface Differences {
  /** Listed in a version that is neither handled nor under way. */
  readonly changed: readonly { readonly id: ObjectId; readonly resourceVersion: string }[];
  /** Keys of records of the collection that the list lacks. */
  readonly missing: readonly string[];
}

type Place = Pick<ObjectId, 'group' | 'kind' | 'namespace'>;

/** As many are compared before everything else has a turn. */
export const atOnce = 2_000;

/** @param namespace '' for all of them */
export async function differences(
  { group, kind, namespace }: Place,
  listed: readonly ObjectVersion[],
  { handled, underWay }: KnownVersions,
): Promise<Differences> {
  const pause = every(atOnce);
  const unknown = new Map<string, ObjectVersion>();
  for (const one of listed) {
    unknown.set(objectKey({ group, kind, namespace: one.namespace, name: one.name }), one);
    if (pause()) await othersFirst();
  }
  const missing: string[] = [];
  const within = keysBegin({ group, kind, namespace });
  // One pass over the records: looking each object up costs a hash of its key.
  for (const [key, recorded] of handled.versions()) {
    if (pause()) await othersFirst();
    if (!key.startsWith(within)) continue;
    const now = unknown.get(key);
    if (now === undefined) missing.push(key);
    else if ((underWay.resourceVersion(key) ?? recorded) === now.resourceVersion) unknown.delete(key);
  }
  const changed: { id: ObjectId; resourceVersion: string }[] = [];
  for (const [key, { namespace: place, name, resourceVersion }] of unknown) {
    if (pause()) await othersFirst();
    if (newest(key) === resourceVersion) continue;
    changed.push({ id: { group, kind, namespace: place, name }, resourceVersion });
  }
  return { changed, missing };

  function newest(key: string): string | undefined {
    return underWay.resourceVersion(key) ?? handled.get(key)?.resourceVersion;
  }
}

/** How the keys of all objects of a collection begin, and no other. */
export function keysBegin({ group, kind, namespace }: Place): string {
  return `${group}/${kind}/${namespace === '' ? '' : `${namespace}/`}`;
}
