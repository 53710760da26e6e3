/** Runs the streams that are wanted and no others. A change of rules leaves every stream that is still wanted alone. */
import type { KubeClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Collection, collectionKey, type StreamHandler } from './collection.ts';
import { slots } from './slots.ts';
import type { StreamTurn } from './turns.ts';
import { CollectionStream } from './watch.ts';

export interface StreamSetOptions {
  readonly client: KubeClient;
  /** Called once per stream started. */
  handlerFor(collection: Collection): StreamHandler;
  /** The handler of a stream threw. The stream has ended and starts again only when `update` drops and wants it anew. */
  onFailure(collection: Collection, error: unknown): void;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly stallMs?: number;
  /** Snapshots read at the same time. Default 8. */
  readonly replays?: number;
  /** The turns of one stream; each has its own when absent. */
  readonly turns?: () => StreamTurn;
}

const defaultReplays = 8;

export class StreamSet {
  readonly #options: StreamSetOptions;
  readonly #replaySlot: (signal: AbortSignal) => Promise<() => void>;
  readonly #streams = new Map<string, CollectionStream>();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: StreamSetOptions) {
    this.#options = options;
    this.#replaySlot = slots(options.replays ?? defaultReplays);
  }

  /**
   * Starts what is new and ends what is not wanted any more. Resolves when the ended streams tell nothing any more;
   * a handler must therefore not wait for it.
   */
  async update(wanted: readonly Collection[]): Promise<void> {
    const keys = new Map(wanted.map((collection) => [collectionKey(collection), collection]));
    for (const [key, stream] of this.#streams) {
      if (!keys.has(key)) this.#end(key, stream);
    }
    for (const [key, collection] of keys) {
      if (!this.#streams.has(key)) this.#start(key, collection);
    }
    await Promise.all(this.#ending);
  }

  async stop(): Promise<void> {
    await this.update([]);
  }

  /** The streams that run, for their state and counts. */
  streams(): CollectionStream[] {
    return [...this.#streams.values()];
  }

  get(collection: Collection): CollectionStream | undefined {
    return this.#streams.get(collectionKey(collection));
  }

  #start(key: string, collection: Collection): void {
    const { client, clock = systemClock, random = Math.random, stallMs, turns } = this.#options;
    const stream = new CollectionStream({
      client,
      collection,
      clock,
      random,
      handler: this.#options.handlerFor(collection),
      replaySlot: this.#replaySlot,
      ...(stallMs === undefined ? {} : { stallMs }),
      ...(turns === undefined ? {} : { turn: turns() }),
    });
    this.#streams.set(key, stream);
    stream.run().catch((error: unknown) => this.#options.onFailure(collection, error));
  }

  #end(key: string, stream: CollectionStream): void {
    this.#streams.delete(key);
    const ending = stream.stop().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
