/**
 * One source cluster as the controllers see it: what it serves, who it is, and whether it answers. Looked at every 30 s, and at
 * once when somebody says that its types changed.
 */
import { type Catalog, type FollowPolicy, nextCatalog, noCatalog } from '../core/catalog/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { createDiscovery, type DiscoveryReader } from '../kube/discovery.ts';
import type { KubeFailure } from '../kube/result.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { isReached, type Reachability } from './reachability.ts';

export interface SourceClusterOptions {
  /** For logs and metrics. */
  readonly name: string;
  readonly client: KubeClient;
  readonly local: boolean;
  readonly policy: FollowPolicy;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What it serves, who it is or whether it answers has changed. */
  readonly onChange: () => void;
}

const refreshMs = 30_000;
/** A new type has to stay for this long; until then we look more often. */
const settlingMs = 2_500;
const retryMs = 10_000;
const deadlineMs = 20_000;

const kubeSystem = {
  group: '',
  version: 'v1',
  resource: 'namespaces',
  namespace: '',
  name: 'kube-system',
} as const;

export class SourceCluster {
  readonly #options: SourceClusterOptions;
  readonly #discovery: DiscoveryReader;
  readonly #stopped = new AbortController();
  #catalog: Catalog = noCatalog;
  #uid: string | undefined;
  #reach: Reachability = { reason: 'AwaitingDiscovery', message: 'the cluster was not asked yet' };
  #told = '';
  #running: Promise<void> | undefined;
  #again = false;
  #cancel: (() => void) | undefined;

  constructor(options: SourceClusterOptions) {
    this.#options = options;
    this.#discovery = createDiscovery(options.client);
  }

  get client(): KubeClient {
    return this.#options.client;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** uid of the kube-system namespace: tells a restored or replaced cluster from the one we knew. */
  get uid(): string | undefined {
    return this.#uid;
  }

  get reach(): Reachability {
    return this.#reach;
  }

  /** Looks now. A look that is going on is followed by another one. */
  refresh(): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    this.#cancel?.();
    this.#running = this.#look().finally(() => {
      this.#running = undefined;
      if (this.#stopped.signal.aborted) return;
      if (this.#again) {
        this.#again = false;
        this.refresh();
      } else {
        this.#cancel = this.#options.clock.after(this.#pause(), () => this.refresh());
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel?.();
    await this.#running;
  }

  async #look(): Promise<void> {
    const { clock, log, name, policy } = this.#options;
    const options = { signal: this.#stopped.signal, deadlineMs };
    const startedAt = clock.now();
    try {
      const read = await this.#discovery.read(options);
      const identity =
        read.kind === 'ok'
          ? await this.client.get(kubeSystem, { ...options, metadataOnly: true })
          : undefined;
      if (this.#stopped.signal.aborted) return;
      this.#catalog = nextCatalog(
        this.#catalog,
        read.kind === 'ok' ? read.discovery : undefined,
        clock.now(),
        policy,
      );
      const failure = read.kind !== 'ok' ? read : identity?.kind === 'ok' ? undefined : identity;
      if (identity?.kind === 'ok') this.#uid = uidOf(identity.object);
      this.#reach = failure === undefined ? this.#answered() : unreached(failure);
      this.#measure(
        read.kind === 'ok' ? (read.discovery.failed.length > 0 ? 'degraded' : 'ok') : 'failed',
        startedAt,
      );
      if (failure !== undefined)
        log.warn({ cluster: name, problem: failure.message }, 'a source cluster does not answer');
    } catch (error) {
      log.error({ err: error, cluster: name }, 'looking at a source cluster broke');
      this.#reach = {
        reason: 'SourceClusterUnreachable',
        message: error instanceof Error ? error.message : 'unknown error',
      };
    }
    const now = this.#signature();
    if (now === this.#told) return;
    this.#told = now;
    this.#options.onChange();
  }

  #answered(): Reachability {
    return this.#options.local
      ? { reason: 'LocalCluster', message: 'the cluster the sidecar runs in' }
      : { reason: 'SourceClusterReachable', message: 'the cluster answered' };
  }

  #pause(): number {
    if (!isReached(this.#reach)) return retryMs;
    const settling = [...this.#catalog.entries.values()].some(
      ({ verdict }) => verdict.kind === 'unknown' && verdict.reason === 'settling',
    );
    return settling ? settlingMs : refreshMs;
  }

  #measure(outcome: 'ok' | 'degraded' | 'failed', startedAt: number): void {
    const { metrics, name, clock } = this.#options;
    const labels = { source_cluster: name };
    metrics.count('api_catalog_refresh_total', { ...labels, outcome });
    metrics.observe('api_catalog_refresh_duration_seconds', labels, (clock.now() - startedAt) / 1000);
    const entries = [...this.#catalog.entries.values()];
    const usable = entries.filter(
      ({ verdict }) => verdict.kind === 'followable' || verdict.kind === 'retained',
    );
    const versions = new Set(entries.map(({ resource }) => `${resource.group}/${resource.version}`));
    metrics.set('api_catalog_resources', labels, usable.length);
    metrics.set('api_catalog_group_versions', labels, versions.size);
  }

  #signature(): string {
    const { entries, known, complete, failed } = this.#catalog;
    const types = [...entries].map(([key, { verdict }]) => `${key}=${verdict.kind}`).sort();
    return JSON.stringify([known, complete, failed, this.#uid, this.#reach, types]);
  }
}

function unreached(failure: KubeFailure): Reachability {
  switch (failure.kind) {
    case 'unauthorized':
      return { reason: 'SourceClusterAuthenticationFailed', message: failure.message };
    case 'forbidden':
      return { reason: 'SourceClusterAccessDenied', message: failure.message };
    default:
      return { reason: 'SourceClusterUnreachable', message: failure.message };
  }
}

function uidOf({ metadata }: { readonly metadata?: unknown }): string | undefined {
  const uid =
    typeof metadata === 'object' && metadata !== null && 'uid' in metadata ? metadata.uid : undefined;
  return typeof uid === 'string' ? uid : undefined;
}
