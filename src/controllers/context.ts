/** What every reconciler is given. One per running set of controllers. */
import type { Config } from '../config.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Mirror, MirrorSpec, WatchedCollection } from '../worker/mirror-spec.ts';
import type { ArgocdView } from './argocd-view.ts';
import type { Clusters } from './clusters.ts';
import type { EncryptionReads } from './encryption.ts';
import type { Flushes } from './flushes.ts';
import type { FluxView } from './flux-view.ts';
import type { KindName } from './objects.ts';
import type { ProviderChecks } from './provider-checks.ts';
import type { Store } from './store.ts';

export interface Context {
  /** The control cluster. */
  readonly client: KubeClient;
  readonly config: Config;
  readonly clock: Clock;
  /** When these controllers began, in clock time. */
  readonly startedAt: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly mirror: Mirror;
  readonly store: Store;
  readonly checks: ProviderChecks;
  readonly clusters: Clusters;
  readonly flushes: Flushes;
  readonly encryption: EncryptionReads;
  readonly argocd: Pick<ArgocdView, 'finding' | 'tracking'>;
  readonly flux: Pick<FluxView, 'finding' | 'trust'>;
  readonly events: EventRecorder;
  readonly memory: Memory;
  /** Has an object looked at again. */
  enqueue(kind: KindName, key: string, delayMs?: number): void;
  /** Has the workers' wanted set made anew. */
  applySpecs(): void;
  /** What is known of a KubeProvider's cluster changed. */
  onCluster(kubeProvider: string): void;
}

/** What is remembered between two looks, by object key. All of it may be lost. */
export interface Memory {
  /** What the workers run now. */
  readonly applied: Map<string, MirrorSpec>;
  /** What each rule (`kind key`) resolved to last. */
  readonly resolved: Map<
    string,
    { readonly intent: string; readonly collections: readonly WatchedCollection[] }
  >;
  /** When a status with sampled fields was last written, in clock time; key `kind key`. */
  readonly sampledAt: Map<string, number>;
  /** Targets that give way to an older one, for one state of the store. */
  losers: { readonly version: number; readonly byKey: ReadonlyMap<string, string> } | undefined;
}

export const steadyMs = 300_000;
export const unconvergedMs = 10_000;
export const conflictMs = 100;
/** After a start: how long a branch may take to be looked at before its status says so. */
export const graceMs = 60_000;
