/** Joins a collection's stream with its target, its branch and the API server it reads from. */
import type { ObjectId } from '../core/identity.ts';
import type { JsonObject } from '../core/json.ts';
import { type Collection, collectionKey } from '../kube/collection.ts';
import { confirmGone, type ObjectName } from '../kube/snapshot-check.ts';
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

  async function listVersions(): Promise<readonly JsonObject[] | undefined> {
    const selected = labelSelector === '' ? {} : { labelSelector };
    const listed = await client.listAll(
      { group, version, resource, namespace },
      { metadataOnly: true, ...selected },
    );
    return listed.kind === 'ok' ? listed.items : undefined;
  }

  async function gone(records: readonly (readonly [string, HandledRecord])[]): Promise<AbsenceCheck> {
    const answer = await confirmGone(
      client,
      { group, version, resource },
      namespace,
      records.map(([, { id }]) => id),
    );
    if (answer.kind !== 'ok') return { kind: 'unknown', message: unconfirmed(resource, answer.message) };
    const names = new Set(answer.gone.map(nameOf));
    return { kind: 'gone', keys: records.filter(([, { id }]) => names.has(nameOf(id))).map(([key]) => key) };
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
    listVersions,
    confirmGone: gone,
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

function unconfirmed(resource: string, why: string): string {
  return `${resource}: objects are missing from a snapshot, but the API server could not confirm it (${why}); nothing is deleted from Git`;
}

function nameOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`;
}

function watched(target: TargetRun, name: string): WatchedCollection {
  const found = target.spec.collections.find((one) => collectionKey(one) === name);
  if (found === undefined) throw new Error(`the target ${target.key} does not watch ${name}`);
  return found;
}
