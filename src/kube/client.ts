/**
 * The API client: any resource as raw JSON, so that no field is lost and no integer rounded. It touches the world and
 * decides nothing. `watch.ts` stands on it for streams; controllers and workers call it directly.
 */
import { isObject, type JsonObject } from '../core/json.ts';
import { type Caller, type CallOptions, createCaller } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import {
  type ListOptions,
  type ListPage,
  listPages,
  listVersions,
  type VersionListOptions,
  type Versions,
} from './list.ts';
import { type RateLimit, rateLimiter } from './rate-limit.ts';
import {
  type CollectionRef,
  collectionPath,
  describeRef,
  type ObjectRef,
  objectPath,
  type Query,
  type ResourceRef,
  withQuery,
} from './resource.ts';
import type { KubeFailure } from './result.ts';
import type { HttpResponse, Transport } from './transport.ts';

export type ObjectResult = { readonly kind: 'ok'; readonly object: JsonObject } | KubeFailure;
export type ListResult = ListPage | KubeFailure;
export type WatchResult = { readonly kind: 'ok'; readonly response: HttpResponse } | KubeFailure;

export interface GetOptions extends CallOptions {
  /** Only metadata comes back. */
  readonly metadataOnly?: boolean;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: string;
  readonly dryRun?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** Takes fields over from other managers; only for `apply`. */
  readonly force?: boolean;
  readonly fieldManager?: string;
}

export interface DeleteOptions extends CallOptions {
  /** Deletes only this very object. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

export type Patch =
  | { readonly type: 'merge'; readonly body: JsonObject }
  | { readonly type: 'json'; readonly body: JsonObject[] }
  | { readonly type: 'apply'; readonly body: JsonObject };

export interface KubeClient {
  get(ref: ObjectRef, options?: GetOptions): Promise<ObjectResult>;
  /**
   * Reads a collection page by page, resourceVersion unset: the newest state. Ends after the first failure. Items
   * always hold apiVersion and kind.
   */
  list(ref: CollectionRef, options?: ListOptions): AsyncGenerator<ListResult, void, void>;
  /** Reads a whole collection into memory; for small ones. */
  listAll(ref: CollectionRef, options?: ListOptions): Promise<ListResult>;
  /** Name and version of every object, as new as `list`, at a fraction of its cost. */
  listVersions(ref: CollectionRef, options?: VersionListOptions): Promise<Versions | KubeFailure>;
  create(ref: CollectionRef, object: JsonObject, options?: WriteOptions): Promise<ObjectResult>;
  patch(ref: ObjectRef, patch: Patch, options?: PatchOptions): Promise<ObjectResult>;
  /** A resourceVersion in the object makes it conditional. */
  replace(ref: ObjectRef, object: JsonObject, options?: WriteOptions): Promise<ObjectResult>;
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<ObjectResult>;
  /** Creates an object that answers at once and is not stored, such as a SelfSubjectAccessReview. */
  review(ref: ResourceRef, object: JsonObject, options?: CallOptions): Promise<ObjectResult>;
  /** Opens a watch and hands over its bytes. The deadline is for the headers; the signal ends the stream. */
  watch(ref: CollectionRef, query: Query, options?: CallOptions): Promise<WatchResult>;
  /** Reads any path, for discovery. */
  raw(path: string, accept: string, options?: CallOptions): Promise<ObjectResult>;
  close(): Promise<void>;
}

export interface KubeClientOptions {
  readonly transport: Transport;
  /** Our version, for the User-Agent. */
  readonly version: string;
  readonly clock?: Clock;
  /** Absent: calls are not limited, for the cluster we run in. */
  readonly rateLimit?: RateLimit;
  /** For one call. Default 30 s. */
  readonly deadlineMs?: number;
  /** Bytes of one answer. Default 64 MiB. */
  readonly responseLimit?: number;
}

export const fieldManager = 'gitops-reverser';

const defaultDeadlineMs = 30_000;
const defaultResponseLimit = 64 * 1024 * 1024;

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const metadataAccept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { transport, version, rateLimit, clock = systemClock } = options;
  const caller: Caller = createCaller({
    transport,
    clock,
    userAgent: `${fieldManager}/${version}`,
    mayStart: rateLimit === undefined ? async () => undefined : rateLimiter(rateLimit, clock),
    deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
    responseLimit: options.responseLimit ?? defaultResponseLimit,
  });

  return {
    get(ref, { metadataOnly = false, ...rest } = {}) {
      const accept = metadataOnly ? metadataAccept : 'application/json';
      return caller.call({
        ...rest,
        method: 'GET',
        path: objectPath(ref),
        what: `get ${describeRef(ref)}`,
        accept,
      });
    },
    list: (ref, listOptions = {}) => listPages(caller, ref, listOptions),
    async listAll(ref, listOptions = {}) {
      const items: JsonObject[] = [];
      let resourceVersion = '';
      for await (const page of listPages(caller, ref, listOptions)) {
        if (page.kind !== 'ok') return page;
        items.push(...page.items);
        resourceVersion = page.resourceVersion;
      }
      return { kind: 'ok', items, resourceVersion, more: false };
    },
    listVersions: (ref, listOptions = {}) => listVersions(caller, ref, listOptions),
    create(ref, object, writeOptions = {}) {
      const path = withQuery(collectionPath(ref), writeQuery(writeOptions));
      return caller.call({
        ...callOptions(writeOptions),
        method: 'POST',
        path,
        what: `create ${describeRef(ref)}`,
        body: object,
      });
    },
    patch(ref, patch, patchOptions = {}) {
      const query = {
        ...writeQuery(patchOptions),
        force: patch.type === 'apply' && patchOptions.force ? true : undefined,
      };
      return caller.call({
        ...callOptions(patchOptions),
        method: 'PATCH',
        path: withQuery(objectPath(ref, patchOptions.subresource), query),
        what: `patch ${describeWrite(ref, patchOptions)}`,
        body: patch.body,
        contentType: patchTypes[patch.type],
      });
    },
    replace(ref, object, writeOptions = {}) {
      return caller.call({
        ...callOptions(writeOptions),
        method: 'PUT',
        path: withQuery(objectPath(ref, writeOptions.subresource), writeQuery(writeOptions)),
        what: `replace ${describeWrite(ref, writeOptions)}`,
        body: object,
      });
    },
    delete(ref, deleteOptions = {}) {
      const call = {
        ...callOptions(deleteOptions),
        method: 'DELETE',
        path: objectPath(ref),
        what: `delete ${describeRef(ref)}`,
      } as const;
      return caller.call({ ...call, body: deleteBody(deleteOptions) });
    },
    review(ref, object, reviewOptions = {}) {
      const path = collectionPath({ ...ref, namespace: '' });
      return caller.call({
        ...reviewOptions,
        method: 'POST',
        path,
        what: `create ${ref.resource}`,
        body: object,
      });
    },
    watch(ref, query, watchOptions = {}) {
      const path = withQuery(collectionPath(ref), { ...query, watch: true });
      return caller.open({ ...watchOptions, method: 'GET', path, what: `watch ${describeRef(ref)}` });
    },
    raw: (path, accept, rawOptions = {}) =>
      caller.call({ ...rawOptions, method: 'GET', path, what: `get ${path}`, accept }),
    close: () => transport.close(),
  };
}

/** `metadata.resourceVersion`, or '' when the object has none. */
export function resourceVersionOf(object: JsonObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '';
}

function writeQuery(options: PatchOptions): Query {
  return { fieldManager: options.fieldManager ?? fieldManager, dryRun: options.dryRun ? 'All' : undefined };
}

function callOptions({ signal, deadlineMs }: CallOptions): CallOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(deadlineMs === undefined ? {} : { deadlineMs }) };
}

function describeWrite(ref: ObjectRef, { subresource }: WriteOptions): string {
  return subresource === undefined ? describeRef(ref) : `${describeRef(ref)} ${subresource}`;
}

function deleteBody({ uid, resourceVersion, propagation }: DeleteOptions): JsonObject {
  const preconditions: JsonObject = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: propagation ?? 'Background',
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  };
}
