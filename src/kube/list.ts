/** Reading a collection page by page. */
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import type { Caller, CallOptions } from './call.ts';
import { type CollectionRef, collectionPath, describeRef, withQuery } from './resource.ts';
import type { KubeFailure } from './result.ts';

export interface ListOptions extends CallOptions {
  /** Objects in one page. Default 500. */
  readonly limit?: number;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
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

const pageLimit = 500;
const metadataAccept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export async function* listPages(
  caller: Caller,
  ref: CollectionRef,
  options: ListOptions,
): AsyncGenerator<ListPage | KubeFailure, void, void> {
  const { limit = pageLimit, labelSelector, fieldSelector, metadataOnly = false, ...call } = options;
  const path = collectionPath(ref);
  let size = limit;
  let next = '';
  while (true) {
    const answer = await caller.call({
      ...call,
      method: 'GET',
      path: withQuery(path, { limit: size, continue: next, labelSelector, fieldSelector }),
      what: `list ${describeRef(ref)}`,
      accept: metadataOnly ? metadataAccept : 'application/json',
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
    const list = answer.object;
    const metadata = isObject(list.metadata) ? list.metadata : {};
    next = text(metadata.continue);
    const items = itemsOf(list);
    if (items === undefined) {
      yield { kind: 'unreachable', message: `list ${describeRef(ref)}: the answer is not a list` };
      return;
    }
    yield { kind: 'ok', items, resourceVersion: text(metadata.resourceVersion), more: next !== '' };
    if (next === '') return;
  }
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
