/**
 * The controllers: they decide which GitTargets may run and with what, hand that to the workers, and tell people what is going on.
 * Everything they know is the API server's and the workers' word; a restart loses nothing. Started by main once this replica leads;
 * only one set may run at a time.
 */
import type { FluxName } from '../appliers/flux-source.ts';
import type { Config } from '../config.ts';
import type { FollowPolicy } from '../core/catalog/index.ts';
import { isSensitiveType } from '../core/sealed/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { EventRecorder } from '../kube/events.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { CoveredTarget } from '../worker/gate-desk.ts';
import type { Mirror, MirrorEvent } from '../worker/mirror-spec.ts';
import { ArgocdView, type GateDoor } from './argocd-view.ts';
import { reconcileClusterWatchRule } from './cluster-watch-rule.ts';
import { Clusters } from './clusters.ts';
import { forgetConditionMetrics } from './condition-metrics.ts';
import type { Context } from './context.ts';
import { CrdWatch } from './crd-watch.ts';
import {
  type Dependent,
  dependentsOf,
  observersOf,
  targetsOfCluster,
  targetsOfGitProvider,
  targetsOfNamespace,
} from './dependents.ts';
import { EncryptionReads } from './encryption.ts';
import { Flushes } from './flushes.ts';
import { FluxView } from './flux-view.ts';
import { gateTargets } from './gate-targets.ts';
import { reconcileGitBranch } from './git-branch.ts';
import { reconcileGitProvider } from './git-provider.ts';
import { reconcileGitTarget } from './git-target.ts';
import { reconcileKubeProvider } from './kube-provider.ts';
import { keyOf, splitKey } from './object-key.ts';
import type { KindName } from './objects.ts';
import { subjectOf } from './persist.ts';
import { ProviderChecks, type ProviderChecksOptions, remoteProbe } from './provider-checks.ts';
import { WorkQueue } from './queue.ts';
import { applySpecs } from './specs.ts';
import { kindNames, Store } from './store.ts';
import { reconcileWatchRule } from './watch-rule.ts';

export interface ControllersOptions {
  /** Client of the control cluster. */
  readonly kube: KubeClient;
  readonly config: Config;
  readonly mirror: Mirror;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly version: string;
  /** Asks a remote for its refs; default: git. */
  readonly ask?: ProviderChecksOptions['ask'];
}

export interface Controllers {
  /** Our kinds are served, may be read, and were read. */
  ready(): boolean;
  /** The GitTargets of a repository, for the gate; undefined before our kinds were read. */
  gateTargets(repository: string): readonly CoveredTarget[] | undefined;
  /** Hands the SyncGates and the changes of Applications to the door of Argo CD. */
  attach(door: GateDoor): void;
  /** The door of Flux has let an artifact of a GitRepository through. */
  artifactPassed(source: FluxName, commit: string): void;
  /** Ends all work. The workers go on with what they have until they are stopped themselves. */
  stop(): Promise<void>;
}

/** Worked on without a pause, so whatever is queued after it sees the new set. */
const specsKey = 'specs';
/** Before the key of a GitTarget that a worker reported on. */
const observedKey = 'observed ';
/** Observations come by the thousand while edits flow, one for each. */
const observationDelayMs = 250;

const reconcilers: Readonly<
  Record<KindName, (context: Context, key: string) => Promise<number | undefined>>
> = {
  KubeProvider: reconcileKubeProvider,
  GitProvider: reconcileGitProvider,
  GitBranch: reconcileGitBranch,
  GitTarget: reconcileGitTarget,
  WatchRule: reconcileWatchRule,
  ClusterWatchRule: reconcileClusterWatchRule,
};

export function startControllers(options: ControllersOptions): Controllers {
  const { kube, config, mirror, log, metrics, clock, version } = options;
  let complete = false;
  const queue = new WorkQueue({
    clock,
    work,
    onError: (key, error) =>
      log.warn({ err: error, object: key }, 'looking at an object failed; it is tried again'),
  });
  const store = new Store({
    client: kube,
    clock,
    log,
    onChange(kind, key) {
      if (!complete) return;
      if (store.get(kind, key) === undefined) forgetConditionMetrics(metrics, kind, splitKey(key));
      queue.add(specsKey);
      enqueueAll(dependentsOf(store, kind, key));
    },
    onNamespace(name) {
      if (!complete) return;
      queue.add(specsKey);
      enqueueAll(targetsOfNamespace(store, name));
    },
    onState,
  });
  const policy = followPolicy(config);
  const clusters = new Clusters({
    control: kube,
    config,
    clock,
    log,
    metrics,
    version,
    policy,
    onChange: onCluster,
  });
  const checks = new ProviderChecks({
    client: kube,
    config,
    clock,
    log,
    ask: options.ask ?? remoteProbe(config),
    onChange(key) {
      queue.add(specsKey);
      enqueueAll([['GitProvider', key], ...targetsOfGitProvider(store, key)]);
    },
  });
  const flushes = new Flushes({ mirror, clock, log, onDone: (key) => enqueue('GitTarget', key) });
  const encryption = new EncryptionReads({ client: kube, clock, isSensitive: policy.isSensitive });
  const events = new EventRecorder({ client: kube, instance: config.identity ?? '', clock });
  const crds = new CrdWatch({
    client: kube,
    clock,
    log,
    onChange() {
      clusters.refreshLocal();
      store.retryBlocked();
      argocd.retryBlocked();
      flux.retryBlocked();
    },
  });
  const argocd = new ArgocdView({
    client: kube,
    argocdNamespace: config.argocdNamespace,
    clock,
    log,
    mirror,
    targets: (repository) => (complete ? gateTargets(context, repository) : undefined),
    onTargets(keys) {
      for (const key of keys) enqueue('GitTarget', key, observationDelayMs);
    },
    onTracking() {
      if (complete) queue.add(specsKey);
    },
  });
  const flux = new FluxView({
    client: kube,
    clock,
    log,
    targets: (repository) => (complete ? gateTargets(context, repository) : undefined),
    onTargets(keys) {
      for (const key of keys) enqueue('GitTarget', key);
    },
  });
  const context: Context = {
    client: kube,
    config,
    clock,
    startedAt: clock.now(),
    log,
    metrics,
    mirror,
    store,
    checks,
    clusters,
    flushes,
    encryption,
    argocd,
    flux,
    events,
    memory: { applied: new Map(), resolved: new Map(), sampledAt: new Map(), losers: undefined },
    enqueue,
    applySpecs: () => queue.add(specsKey),
    onCluster,
  };
  const stopListening = [
    mirror.onChange((target) => {
      queue.addAfter(`${observedKey}${target}`, observationDelayMs);
      argocd.observed(target);
    }),
    mirror.onEvent(tell),
  ];
  store.start();
  crds.start();
  argocd.start();
  // Without the door nothing of Flux is guarded, so there is no way past it.
  if (config.artifactBindAddress !== undefined) flux.start();

  return {
    ready: () => store.complete && store.problem === undefined,
    attach: (door) => argocd.attach(door),
    artifactPassed: (source, commit) => flux.artifactPassed(source, commit),
    gateTargets: (repository) => (complete ? gateTargets(context, repository) : undefined),
    async stop() {
      for (const end of stopListening) end();
      flushes.stop();
      await sayLastWords();
      await Promise.all([store.stop(), crds.stop(), argocd.stop(), flux.stop(), checks.stop(), queue.stop()]);
      await clusters.stop();
      await events.drain();
    },
  };

  async function work(item: string): Promise<number | undefined> {
    if (item === specsKey) {
      argocd.update(clusters.remotes());
      applySpecs(context);
      return undefined;
    }
    if (item.startsWith(observedKey)) {
      enqueueAll(observersOf(store, item.slice(observedKey.length)));
      return undefined;
    }
    const { kind, key } = split(item);
    try {
      const again = await reconcilers[kind](context, key);
      metrics.count('reconciles_total', { kind, outcome: 'ok' });
      return again;
    } catch (error) {
      metrics.count('reconciles_total', { kind, outcome: 'error' });
      throw error;
    }
  }

  function enqueue(kind: KindName, key: string, delayMs = 0): void {
    queue.addAfter(`${kind} ${key}`, delayMs);
  }

  function enqueueAll(dependents: readonly Dependent[]): void {
    for (const [kind, key] of dependents) enqueue(kind, key);
  }

  /** Nothing is decided before every kind was read: what is not known yet would look like gone. */
  function onState(): void {
    if (complete || !store.complete) return;
    complete = true;
    log.info('our kinds were read; the controllers work');
    queue.add(specsKey);
    for (const kind of kindNames) for (const object of store.list(kind)) enqueue(kind, keyOf(object));
  }

  /** What was pushed to a branch must not be forgotten: a branch that was seen is never made anew. */
  async function sayLastWords(): Promise<void> {
    if (!complete) return;
    const branches = store.list('GitBranch').map(keyOf);
    for (const key of branches) context.memory.sampledAt.delete(`GitBranch ${key}`);
    const told = await Promise.allSettled(branches.map((key) => reconcileGitBranch(context, key)));
    for (const result of told) {
      if (result.status === 'rejected')
        log.warn({ err: result.reason }, 'the last status of a GitBranch could not be written');
    }
  }

  function onCluster(kubeProvider: string): void {
    queue.add(specsKey);
    enqueueAll(targetsOfCluster(store, kubeProvider));
  }

  function tell({ target, type, reason, message }: MirrorEvent): void {
    const object = store.get('GitTarget', target);
    if (object !== undefined) events.record({ about: subjectOf('GitTarget', object), type, reason, message });
  }
}

function split(item: string): { readonly kind: KindName; readonly key: string } {
  const kind = kindNames.find((name) => item.startsWith(`${name} `));
  if (kind === undefined) throw new Error(`"${item}" names no object`);
  return { kind, key: item.slice(kind.length + 1) };
}

/** What is sensitive is followed only for targets that encrypt; see `EncryptionReads.catalogFor`. */
function followPolicy({ additionalSensitiveResources }: Config): FollowPolicy {
  return { sensitiveSupported: true, isSensitive: isSensitiveType(additionalSensitiveResources) };
}
