/** Joins a collection's stream with its target, its branch and the API server it reads from. */
import type { ObjectId } from '../core/identity.ts';
import type { JsonObject } from '../core/json.ts';
import { type Collection, collectionKey } from '../kube/collection.ts';
import type { BranchWorker } from './branch-worker.ts';
import { type AbsenceCheck, CollectionFeed } from './collection-feed.ts';
import type { MirrorCounts } from './counts.ts';
import type { HandledRecord } from './handled.ts';
import type { WatchedCollection } from './mirror-spec.ts';
import type { TargetRun } from './target-run.ts';

export interface FeedOptions {
  readonly target: TargetRun;
  readonly collection: Collection;
  readonly worker: BranchWorker;
  readonly counts: MirrorCounts;
  readonly digestKey: Uint8Array;
  changed(): void;
}

/** Above this many, one more list is cheaper than asking for each (contracts 1). */
const confirmOneByOne = 10;

export function collectionFeed(options: FeedOptions): CollectionFeed {
  const { target, worker, counts } = options;
  const name = collectionKey(options.collection);
  const collection = watched(target, name);
  const { client, uid } = target.spec.cluster;
  const { group, version, resource, namespace, labelSelector } = collection;

  async function readObject(id: ObjectId): ReturnType<CollectionFeedRead> {
    const read = await client.get({ group, version, resource, namespace: id.namespace, name: id.name });
    if (read.kind === 'ok') return { kind: 'ok', object: read.object };
    return { kind: read.kind === 'not-found' ? 'not-found' : 'unknown' };
  }

  async function listVersions(selector: string): Promise<readonly JsonObject[] | undefined> {
    const listed = await client.listAll(
      { group, version, resource, namespace },
      { metadataOnly: true, ...(selector === '' ? {} : { labelSelector: selector }) },
    );
    return listed.kind === 'ok' ? listed.items : undefined;
  }

  async function confirmGone(records: readonly (readonly [string, HandledRecord])[]): Promise<AbsenceCheck> {
    if (records.length <= confirmOneByOne) {
      const gone: string[] = [];
      for (const [key, { id }] of records) {
        const read = await readObject(id);
        if (read.kind === 'unknown') return unknownAbsence(resource);
        if (read.kind === 'not-found') gone.push(key);
      }
      return { kind: 'gone', keys: gone };
    }
    // Unfiltered, so that a selector that no longer matches is not taken for a delete.
    const listed = await listVersions('');
    if (listed === undefined) return unknownAbsence(resource);
    const present = new Set(listed.map(nameOf));
    const gone = records.filter(([, { id }]) => !present.has(`${id.namespace}/${id.name}`));
    return { kind: 'gone', keys: gone.map(([key]) => key) };
  }

  const feed = new CollectionFeed({
    target: target.key,
    collection,
    name,
    handled: target.handled,
    underWay: target.underWay,
    clusterUid: uid,
    pruneAlways: () => target.spec.prune === 'Always',
    suspended: () => target.spec.suspend,
    wholeObjects: () => target.resyncing.has(name),
    isSensitive: (id) => target.isSensitive(id),
    digestKey: options.digestKey,
    accept: (input) => worker.accept(input),
    readObject,
    listVersions: () => listVersions(labelSelector),
    confirmGone,
    counted: (outcome) => counts.event(target.key, collection, outcome),
    stateChanged(state) {
      target.states.set(name, { collection, state });
      options.changed();
    },
    settledOnce(snapshot) {
      target.resyncing.delete(name);
      target.settledOnce = true;
      counts.settled(target.key, collection, snapshot);
    },
    notice: (reason, message) => target.notice(reason, name, message),
  });
  target.feeds.set(name, feed);
  return feed;
}

type CollectionFeedRead = ConstructorParameters<typeof CollectionFeed>[0]['readObject'];

function unknownAbsence(resource: string): AbsenceCheck {
  return {
    kind: 'unknown',
    message: `${resource}: objects are missing from a snapshot, but the API server could not confirm it; nothing is deleted from Git`,
  };
}

function nameOf(object: JsonObject): string {
  const { namespace = '', name = '' } = (object.metadata ?? {}) as { namespace?: string; name?: string };
  return `${namespace}/${name}`;
}

function watched(target: TargetRun, name: string): WatchedCollection {
  const found = target.spec.collections.find((one) => collectionKey(one) === name);
  if (found === undefined) throw new Error(`the target ${target.key} does not watch ${name}`);
  return found;
}
