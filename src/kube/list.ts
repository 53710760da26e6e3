/** Reading a collection page by page: whole objects, their metadata, or only their versions. */
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { type Caller, type CallOptions, type Content, objectOf } from './call.ts';
import { type ObjectVersion, readMetadataList, type VersionList } from './metadata-list.ts';
import { type CollectionRef, collectionPath, describeRef, withQuery } from './resource.ts';
import type { KubeFailure } from './result.ts';

export interface VersionListOptions extends CallOptions {
  /** Objects in one page. Default 500. */
  readonly limit?: number;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends VersionListOptions {
  /** Items hold only apiVersion, kind and metadata, of kind PartialObjectMetadata. */
  readonly metadataOnly?: boolean;
}

export interface ListPage {
  readonly kind: 'ok';
  readonly items: JsonObject[];
  /** The state the page shows. All pages of one reading show the same. */
  readonly resourceVersion: string;
  readonly more: boolean;
}

export interface Versions {
  readonly kind: 'ok';
  readonly items: readonly ObjectVersion[];
  readonly resourceVersion: string;
}

const pageLimit = 500;
const metadataAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const protobuf = 'application/vnd.kubernetes.protobuf';
/** Servers behind an APIService may know JSON only. */
const versionsAccept = `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${metadataAccept}`;

export async function* listPages(
  caller: Caller,
  ref: CollectionRef,
  { metadataOnly = false, ...options }: ListOptions,
): AsyncGenerator<ListPage | KubeFailure, void, void> {
  const accept = metadataOnly ? metadataAccept : 'application/json';
  for await (const page of pages(caller, ref, options, { accept, read: readObjects })) {
    if (page.kind !== 'ok') yield page;
    else {
      const { items, resourceVersion, next } = page;
      yield { kind: 'ok', items, resourceVersion, more: next !== '' };
    }
  }
}

export async function listVersions(
  caller: Caller,
  ref: CollectionRef,
  options: VersionListOptions,
): Promise<Versions | KubeFailure> {
  const items: ObjectVersion[] = [];
  let resourceVersion = '';
  for await (const page of pages(caller, ref, options, { accept: versionsAccept, read: readVersions })) {
    if (page.kind !== 'ok') return page;
    for (const item of page.items) items.push(item);
    resourceVersion = page.resourceVersion;
  }
  return { kind: 'ok', items, resourceVersion };
}

interface Form<Page> {
  readonly accept: string;
  /** Undefined when the content is no such list. */
  read(content: Content): (Page & { readonly next: string }) | undefined;
}

async function* pages<Page>(
  caller: Caller,
  ref: CollectionRef,
  options: VersionListOptions,
  form: Form<Page>,
): AsyncGenerator<(Page & { kind: 'ok'; next: string }) | KubeFailure, void, void> {
  const { limit = pageLimit, labelSelector, fieldSelector, ...call } = options;
  const path = collectionPath(ref);
  const what = `list ${describeRef(ref)}`;
  let size = limit;
  let next = '';
  while (true) {
    const answer = await caller.content({
      ...call,
      method: 'GET',
      path: withQuery(path, { limit: size, continue: next, labelSelector, fieldSelector }),
      what,
      accept: form.accept,
    });
    if (answer.kind === 'too-large' && size > 1) {
      // Large objects: the token stays good for a page of another size.
      size = Math.max(1, Math.floor(size / 4));
      continue;
    }
    if (answer.kind !== 'ok') {
      yield answer;
      return;
    }
    const page = form.read(answer);
    if (page === undefined) {
      yield { kind: 'unreachable', message: `${what}: the answer is not a list`, status: answer.status };
      return;
    }
    next = page.next;
    yield { kind: 'ok', ...page };
    if (next === '') return;
  }
}

function readObjects(content: Content): (Omit<ListPage, 'kind' | 'more'> & { next: string }) | undefined {
  const list = objectOf(content);
  const items = list && itemsOf(list);
  if (list === undefined || items === undefined) return undefined;
  const metadata = isObject(list.metadata) ? list.metadata : {};
  return { items, resourceVersion: text(metadata.resourceVersion), next: text(metadata.continue) };
}

function readVersions(content: Content): VersionList | undefined {
  if (content.type.startsWith(protobuf)) return readMetadataList(content.bytes);
  const page = readObjects(content);
  const items = page?.items.flatMap(({ metadata }) => (isObject(metadata) ? versionOf(metadata) : []));
  if (page === undefined || items?.length !== page.items.length) return undefined;
  return { ...page, items };
}

function versionOf({ namespace, name, resourceVersion }: JsonObject): ObjectVersion[] {
  if (text(name) === '') return [];
  return [{ namespace: text(namespace), name: text(name), resourceVersion: text(resourceVersion) }];
}

// Lists of built-in kinds leave apiVersion and kind out of their items; watch events have them.
function itemsOf(list: JsonObject): JsonObject[] | undefined {
  const kind = text(list.kind);
  if (!kind.endsWith('List')) return undefined;
  // A list of nothing may be null.
  if (list.items === null || list.items === undefined) return [];
  if (!Array.isArray(list.items) || !list.items.every(isObject)) return undefined;
  const itemKind = kind.slice(0, -'List'.length);
  const apiVersion = list.apiVersion ?? '';
  return list.items.map((item) => (text(item.kind) === '' ? { apiVersion, kind: itemKind, ...item } : item));
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
