/** The objects of one kind of Flux in the control cluster, as far as the view of Flux must know them. */
import type { FluxName } from '../appliers/flux-source.ts';
import type { JsonObject } from '../core/json.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { StreamHandler } from '../kube/collection.ts';
import { CollectionStream } from '../kube/watch.ts';
import { keyOf } from './flux-routes.ts';

export interface FluxObjectsOptions<Fact extends FluxName> {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly kind: { readonly group: string; readonly version: string; readonly resource: string };
  factOf(object: JsonObject): Fact;
  /** Told on a change of the facts only. */
  onChange(before: Fact | undefined, after: Fact | undefined): void;
  /** It is served, but may not be read. */
  onBlocked(message: string): void;
  onBroken(error: unknown): void;
}

export class FluxObjects<Fact extends FluxName> {
  readonly #options: FluxObjectsOptions<Fact>;
  readonly #known = new Map<string, Fact>();
  readonly #stream: CollectionStream;

  constructor(options: FluxObjectsOptions<Fact>) {
    this.#options = options;
    const { client, clock, kind } = options;
    const collection = { ...kind, namespace: '', labelSelector: '' };
    this.#stream = new CollectionStream({ client, clock, collection, handler: this.#handler() });
  }

  start(): void {
    this.#stream.run().catch((error: unknown) => this.#options.onBroken(error));
  }

  async stop(): Promise<void> {
    await this.#stream.stop();
  }

  retryBlocked(): void {
    if (this.#stream.state.phase === 'blocked') this.#stream.resync();
  }

  list(): readonly Fact[] {
    return [...this.#known.values()];
  }

  #handler(): StreamHandler {
    return {
      upsert: (object) => this.#upsert(this.#options.factOf(object)),
      delete: (object) => this.#remove(keyOf(this.#options.factOf(object))),
      settled: ({ keys }) => {
        for (const key of [...this.#known.keys()]) if (!keys.has(key)) this.#remove(key);
      },
      progress: () => undefined,
      state: (state) => {
        if (state.phase === 'blocked' && state.reason !== 'NotServed') this.#options.onBlocked(state.message);
      },
    };
  }

  #upsert(fact: Fact): void {
    const key = keyOf(fact);
    const before = this.#known.get(key);
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(fact)) return;
    this.#known.set(key, fact);
    this.#options.onChange(before, fact);
  }

  #remove(key: string): void {
    const before = this.#known.get(key);
    if (before === undefined) return;
    this.#known.delete(key);
    this.#options.onChange(before, undefined);
  }
}
