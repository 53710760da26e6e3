/**
 * The SyncGates of every cluster we reach: the control cluster and those of the KubeProviders. Reads them and hands them on;
 * the door of Argo CD answers them.
 */
import { annotations, apiGroup, apiVersionName } from '../api/group.ts';
import { type SyncGateStatus, syncGate, syncGateKind } from '../api/sync-gate.ts';
import type { EarlierAnswer } from '../core/apply/index.ts';
import { metadataMap } from '../core/identity.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { type ArgocdTracking, applierOwner, instanceOwner } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Collection, StreamHandler } from '../kube/collection.ts';
import { CollectionStream } from '../kube/watch.ts';
import type { Log } from '../telemetry/log.ts';
import type { SeenGate } from '../worker/argocd-gate.ts';

export interface GateHandler {
  seen(gate: SeenGate): void;
  gone(uid: string): void;
}

export interface SyncGatesOptions {
  readonly control: KubeClient;
  readonly tracking: () => ArgocdTracking;
  readonly clock: Clock;
  readonly log: Log;
  /** Something about the gates of an Application changed. */
  readonly onChange: (application: string) => void;
}

export interface GateCluster {
  /** Of the KubeProvider. */
  readonly name: string;
  readonly server: string;
  readonly client: KubeClient;
}

export interface KnownGate {
  /** `namespace/name`; '' when no mark tells. */
  readonly application: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly gate: SeenGate;
}

interface Watched {
  readonly stream: CollectionStream;
  readonly gates: Map<string, KnownGate>;
  readonly servers: Set<string>;
  readonly names: Set<string>;
}

const gates: Collection = {
  group: apiGroup,
  version: apiVersionName,
  resource: syncGateKind.plural,
  namespace: '',
  labelSelector: '',
};
/** What Argo CD calls the cluster it runs in. */
const inCluster = { server: 'https://kubernetes.default.svc', name: 'in-cluster' };

export class SyncGates {
  readonly #options: SyncGatesOptions;
  readonly #watched = new Map<KubeClient, Watched>();
  #handler: GateHandler | undefined;

  constructor(options: SyncGatesOptions) {
    this.#options = options;
  }

  start(): void {
    this.update([]);
  }

  /** Hands every SyncGate to the handler, those that are known now too. */
  attach(handler: GateHandler): void {
    this.#handler = handler;
    for (const { gates: known } of this.#watched.values())
      for (const { gate } of known.values()) handler.seen(gate);
  }

  /** Watches the control cluster and these, and no others. */
  update(remotes: readonly GateCluster[]): void {
    const { control } = this.#options;
    const wanted = new Map<KubeClient, GateCluster[]>([[control, [{ ...inCluster, client: control }]]]);
    for (const remote of remotes) wanted.set(remote.client, [...(wanted.get(remote.client) ?? []), remote]);
    for (const [client, watched] of this.#watched) {
      if (wanted.has(client)) continue;
      this.#watched.delete(client);
      this.#stop(watched);
    }
    for (const [client, clusters] of wanted) {
      const watched = this.#watched.get(client) ?? this.#watch(client);
      for (const { server, name } of clusters) {
        watched.servers.add(normalServer(server));
        watched.names.add(name);
      }
    }
  }

  /** The gate of an Application that was seen last; undefined when there is none. */
  of(application: string): KnownGate | undefined {
    const found = [...this.#watched.values()].flatMap(({ gates: known }) =>
      [...known.values()].filter((one) => one.application === application),
    );
    return found.toSorted((a, b) => a.createdAt - b.createdAt).at(-1);
  }

  /** Whether the SyncGates of a destination are seen. */
  reaches({ server, name }: { readonly server: string; readonly name: string }): boolean {
    return [...this.#watched.values()].some(
      ({ servers, names, stream }) =>
        stream.state.phase !== 'blocked' &&
        (server === '' ? names.has(name) : servers.has(normalServer(server))),
    );
  }

  /** The marks are read in another way now. */
  lookAgain(): void {
    for (const { stream, gates: known } of this.#watched.values()) if (known.size > 0) stream.resync();
  }

  /** CRDs changed: a cluster that did not serve the kind may do so now. */
  retryBlocked(): void {
    for (const { stream } of this.#watched.values()) if (stream.state.phase === 'blocked') stream.resync();
  }

  async stop(): Promise<void> {
    this.#handler = undefined;
    await Promise.all([...this.#watched.values()].map(({ stream }) => stream.stop()));
  }

  #watch(client: KubeClient): Watched {
    const { clock, log } = this.#options;
    const known = new Map<string, KnownGate>();
    const handler: StreamHandler = {
      upsert: (object) => this.#upsert(known, client, object),
      delete: (object) => this.#remove(known, uidOf(object)),
      settled: ({ keys }) => {
        for (const [uid, { gate }] of known)
          if (!keys.has(`${gate.namespace}/${gate.name}`)) this.#remove(known, uid);
      },
      progress: () => undefined,
      state: (state) => {
        if (state.phase === 'blocked')
          log.info({ reason: state.reason, problem: state.message }, 'SyncGates cannot be read at present');
      },
    };
    const stream = new CollectionStream({ client, collection: gates, handler, clock });
    const watched: Watched = { stream, gates: known, servers: new Set(), names: new Set() };
    this.#watched.set(client, watched);
    stream.run().catch((error: unknown) => log.error({ err: error }, 'the stream of SyncGates broke'));
    return watched;
  }

  #stop({ stream, gates: known }: Watched): void {
    stream
      .stop()
      .catch((error: unknown) =>
        this.#options.log.error({ err: error }, 'a stream of SyncGates did not end'),
      );
    for (const uid of [...known.keys()]) this.#remove(known, uid);
  }

  #upsert(known: Map<string, KnownGate>, client: KubeClient, object: JsonObject): void {
    const parsed = syncGate.safeParse(object);
    const uid = uidOf(object);
    if (!parsed.success || uid === '') {
      this.#options.log.warn({ problem: parsed.error?.issues[0]?.message }, 'a SyncGate cannot be read');
      return;
    }
    const { metadata, spec, status } = parsed.data;
    const { namespace = '', name } = metadata;
    // One object has the name at a time; the delete of the one before may not have been told.
    for (const [other, { gate }] of known)
      if (other !== uid && gate.namespace === namespace && gate.name === name) this.#remove(known, other);
    const owner = this.#ownerOf(object);
    const createdAt = Date.parse(metadata.creationTimestamp ?? '');
    const gate: SeenGate = {
      client,
      namespace,
      name,
      uid,
      application: owner,
      checks: spec,
      requested: metadata.annotations?.[annotations.requestedAt] ?? '',
      answered: status?.answeredUID === uid ? answerOf(status, createdAt) : undefined,
    };
    const application = owner === undefined ? '' : `${owner.namespace}/${owner.name}`;
    known.set(uid, { application, createdAt, gate });
    this.#handler?.seen(gate);
    this.#options.onChange(application);
  }

  #remove(known: Map<string, KnownGate>, uid: string): void {
    const before = known.get(uid);
    if (before === undefined) return;
    known.delete(uid);
    this.#handler?.gone(uid);
    this.#options.onChange(before.application);
  }

  /** By the annotation Argo CD tracks its objects with, or by its label where that is the method. */
  #ownerOf(object: JsonObject): SeenGate['application'] {
    const tracking = this.#options.tracking();
    const label = metadataMap(object, 'labels')[tracking.label];
    // Whoever made it: an answer to the wrong Application changes nothing.
    const labelled = typeof label === 'string' && label !== '' ? instanceOwner(label, tracking) : undefined;
    const owner = applierOwner(object, tracking);
    const { namespace, name } = (owner?.kind === 'ArgoCD' ? owner : labelled) ?? {};
    return namespace === undefined || name === undefined ? undefined : { namespace, name };
  }
}

function answerOf(
  { phase, message = '', degraded = false, observedAt = '' }: SyncGateStatus,
  createdAt: number,
): EarlierAnswer | undefined {
  return phase && { phase, message, degraded, observedAt: Date.parse(observedAt), createdAt };
}

function uidOf({ metadata }: JsonObject): string {
  return isObject(metadata) && typeof metadata.uid === 'string' ? metadata.uid : '';
}

function normalServer(server: string): string {
  return server.replace(/\/+$/, '').toLowerCase();
}
