/**
 * The freshness barrier of one GitTarget: proves, collection by collection, that everything the API server had accepted when
 * the question came is handled. Questions that come while a proof runs share the next one.
 */
import type { CollectionEvidence } from '../core/gate/index.ts';
import { describeCollection, type WatchedCollection } from './mirror-spec.ts';
import type { TargetRun } from './target-run.ts';

export class FreshnessBarrier {
  readonly #target: TargetRun;
  readonly #running = new Map<string, Promise<CollectionEvidence>>();
  readonly #next = new Map<string, Promise<CollectionEvidence>>();

  constructor(target: TargetRun) {
    this.#target = target;
  }

  /** Every collection the target watches. Never rejects. */
  prove(): Promise<CollectionEvidence[]> {
    const { collections } = this.#target.spec;
    return Promise.all(collections.map((collection) => this.#shared(collection)));
  }

  /** A proof that began before the question says nothing of it; the one after it does. */
  #shared(collection: WatchedCollection): Promise<CollectionEvidence> {
    const name = this.#target.nameOf(collection);
    const running = this.#running.get(name);
    if (running === undefined) return this.#start(name, collection);
    const next = this.#next.get(name);
    if (next !== undefined) return next;
    const after = running.then(() => {
      this.#next.delete(name);
      return this.#start(name, collection);
    });
    this.#next.set(name, after);
    return after;
  }

  #start(name: string, collection: WatchedCollection): Promise<CollectionEvidence> {
    const proof = this.#prove(name, collection).finally(() => this.#running.delete(name));
    this.#running.set(name, proof);
    return proof;
  }

  async #prove(key: string, collection: WatchedCollection): Promise<CollectionEvidence> {
    const name = describeCollection(collection);
    const feed = this.#target.feeds.get(key);
    const settledOnce = feed?.settledOnce ?? false;
    const state = this.#target.states.get(key)?.state;
    if (feed === undefined || !feed.settledNow) {
      const blocked = state?.phase === 'blocked' ? state : undefined;
      if (blocked?.reason === 'WatchNotPermitted')
        return { name, settledOnce, freshness: 'denied', message: blocked.message };
      if (blocked?.reason === 'NotServed')
        return { name, settledOnce, freshness: 'not-served', message: blocked.message };
      const message = blocked?.message ?? 'its first snapshot is still being read';
      return { name, settledOnce, freshness: 'unsettled', message };
    }
    try {
      const freshness = await feed.catchUp();
      return { name, settledOnce, freshness, message: freshness === 'fresh' ? '' : stale[freshness] };
    } catch (error) {
      const message = `reading it broke: ${error instanceof Error ? error.message : String(error)}`;
      return { name, settledOnce, freshness: 'stale', message };
    }
  }
}

const stale = {
  stale: 'the API server does not tell its newest state, so newer edits may be missing',
  denied: 'it may not be read any more (401 or 403), so newer edits may be missing',
  'not-served': 'the API server does not serve it',
} as const;
