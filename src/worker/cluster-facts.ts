/**
 * What planning needs to know of the cluster beside the object itself: schemas of custom kinds, the applier behind an
 * ownership mark, live autoscalers. Read when asked and kept for a short while; unreadable is unknown, never "none".
 */
import { type FolderApplier, type FolderRef, readFolderApplier } from '../appliers/folder-applier.ts';
import { type CrdSchemas, crdSchemasOf } from '../core/intent/schema/index.ts';
import { isObject, type JsonObject, valueAt } from '../core/json.ts';
import type { ApplierOwner } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { WatchedCollection } from './mirror-spec.ts';

export type Applier = FolderApplier | { readonly kind: 'none' };

const keptMs = 30_000;
const crdKeptMs = 60_000;

interface Kept<Value> {
  readonly at: number;
  readonly value: Promise<Value>;
}

export class ClusterFacts {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #crds = new Map<string, Kept<JsonObject | undefined>>();
  readonly #appliers = new Map<string, Kept<FolderApplier>>();
  readonly #scaled = new Map<string, Kept<readonly JsonObject[]>>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Schemas of the custom kinds among the collections. A definition we may not read leaves its kind without defaults. */
  async crds(collections: readonly WatchedCollection[]): Promise<CrdSchemas> {
    const names = new Set(collections.filter(isCustom).map(({ resource, group }) => `${resource}.${group}`));
    const read = await Promise.all(
      [...names].map((name) => this.#keep(this.#crds, name, crdKeptMs, () => this.#crd(name))),
    );
    return crdSchemasOf(read.filter((crd) => crd !== undefined));
  }

  applier(owner: ApplierOwner, folder: FolderRef): Promise<FolderApplier> {
    const key = JSON.stringify([
      owner.kind,
      owner.namespace,
      owner.name,
      owner.isForeign ?? false,
      folder.repository,
      folder.branch,
      folder.path,
    ]);
    return this.#keep(this.#appliers, key, keptMs, () => readFolderApplier(this.#client, owner, folder));
  }

  /** True when a live HorizontalPodAutoscaler or KEDA ScaledObject targets the object. */
  async autoscaled(live: JsonObject): Promise<boolean> {
    const namespace = valueAt(live, ['metadata', 'namespace']);
    if (typeof namespace !== 'string') return false;
    const scalers = await this.#keep(this.#scaled, namespace, keptMs / 10, () => this.#scalers(namespace));
    return scalers.some((scaler) => targets(scaler, live));
  }

  async #crd(name: string): Promise<JsonObject | undefined> {
    const ref = {
      group: 'apiextensions.k8s.io',
      version: 'v1',
      resource: 'customresourcedefinitions',
      namespace: '',
      name,
    };
    const read = await this.#client.get(ref);
    return read.kind === 'ok' ? read.object : undefined;
  }

  async #scalers(namespace: string): Promise<readonly JsonObject[]> {
    const found = await Promise.all(
      [
        { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
        { group: 'keda.sh', version: 'v1alpha1', resource: 'scaledobjects' },
      ].map((resource) => this.#client.listAll({ ...resource, namespace })),
    );
    return found.flatMap((list) => (list.kind === 'ok' ? list.items : []));
  }

  #keep<Value>(
    map: Map<string, Kept<Value>>,
    key: string,
    forMs: number,
    read: () => Promise<Value>,
  ): Promise<Value> {
    const now = this.#clock.now();
    const kept = map.get(key);
    if (kept !== undefined && now - kept.at < forMs) return kept.value;
    for (const [old, { at }] of map) if (now - at >= forMs) map.delete(old);
    const value = read();
    map.set(key, { at: now, value });
    value.catch(() => map.delete(key));
    return value;
  }
}

/** A CustomResourceDefinition always has a dotted group; asking for one that does not exist costs a 404 a minute. */
function isCustom({ group }: WatchedCollection): boolean {
  return group.includes('.');
}

function targets(scaler: JsonObject, live: JsonObject): boolean {
  const reference = valueAt(scaler, ['spec', 'scaleTargetRef']);
  if (!isObject(reference)) return false;
  const kind = reference.kind ?? 'Deployment';
  return kind === live.kind && reference.name === valueAt(live, ['metadata', 'name']);
}
