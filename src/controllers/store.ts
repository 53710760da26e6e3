/**
 * Our own objects in memory, one cluster-wide stream per kind, and the labels of the namespaces. Everything the controllers
 * read of Kubernetes comes from here, except Secrets, which are read one by one when they are needed.
 */
import { clusterWatchRuleKind } from '../api/cluster-watch-rule.ts';
import type { KindDefinition } from '../api/definition.ts';
import { gitBranchKind } from '../api/git-branch.ts';
import { gitProviderKind } from '../api/git-provider.ts';
import { gitTargetKind } from '../api/git-target.ts';
import { apiGroup, apiVersionName } from '../api/group.ts';
import { kubeProviderKind } from '../api/kube-provider.ts';
import { watchRuleKind } from '../api/watch-rule.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { type KubeClient, resourceVersionOf } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Collection, StreamHandler, StreamState } from '../kube/collection.ts';
import { compareResourceVersions } from '../kube/resource.ts';
import { CollectionStream } from '../kube/watch.ts';
import type { Log } from '../telemetry/log.ts';
import { keyFrom } from './object-key.ts';
import type { KindName, Objects } from './objects.ts';

export const definitions = {
  GitProvider: gitProviderKind,
  GitBranch: gitBranchKind,
  KubeProvider: kubeProviderKind,
  GitTarget: gitTargetKind,
  WatchRule: watchRuleKind,
  ClusterWatchRule: clusterWatchRuleKind,
} as const satisfies Record<KindName, KindDefinition>;

export const kindNames = [
  'KubeProvider',
  'GitProvider',
  'GitBranch',
  'GitTarget',
  'WatchRule',
  'ClusterWatchRule',
] as const satisfies readonly KindName[];

export interface StoreOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The object is new, gone, or changed in anything but its status. */
  onChange(kind: KindName, key: string): void;
  /** The labels of a namespace changed. */
  onNamespace(name: string): void;
  /** The store became complete, or something about `problem` changed. */
  onState(): void;
}

type Maps = { readonly [Kind in KindName]: Map<string, Objects[Kind]> };

const namespaces: Collection = {
  group: '',
  version: 'v1',
  resource: 'namespaces',
  namespace: '',
  labelSelector: '',
};

export class Store {
  readonly #options: StoreOptions;
  readonly #objects: Maps = {
    GitProvider: new Map(),
    GitBranch: new Map(),
    KubeProvider: new Map(),
    GitTarget: new Map(),
    WatchRule: new Map(),
    ClusterWatchRule: new Map(),
  };
  readonly #labels = new Map<string, Readonly<Record<string, string>>>();
  readonly #streams = new Map<string, CollectionStream>();
  readonly #settled = new Set<string>();
  #version = 0;
  readonly #blocked = new Map<string, Extract<StreamState, { phase: 'blocked' }>>();

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  start(): void {
    for (const kind of kindNames) this.#follow(kind, collectionOf(kind), this.#handlerOf(kind));
    this.#follow('Namespace', namespaces, this.#namespaceHandler());
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((stream) => stream.stop()));
  }

  /** Every kind of ours and the namespaces were listed once. Before that nothing may be decided. */
  get complete(): boolean {
    // Without the labels of namespaces a selector would deny what it grants; whoever may not read them has to live with that.
    const namespacesDecided = this.#settled.has('Namespace') || this.#blocked.has('Namespace');
    return namespacesDecided && kindNames.every((kind) => this.#settled.has(kind));
  }

  /** Another number after every change that is more than a status. */
  get version(): number {
    return this.#version;
  }

  /** What keeps us from reading our own kinds until a person acts; undefined when nothing does. */
  get problem(): string | undefined {
    for (const kind of kindNames) {
      const state = this.#blocked.get(kind);
      if (state?.reason === 'NotServed') return missingCrds(kind);
      if (state?.reason === 'WatchNotPermitted') return `${state.message}; apply manifests/rbac`;
    }
    return undefined;
  }

  /** The rules that are known are all there are: unknown is not empty. */
  get rulesKnown(): boolean {
    return !this.#blocked.has('WatchRule') && !this.#blocked.has('ClusterWatchRule');
  }

  get<Kind extends KindName>(kind: Kind, key: string): Objects[Kind] | undefined {
    return this.#objects[kind].get(key);
  }

  list<Kind extends KindName>(kind: Kind): Objects[Kind][] {
    return [...this.#objects[kind].values()];
  }

  /** Labels of a namespace of the control cluster; undefined when it is not known. */
  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined {
    return this.#labels.get(name);
  }

  /** Takes the answer of a write, so that the next decision does not wait for the watch. */
  put<Kind extends KindName>(kind: Kind, object: JsonObject): void {
    this.#upsert(kind, object);
  }

  /** Tries the streams again that the server refused: their CRDs may be there now. */
  retryBlocked(): void {
    for (const name of this.#blocked.keys()) this.#streams.get(name)?.resync();
  }

  #follow(name: string, collection: Collection, handler: StreamHandler): void {
    const { client, clock, log } = this.#options;
    const stream = new CollectionStream({ client, collection, handler, clock });
    this.#streams.set(name, stream);
    stream
      .run()
      .catch((error: unknown) => log.error({ err: error, kind: name }, 'a stream of our kinds broke'));
  }

  #handlerOf(kind: KindName): StreamHandler {
    return {
      upsert: (object) => this.#upsert(kind, object),
      delete: (object) => this.#remove(kind, keyOfRaw(object)),
      settled: ({ keys }) => {
        for (const key of this.#objects[kind].keys()) if (!keys.has(key)) this.#remove(kind, key);
        this.#settled.add(kind);
        this.#options.onState();
      },
      progress: () => undefined,
      state: (state) => this.#onStream(kind, state),
    };
  }

  #namespaceHandler(): StreamHandler {
    const { onNamespace } = this.#options;
    return {
      upsert: (object) => {
        const name = keyOfRaw(object);
        const before = JSON.stringify(this.#labels.get(name));
        const labels = textMap(object, 'labels');
        this.#labels.set(name, labels);
        if (JSON.stringify(labels) !== before) onNamespace(name);
      },
      delete: (object) => {
        this.#labels.delete(keyOfRaw(object));
        onNamespace(keyOfRaw(object));
      },
      settled: ({ keys }) => {
        for (const name of this.#labels.keys()) if (!keys.has(name)) this.#labels.delete(name);
        this.#settled.add('Namespace');
        this.#options.onState();
      },
      progress: () => undefined,
      state: (state) => this.#onStream('Namespace', state),
    };
  }

  #upsert<Kind extends KindName>(kind: Kind, raw: JsonObject): void {
    const key = keyOfRaw(raw);
    const before = this.#objects[kind].get(key);
    if (before !== undefined && isOlder(raw, before.metadata)) return;
    const parsed = parseObject(kind, raw);
    if (typeof parsed === 'string') {
      this.#options.log.warn(
        { kind, object: key, problem: parsed },
        'an object does not fit its schema and is left out',
      );
      this.#remove(kind, key);
      return;
    }
    this.#objects[kind].set(key, parsed);
    if (before === undefined || intentOf(before) !== intentOf(parsed)) this.#changed(kind, key);
  }

  #remove(kind: KindName, key: string): void {
    if (this.#objects[kind].delete(key)) this.#changed(kind, key);
  }

  #changed(kind: KindName, key: string): void {
    this.#version += 1;
    this.#options.onChange(kind, key);
  }

  #onStream(name: string, state: StreamState): void {
    const { log, onState } = this.#options;
    if (state.phase !== 'blocked') {
      if (this.#blocked.delete(name) && state.phase === 'streaming') this.#answersAgain();
      return;
    }
    this.#blocked.set(name, state);
    const problem = state.reason === 'NotServed' ? missingCrds(name) : state.message;
    log.warn({ kind: name, reason: state.reason, problem }, 'a kind cannot be read at present');
    onState();
  }

  /** One kind is read again: the others need not wait for their own next try, else a new target would lack its rules. */
  #answersAgain(): void {
    for (const [name, { reason }] of this.#blocked)
      if (reason === 'Unreachable') this.#streams.get(name)?.hurry();
  }
}

function parseObject<Kind extends KindName>(kind: Kind, raw: JsonObject): Objects[Kind] | string {
  const parsed = definitions[kind].schema.safeParse(raw);
  if (parsed.success) return parsed.data as Objects[Kind];
  const [issue] = parsed.error.issues;
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not readable'}`;
}

function collectionOf(kind: KindName): Collection {
  const resource = definitions[kind].plural;
  return { group: apiGroup, version: apiVersionName, resource, namespace: '', labelSelector: '' };
}

function missingCrds(kind: string): string {
  return `the API server does not serve ${kind}.${apiGroup}/${apiVersionName}; apply manifests/crds`;
}

function isOlder(
  raw: JsonObject,
  { resourceVersion = '', uid }: { resourceVersion?: string | undefined; uid?: string | undefined },
): boolean {
  if (isObject(raw.metadata) && raw.metadata.uid !== uid) return false;
  return (compareResourceVersions(resourceVersionOf(raw), resourceVersion) ?? 0) < 0;
}

/** Everything a decision depends on that is not our own status. */
function intentOf({ metadata, spec }: Objects[KindName]): string {
  const { uid, generation, deletionTimestamp, labels, annotations } = metadata;
  return JSON.stringify([
    uid,
    generation,
    deletionTimestamp,
    labels,
    annotations,
    generation === undefined ? spec : null,
  ]);
}

function keyOfRaw({ metadata }: JsonObject): string {
  if (!isObject(metadata)) return '';
  const { namespace, name } = metadata;
  return keyFrom(typeof namespace === 'string' ? namespace : '', String(name ?? ''));
}

function textMap({ metadata }: JsonObject, field: 'labels'): Readonly<Record<string, string>> {
  const map = isObject(metadata) ? metadata[field] : undefined;
  if (!isObject(map)) return {};
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]));
}
