/** Joins a collection's stream with its target, its branch and the API server it reads from. */
import {
  forgetObject,
  isIdle,
  judge,
  noteDelete,
  noteFound,
  noteUnchanged,
  revisionsApplied,
  writersOf,
} from '../core/apply/index.ts';
import { type ObjectId, objectKey } from '../core/identity.ts';
import { knownAppliers } from '../core/intent/managers.ts';
import type { JsonObject } from '../core/json.ts';
import type { Mask } from '../core/sealed/index.ts';
import type { Clock } from '../kube/clock.ts';
import { type Collection, collectionKey } from '../kube/collection.ts';
import { confirmGone, type ObjectName, readClusterId } from '../kube/snapshot-check.ts';
import type { BranchWorker } from './branch-worker.ts';
import { type AbsenceCheck, CollectionFeed } from './collection-feed.ts';
import type { MirrorCounts } from './counts.ts';
import type { HandledRecord } from './handled.ts';
import type { WatchedCollection } from './mirror-spec.ts';
import type { TargetRun } from './target-run.ts';
import type { RightOfWay } from './turns.ts';

export interface FeedOptions {
  readonly target: TargetRun;
  readonly collection: Collection;
  readonly worker: BranchWorker;
  readonly counts: MirrorCounts;
  readonly mask: Mask;
  readonly clock: Clock;
  readonly rightOfWay: RightOfWay;
  changed(): void;
}

export function collectionFeed(options: FeedOptions): CollectionFeed {
  const { target, worker, counts, clock } = options;
  const name = collectionKey(options.collection);
  const collection = watched(target, name);
  const { client } = target.spec.cluster;
  const ownerOf = (object: JsonObject) => target.appliers.ownerOf(object);
  const { group, version, resource, namespace, labelSelector } = collection;

  async function readObject(id: ObjectId): ReturnType<CollectionFeedRead> {
    const ref = { group, version, resource, namespace: id.namespace, name: id.name };
    const read = await soon((options) => client.get(ref, options));
    if (read.kind === 'ok') return { kind: 'ok', object: read.object };
    return { kind: read.kind === 'not-found' ? 'not-found' : 'unknown' };
  }

  async function readClusterUid(): Promise<string | undefined> {
    const read = await readClusterId(client);
    return read.kind === 'ok' ? read.id : undefined;
  }

  async function listVersions(): ReturnType<CollectionFeedVersions> {
    const selected = labelSelector === '' ? {} : { labelSelector };
    const ref = { group, version, resource, namespace };
    const listed = await soon((options) => client.listVersions(ref, { ...selected, ...options }));
    switch (listed.kind) {
      case 'ok':
        return listed.items;
      case 'not-found':
        return 'not-served';
      case 'unauthorized':
      case 'forbidden':
        return 'denied';
      default:
        return 'stale';
    }
  }

  /** The applied commit does not hold it: the applier took it away. Any other delete is noted as an edit. */
  async function isPrune(id: ObjectId, object: JsonObject): Promise<boolean> {
    if (isIdle(target.book)) return false;
    for (const revision of revisionsApplied(target.book, ownerOf(object), clock.now())) {
      if ((await target.isInCommit(revision, id)) === false) return true;
    }
    noteDelete(target.book, objectKey(id), clock.now());
    return false;
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
    clusterUid: () => target.spec.cluster.uid,
    readClusterUid,
    ownerOf,
    sawApplied: (owner) => target.appliers.saw(owner),
    hasApplier: () => target.appliers.isSeen,
    watchedScope: () => target.watchedScope(collection),
    pruneAlways: () => target.spec.prune === 'Always',
    suspended: () => target.spec.suspend,
    wholeObjects: () => target.resyncing.has(name),
    isSensitive: (id) => target.isSensitive(id),
    mask: options.mask,
    async accept(input) {
      const startedAt = clock.now();
      await worker.accept(input);
      counts.handled(collection, clock.now() - startedAt);
    },
    readObject,
    listVersions,
    first: (work) => options.rightOfWay.first(work),
    judge(key, object) {
      const verdict = judge(target.book, { key, object, owner: ownerOf(object) }, clock.now());
      if (verdict !== 'edit') counts.applied(target.key, verdict);
      if (verdict === 'collision') target.collisions += 1;
      return verdict;
    },
    found: (key, object) => noteFound(target.book, { key, object, owner: ownerOf(object) }, clock.now()),
    unchanged: (key, object) =>
      noteUnchanged(target.book, { key, object, owner: ownerOf(object) }, clock.now()),
    deleted: (key) => forgetObject(target.book, key),
    isPrune,
    mustComeInOrder(key, object) {
      const owner = isIdle(target.book) ? undefined : ownerOf(object);
      if (owner === undefined) return false;
      const managers: readonly string[] = knownAppliers[owner.kind];
      return writersOf(target.book, { key, object }, clock.now()).some((writer) => managers.includes(writer));
    },
    after: (ms, run) => clock.after(ms, run),
    confirmGone: gone,
    counted: (outcome) => counts.event(target.key, collection, outcome),
    stateChanged(state) {
      target.states.set(name, { collection, state });
      // What was gathered is true, object by object; it must not wait for a snapshot that does not come.
      if (state.phase === 'blocked')
        worker.feed({ kind: 'broken-off', target: target.key, collection: name });
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

/** A kept connection may be dead without telling. Somebody waits, so it is given up early and a new one is tried. */
async function soon<Result extends { readonly kind: string }>(
  ask: (options: { readonly deadlineMs: number }) => Promise<Result>,
): Promise<Result> {
  const first = await ask({ deadlineMs: firstTryMs });
  return first.kind === 'unreachable' ? ask({ deadlineMs: secondTryMs }) : first;
}

const firstTryMs = 4_000;
const secondTryMs = 8_000;

type CollectionFeedVersions = ConstructorParameters<typeof CollectionFeed>[0]['listVersions'];
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
