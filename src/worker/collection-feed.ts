/**
 * Turns what a stream tells about one collection of one GitTarget into changes of its branch: drops what nobody changed,
 * remembers what is under way, and finds what is gone. Whether a change is an edit is decided in core/plan, not here.
 */
import type { WriteVerdict } from '../core/apply/index.ts';
import type { Author, ChangeResource, Input, ObjectChange, Sweep, TargetKey } from '../core/branch/state.ts';
import type { Freshness } from '../core/gate/index.ts';
import { identify, type ObjectId, objectKey } from '../core/identity.ts';
import { canonicalJson, isObject, type JsonObject } from '../core/json.ts';
import { type ApplierOwner, isTerminating, neverMirrored, sanitize } from '../core/sanitize/index.ts';
import type { Mask } from '../core/sealed/index.ts';
import type { Snapshot, StreamHandler, StreamState } from '../kube/collection.ts';
import type { ObjectVersion } from '../kube/metadata-list.ts';
import { compareResourceVersions } from '../kube/resource.ts';
import { Absence } from './absence.ts';
import { differences } from './catch-up.ts';
import { editAuthor } from './edit-author.ts';
import { digestOf, type HandledRecord, type HandledStates } from './handled.ts';
import type { WatchedCollection } from './mirror-spec.ts';
import { deletedDigest, type UnderWay } from './under-way.ts';

export type EventOutcome = 'routed' | 'unchanged' | 'not_object' | 'cluster_generated' | 'suspended';

/** What became of the objects of a handled collection that a snapshot does not hold. */
export type AbsenceCheck =
  | { readonly kind: 'gone'; readonly keys: readonly string[] }
  /** Nothing may be concluded; the sentence says why. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface FeedContext {
  readonly target: TargetKey;
  readonly collection: WatchedCollection;
  readonly name: string;
  readonly handled: HandledStates;
  readonly underWay: UnderWay;
  /** uid of the cluster's kube-system namespace as it was last seen. */
  clusterUid(): string;
  /** The same, asked of the API server now; undefined when it does not say. */
  readClusterUid(): Promise<string | undefined>;
  readonly pruneAlways: () => boolean;
  readonly suspended: () => boolean;
  /** True while a snapshot that was asked for by hand runs: in a mirror the whole object counts again. */
  readonly wholeObjects: () => boolean;
  isSensitive(id: ObjectId): boolean;
  /** Whose mark an object carries. */
  ownerOf(object: JsonObject): ApplierOwner | undefined;
  /** An object of the target carries an applier's mark. */
  sawApplied(owner: ApplierOwner): void;
  hasApplier(): boolean;
  /** Everything the target watches of this kind in this place, by selector: changes when a rule does. */
  watchedScope(): string;
  /** Masks the values of sensitive objects. */
  readonly mask: Mask;
  accept(input: Input): Promise<void>;
  /** One object as the API server has it now. */
  readObject(
    id: ObjectId,
  ): Promise<{ kind: 'ok'; object: JsonObject } | { kind: 'not-found' } | { kind: 'unknown' }>;
  /** Every object of the collection now, or why that cannot be had. */
  listVersions(): Promise<readonly ObjectVersion[] | Exclude<Freshness, 'fresh' | 'unsettled'>>;
  /** Work before which streams and planning step back; so it must wait for neither. */
  first<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whose write this is, as far as an apply window that is open tells. */
  judge(key: string, object: JsonObject): WriteVerdict;
  /** A version that a snapshot brought, or that came while the target was suspended. */
  found(key: string, object: JsonObject): void;
  /** A version that changed nothing of what is mirrored. */
  unchanged(key: string, object: JsonObject): void;
  deleted(key: string): void;
  /** Whether a disappearance is the prune of an apply that goes on. */
  isPrune(id: ObjectId, object: JsonObject): Promise<boolean>;
  /** Whether this write may only be taken from the stream, in order: it may have hidden an edit. */
  mustComeInOrder(key: string, object: JsonObject): boolean;
  /** Calls `run` after `ms`; what it returns calls that off. */
  after(ms: number, run: () => void): () => void;
  /** Asks the API server whether these handled objects are really gone. */
  confirmGone(records: readonly (readonly [string, HandledRecord])[]): Promise<AbsenceCheck>;
  counted(outcome: EventOutcome): void;
  stateChanged(state: StreamState): void;
  settledOnce(snapshot: Snapshot): void;
  notice(reason: 'RecordsVoided' | 'AbsenceUnknown', message: string): void;
}

export class CollectionFeed implements StreamHandler {
  readonly #context: FeedContext;
  readonly #absence: Absence;
  readonly #resource: ChangeResource;
  /** Told after each event. */
  readonly #waiting = new Set<() => void>();
  /** Objects this collection brought, where a selector leaves others to others. */
  readonly #mine = new Set<string>();
  #settled = false;

  constructor(context: FeedContext) {
    this.#context = context;
    this.#absence = new Absence(context);
    const { group, version, resource } = context.collection;
    this.#resource = { group, version, resource };
  }

  async upsert(object: JsonObject, phase: 'snapshot' | 'live'): Promise<void> {
    const { handled, underWay } = this.#context;
    const id = identify(object);
    if (id === undefined) return this.#context.counted('not_object');
    if (neverMirrored(object) !== undefined) return this.#context.counted('cluster_generated');
    if (isTerminating(object)) return this.#gone(object, id, 'observed');
    const key = objectKey(id);
    if (this.#context.collection.labelSelector !== '') this.#mine.add(key);
    const owner = this.#context.ownerOf(object);
    if (owner !== undefined) this.#context.sawApplied(owner);
    const sensitive = this.#context.isSensitive(id);
    const sanitized = sanitize(object);
    const { digest, body } = digestOf(sanitized, sensitive ? this.#context.mask : undefined);
    const { uid, resourceVersion } = versionOf(object);
    const record = handled.get(key);
    const current = underWay.digest(key) ?? record?.digest;
    if (phase === 'live' && this.#isOlder(resourceVersion, key)) return this.#context.counted('unchanged');
    const whole = phase === 'snapshot' && this.#context.wholeObjects() && owner === undefined;
    if (current === digest && !whole) {
      if (record?.digest === digest) handled.touch(key, resourceVersion);
      underWay.touch(key, resourceVersion);
      this.#context.unchanged(key, object);
      this.#tellWaiting();
      return this.#context.counted('unchanged');
    }
    const isLive = phase === 'live' && !this.#context.suspended();
    if (!isLive) this.#context.found(key, object);
    if (this.#context.suspended()) return this.#context.counted('suspended');
    this.#context.counted('routed');
    const echo = isLive && this.#context.judge(key, object) !== 'edit';
    const change: ObjectChange = {
      key,
      id,
      resource: this.#resource,
      operation: current === undefined ? 'CREATE' : 'UPDATE',
      live: withoutStatus(object),
      uid,
      resourceVersion,
      digest,
      body,
      whole,
      echo,
      bytes: estimateBytes(sensitive ? canonicalJson(sanitized) : body),
    };
    underWay.begin(change);
    this.#tellWaiting();
    await this.#route(change, phase, object);
  }

  async delete(object: JsonObject): Promise<void> {
    const id = identify(object);
    if (id === undefined) return this.#context.counted('not_object');
    if (await this.#onlyLeftTheSelector(id)) return this.#context.counted('unchanged');
    await this.#gone(object, id, 'observed');
  }

  /** A watch with a selector says DELETED also of an object that no longer matches. It is not gone: nothing is deleted. */
  async #onlyLeftTheSelector(id: ObjectId): Promise<boolean> {
    if (this.#context.collection.labelSelector === '') return false;
    const read = await this.#context.readObject(id);
    if (read.kind === 'not-found') return false;
    const key = objectKey(id);
    this.#mine.delete(key);
    if (read.kind === 'ok') await this.#context.handled.put([{ key, record: undefined, body: undefined }]);
    return true;
  }

  async settled(snapshot: Snapshot): Promise<void> {
    const { collection, target, name } = this.#context;
    const { cluster, gone, certain } = await this.#absence.find(snapshot);
    for (const { id, uid } of gone) {
      this.#context.deleted(objectKey(id));
      await this.#routeDelete(id, uid, snapshot.resourceVersion, 'absent');
    }
    const reconcile = {
      resource: this.#resource,
      namespace: collection.namespace === '' ? undefined : collection.namespace,
      resourceVersion: snapshot.resourceVersion,
    };
    await this.#context.accept({
      kind: 'settled',
      target,
      collection: name,
      reconcile,
      sweep: certain ? this.#sweep(snapshot) : undefined,
    });
    await this.#absence.keep(cluster, snapshot.resourceVersion);
    this.#settled = true;
    this.#context.settledOnce(snapshot);
  }

  progress(): void {}

  holds({ group, kind, namespace }: ObjectId): boolean {
    const { collection } = this.#context;
    return (
      group === collection.group && kind === collection.kind && ['', namespace].includes(collection.namespace)
    );
  }

  /** A snapshot settled once, in this process or in an earlier one. */
  get settledOnce(): boolean {
    return this.#settled || this.#absence.before !== undefined;
  }

  /** A snapshot settled in this process. */
  get settledNow(): boolean {
    return this.#settled;
  }

  /** Takes one object as it is now, past the stream. Returns false when that is not possible. */
  async reread(id: ObjectId, order: 'as-streamed' | 'now' = 'as-streamed'): Promise<boolean> {
    const read = await this.#context.readObject(id);
    const key = objectKey(id);
    if (read.kind === 'not-found') {
      if (!(await this.#absence.isSameCluster()) || !(await this.#absence.isGone(key))) return false;
      await this.#gone({}, id, 'observed');
      return true;
    }
    if (read.kind !== 'ok') return false;
    if (order === 'as-streamed' && this.#context.mustComeInOrder(key, read.object)) {
      return this.#arrives(key, versionOf(read.object).resourceVersion);
    }
    await this.upsert(read.object, 'live');
    return true;
  }

  /**
   * Takes every object whose newest version has not arrived by the stream yet, so that what the API server accepted before
   * this call is on its way to Git; `stale` and the like when that cannot be said.
   */
  async catchUp(): Promise<Exclude<Freshness, 'unsettled'>> {
    const { collection, handled } = this.#context;
    const found = await this.#context.first(async () => {
      const listed = await this.#context.listVersions();
      return typeof listed === 'string' ? listed : differences(collection, listed, this.#context);
    });
    if (typeof found === 'string') return found;
    let complete = true;
    for (const { id, resourceVersion } of found.changed) {
      // It may have arrived while others were read.
      if (this.#isExcluded(id) || this.#knownVersion(objectKey(id)) === resourceVersion) continue;
      if (!(await this.reread(id))) complete = false;
    }
    const selects = collection.labelSelector !== '';
    const missing = found.missing.flatMap((key) => {
      const record = !selects || this.#mine.has(key) ? handled.get(key) : undefined;
      return record === undefined ? [] : [[key, record] as const];
    });
    if (await this.#absence.foundAnotherCluster(missing)) return 'fresh';
    for (const [, { id }] of missing) if (!(await this.reread(id))) complete = false;
    return complete ? 'fresh' : 'stale';
  }

  #isExcluded({ group, kind, namespace, name }: ObjectId): boolean {
    const { version } = this.#context.collection;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return neverMirrored({ apiVersion, kind, metadata: { namespace, name } }) !== undefined;
  }

  /** Waits until the stream has brought this version of an object, or a newer one. */
  #arrives(key: string, resourceVersion: string): Promise<boolean> {
    const arrived = () => {
      const known = this.#knownVersion(key);
      const order = known === undefined ? undefined : compareResourceVersions(known, resourceVersion);
      return order !== undefined && order >= 0;
    };
    if (arrived()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (answer: boolean) => {
        cancel();
        this.#waiting.delete(look);
        resolve(answer);
      };
      const cancel = this.#context.after(streamPatienceMs, () => done(false));
      const look = () => {
        if (arrived()) done(true);
      };
      this.#waiting.add(look);
    });
  }

  #tellWaiting(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** An object read past the stream may overtake it; what the stream brings then is history. */
  #isOlder(resourceVersion: string, key: string): boolean {
    const known = this.#knownVersion(key);
    const order = known === undefined ? undefined : compareResourceVersions(resourceVersion, known);
    return order !== undefined && order < 0;
  }

  #knownVersion(key: string): string | undefined {
    return this.#context.underWay.resourceVersion(key) ?? this.#context.handled.get(key)?.resourceVersion;
  }

  state(state: StreamState): void {
    this.#context.stateChanged(state);
  }

  async #gone(object: JsonObject, id: ObjectId, deletion: 'observed' | 'absent'): Promise<void> {
    const key = objectKey(id);
    this.#context.deleted(key);
    const known =
      this.#context.handled.get(key) !== undefined || this.#context.underWay.digest(key) !== undefined;
    if (!known || this.#context.underWay.isDelete(key)) return this.#context.counted('unchanged');
    if (this.#context.suspended()) return this.#context.counted('suspended');
    const prune = deletion === 'observed' && (await this.#context.isPrune(id, object));
    this.#context.counted('routed');
    const { uid, resourceVersion } = versionOf(object);
    await this.#routeDelete(id, uid, resourceVersion, deletion, prune);
  }

  async #routeDelete(
    id: ObjectId,
    uid: string,
    resourceVersion: string,
    deletion: 'observed' | 'absent',
    echo = false,
  ): Promise<void> {
    const change: ObjectChange = {
      key: objectKey(id),
      id,
      resource: this.#resource,
      operation: 'DELETE',
      live: undefined,
      deletion,
      uid,
      resourceVersion,
      digest: deletedDigest,
      body: undefined,
      whole: false,
      echo,
      bytes: smallChangeBytes,
    };
    this.#context.underWay.begin(change);
    await this.#route(change, deletion === 'absent' ? 'snapshot' : 'live', undefined);
  }

  #route(change: ObjectChange, phase: 'snapshot' | 'live', object: JsonObject | undefined): Promise<void> {
    const { target, name } = this.#context;
    if (phase === 'snapshot')
      return this.#context.accept({ kind: 'snapshot', target, collection: name, change });
    const author: Author = change.echo ? { managers: [], proof: 'none' } : editAuthor(object);
    return this.#context.accept({ kind: 'live', target, author, change });
  }

  #sweep(snapshot: Snapshot): Sweep | undefined {
    const { collection } = this.#context;
    if (!this.#context.pruneAlways() || collection.labelSelector !== '') return undefined;
    // Where an applier is, it prunes; a document it has not applied yet must not be swept away.
    if (this.#context.hasApplier()) return undefined;
    const present = new Set<string>();
    for (const key of snapshot.keys) present.add(objectKey(this.#idOf(key)));
    const namespace = collection.namespace === '' ? undefined : collection.namespace;
    return { group: collection.group, kind: collection.kind, namespace, present };
  }

  #idOf(snapshotName: string): ObjectId {
    const { group, kind } = this.#context.collection;
    const slash = snapshotName.indexOf('/');
    const namespace = slash < 0 ? '' : snapshotName.slice(0, slash);
    return { group, kind, namespace, name: snapshotName.slice(slash + 1) };
  }
}

const smallChangeBytes = 512;
/** An event that the API server has sent is here well within this. */
const streamPatienceMs = 3_000;

function estimateBytes(text: string): number {
  return 2 * text.length + smallChangeBytes;
}

function withoutStatus(object: JsonObject): JsonObject {
  const { status: _status, ...rest } = object;
  return rest;
}

function versionOf(object: JsonObject): { uid: string; resourceVersion: string } {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { uid, resourceVersion } = metadata;
  return {
    uid: typeof uid === 'string' ? uid : '',
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
  };
}
