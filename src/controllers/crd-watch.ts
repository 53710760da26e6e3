/**
 * Tells when the CRDs of the control cluster change, so that new types are seen before the next regular look. It starts at the
 * newest state and never lists: with their schemas, a hundred CRDs are tens of megabytes. Without the right to watch it stays quiet.
 */
import type { KubeClient } from '../kube/client.ts';
import { type Clock, pause } from '../kube/clock.ts';
import type { Collection, StreamHandler } from '../kube/collection.ts';
import { CollectionStream } from '../kube/watch.ts';
import type { Log } from '../telemetry/log.ts';

const crds: Collection = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  namespace: '',
  labelSelector: '',
};

const retryMs = 60_000;

export interface CrdWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

export class CrdWatch {
  readonly #options: CrdWatchOptions;
  readonly #stopped = new AbortController();
  #stream: CollectionStream | undefined;
  #running: Promise<void> | undefined;
  #complained = false;

  constructor(options: CrdWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#stream?.stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { client, clock, log } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const resourceVersion = await newest(client, signal);
      if (resourceVersion !== undefined) await this.#follow(resourceVersion);
      if (signal.aborted) return;
      if (!this.#complained) log.info('CRDs cannot be watched; new types are noticed within 30 s');
      this.#complained = true;
      await pause(clock, retryMs, signal);
    }
  }

  /** Until the watch is refused, or would have to list. */
  async #follow(resumeFrom: string): Promise<void> {
    const { client, clock, log, onChange } = this.#options;
    // A stream must not be stopped from inside its own handler.
    const end = (): void => void setImmediate(() => void stream.stop());
    const handler: StreamHandler = {
      upsert: onChange,
      delete: onChange,
      settled: () => undefined,
      progress: () => undefined,
      state: (state) => {
        if (
          state.phase === 'replaying' ||
          (state.phase === 'blocked' && state.reason === 'WatchNotPermitted')
        )
          end();
      },
    };
    const stream = new CollectionStream({ client, clock, collection: crds, handler, resumeFrom });
    this.#stream = stream;
    await stream.run().catch((error: unknown) => log.error({ err: error }, 'the watch of CRDs broke'));
  }
}

async function newest(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
  for await (const page of client.list(crds, { limit: 1, metadataOnly: true, signal })) {
    return page.kind === 'ok' ? page.resourceVersion : undefined;
  }
  return undefined;
}
