/**
 * Which handled objects of a collection are really gone. An object that a list lacks counts as deleted only when nothing
 * else can explain it (contracts 1): another or restored cluster, a changed rule, an API server that cannot confirm it.
 */

import { parseObjectKey } from '../core/identity.ts';
import type { Snapshot } from '../kube/collection.ts';
import { compareResourceVersions } from '../kube/resource.ts';
import { atOnce, keysBegin } from './catch-up.ts';
import type { FeedContext } from './collection-feed.ts';
import type { CollectionRecord, HandledRecord } from './handled.ts';
import { every, othersFirst } from './turns.ts';

type Handled = readonly [string, HandledRecord];

type AbsenceContext = Pick<
  FeedContext,
  | 'collection'
  | 'handled'
  | 'underWay'
  | 'clusterUid'
  | 'readClusterUid'
  | 'suspended'
  | 'confirmGone'
  | 'notice'
  | 'watchedScope'
>;

export interface Absent {
  /** uid of the cluster that the snapshot is of. */
  readonly cluster: string;
  readonly gone: readonly HandledRecord[];
  /** What the snapshot lacks is really not there: Git may be made like it. */
  readonly certain: boolean;
}

export class Absence {
  readonly #context: AbsenceContext;

  constructor(context: AbsenceContext) {
    this.#context = context;
  }

  /** Keys and versions of the records of the collection's objects. */
  *#versionsHere(): Generator<readonly [string, string]> {
    const within = keysBegin(this.#context.collection);
    for (const one of this.#context.handled.versions()) if (one[0].startsWith(within)) yield one;
  }

  /** What was known at the last settled snapshot. */
  get before(): CollectionRecord | undefined {
    return this.#context.handled.collection(this.#place());
  }

  /** Keeps what a settled snapshot covered. */
  async keep(cluster: string, resourceVersion: string): Promise<void> {
    const record = { cluster, scope: this.#scope(), resourceVersion };
    await this.#context.handled.put([], { [this.#place()]: record });
  }

  /** Whether the API server still is the cluster that was mirrored; false also when it does not say. */
  async isSameCluster(): Promise<boolean> {
    const known = this.before?.cluster ?? this.#context.clusterUid();
    return (await this.#context.readClusterUid()) === known;
  }

  /** A stream may go on over a change of clusters; then no snapshot tells of it. Voids the records when it did. */
  async foundAnotherCluster(missing: readonly Handled[]): Promise<boolean> {
    const { before } = this;
    if (missing.length === 0 || before === undefined) return false;
    const cluster = await this.#context.readClusterUid();
    if (cluster === undefined || cluster === before.cluster) return false;
    await this.#forget(missing);
    await this.#context.handled.put([], { [this.#place()]: { ...before, cluster } });
    this.#context.notice('RecordsVoided', this.#anotherCluster());
    return true;
  }

  /** Objects dealt with before that a complete snapshot does not hold. */
  async find(snapshot: Snapshot): Promise<Absent> {
    const missing = await this.#missing(snapshot);
    const asked = missing.length === 0 ? undefined : await this.#context.readClusterUid();
    const cluster = asked ?? this.#context.clusterUid();
    const voided = await this.#voided(snapshot, cluster);
    const nothing = { cluster, gone: [], certain: false };
    if (voided !== undefined) {
      await this.#forget(missing);
      this.#context.notice('RecordsVoided', voided);
      return nothing;
    }
    if (this.#context.suspended()) return nothing;
    if (missing.length === 0) return { ...nothing, certain: true };
    if (asked === undefined) {
      this.#context.notice('AbsenceUnknown', `${this.#what()}: ${unknownCluster}`);
      return nothing;
    }
    const check = await this.#context.confirmGone(missing);
    if (check.kind === 'unknown') {
      this.#context.notice('AbsenceUnknown', check.message);
      return nothing;
    }
    const gone = check.keys.flatMap((key) => this.#context.handled.get(key) ?? []);
    return { cluster, gone, certain: true };
  }

  async #missing(snapshot: Snapshot): Promise<Handled[]> {
    const missing: Handled[] = [];
    const pause = every(atOnce);
    for (const [key] of this.#versionsHere()) {
      if (pause()) await othersFirst();
      if (snapshot.keys.has(nameIn(parseObjectKey(key)))) continue;
      const record = this.#context.handled.get(key);
      if (record !== undefined) missing.push([key, record]);
    }
    return missing;
  }

  /** Whether an object that a GET did not find is gone, and not only its kind no longer served. */
  async isGone(key: string): Promise<boolean> {
    const record = this.#context.handled.get(key);
    // Nothing of it is in Git by us; there is nothing to lose.
    if (record === undefined) return true;
    const check = await this.#context.confirmGone([[key, record]]);
    return check.kind === 'gone' && check.keys.includes(key);
  }

  /** What is as it was handled stays handled; what is missing or under way has no base any more. */
  async #forget(missing: readonly Handled[]): Promise<void> {
    const keys = new Set(missing.map(([key]) => key));
    const stale = [...this.#versionsHere()].filter(
      ([key]) => keys.has(key) || this.#context.underWay.digest(key) !== undefined,
    );
    await this.#context.handled.put(stale.map(([key]) => ({ key, record: undefined, body: undefined })));
  }

  /** Why the records of this collection say nothing about what is gone now; undefined when they do. */
  async #voided(snapshot: Snapshot, cluster: string): Promise<string | undefined> {
    const { before } = this;
    if (before === undefined) return undefined;
    if (before.cluster !== cluster) return this.#anotherCluster();
    if (await this.#isOlder(snapshot.resourceVersion, before.resourceVersion)) {
      return `${this.#what()}: the cluster is older than what was mirrored (restored from a backup?); nothing is deleted from Git`;
    }
    if (before.scope !== this.#scope()) {
      return `${this.#what()}: the rule now watches something else; what it no longer watches stays in Git`;
    }
    return undefined;
  }

  /** Whether a snapshot is older than anything that was known of its collection. */
  async #isOlder(version: string, before: string): Promise<boolean> {
    if (isOlder(version, before)) return true;
    const pause = every(atOnce);
    for (const [, known] of this.#versionsHere()) {
      if (pause()) await othersFirst();
      if (isOlder(version, known)) return true;
    }
    return false;
  }

  #anotherCluster(): string {
    return `${this.#what()}: this is another cluster than the one mirrored before; nothing is deleted from Git`;
  }

  #what(): string {
    const { resource, namespace } = this.#context.collection;
    return namespace === '' ? resource : `${resource} in ${namespace}`;
  }

  /** Where the record of the collection is kept: a changed selector is a changed scope of the same place. */
  #place(): string {
    const { group, resource, namespace } = this.#context.collection;
    return `${group}/${resource}/${namespace}`;
  }

  #scope(): string {
    return this.#context.watchedScope();
  }
}

const unknownCluster =
  'objects are missing from a snapshot, but the API server does not say which cluster it is; nothing is deleted from Git';

/** Versions that cannot be compared are not known to be in order. A record without one says nothing. */
function isOlder(version: string, known: string): boolean {
  const order = compareResourceVersions(version, known);
  return order === undefined ? known !== '' : order < 0;
}

function nameIn({ namespace, name }: HandledRecord['id']): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
