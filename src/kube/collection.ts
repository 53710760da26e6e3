/** What one stream watches, and what it tells its handler. */
import type { JsonObject } from '../core/json.ts';
import type { StreamReason } from '../core/stream-reason.ts';

export type { StreamReason } from '../core/stream-reason.ts';

export interface Collection {
  readonly group: string;
  readonly version: string;
  /** Plural name as discovery gives it. */
  readonly resource: string;
  /** '' for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
  /** As in a query; '' for every object. */
  readonly labelSelector: string;
}

export type StreamState =
  /** A snapshot is being read; `settled` follows. */
  | { readonly phase: 'replaying' }
  /** The snapshot is whole and changes arrive. */
  | { readonly phase: 'streaming' }
  /** Nothing arrives at present; it is tried again. What was settled before stays, but may be old. */
  | { readonly phase: 'blocked'; readonly reason: StreamReason; readonly message: string };

export interface Snapshot {
  /** The state the snapshot shows. */
  readonly resourceVersion: string;
  readonly count: number;
  /** `namespace/name` (or `name`) of every object in it; valid during the call only. */
  readonly keys: ReadonlySet<string>;
  readonly durationMs: number;
  /** By streaming list, or by pages on servers without it. */
  readonly via: 'watch-list' | 'pages';
}

/**
 * Told strictly in order, one call at a time: the next waits for the promise of the one before, and the server for it.
 * What a method throws ends the stream and comes out of `CollectionStream.run`.
 */
export interface StreamHandler {
  /** Snapshot objects may be told again when a snapshot starts anew before it settled. */
  upsert(object: JsonObject, phase: 'snapshot' | 'live'): void | Promise<void>;
  /** Watched as deleted; the object as it last was. */
  delete(object: JsonObject): void | Promise<void>;
  /** Once per whole snapshot. Nothing may be taken for deleted by absence before. */
  settled(snapshot: Snapshot): void | Promise<void>;
  /** Everything up to here was told. */
  progress(resourceVersion: string): void | Promise<void>;
  /** Told on change only. */
  state(state: StreamState): void | Promise<void>;
}

/** Equal for equal collections; not for people. */
export function collectionKey(collection: Collection): string {
  const { group, version, resource, namespace, labelSelector } = collection;
  return JSON.stringify([group, version, resource, namespace, labelSelector]);
}
