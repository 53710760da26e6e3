/** Reads the two forms in which an API server describes its resources. */
import type { ServedResource } from '../core/catalog/index.ts';
import { isRecord, records, text, texts } from './loose.ts';

export type ResourceFacts = Pick<
  ServedResource,
  'resource' | 'kind' | 'namespaced' | 'verbs' | 'subresources'
>;

export interface GroupVersionFacts {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly ResourceFacts[];
  /** The server could not say; `resources` is empty then. */
  readonly failure?: string;
}

/** An APIGroupDiscoveryList. The versions of a group keep their order: the preferred one is first. */
export function readAggregated(list: { readonly items?: unknown }): GroupVersionFacts[] {
  return records(list.items).flatMap((item) => {
    const group = isRecord(item.metadata) ? text(item.metadata.name) : '';
    return records(item.versions).map((entry): GroupVersionFacts => {
      const version = text(entry.version);
      if (entry.freshness === 'Stale') {
        return { group, version, resources: [], failure: 'the server behind it does not answer' };
      }
      return { group, version, resources: records(entry.resources).flatMap(readAggregatedResource) };
    });
  });
}

function readAggregatedResource(entry: Readonly<Record<string, unknown>>): ResourceFacts[] {
  // Without a kind it only carries subresources.
  if (!isRecord(entry.responseKind)) return [];
  const scope = text(entry.scope);
  return [
    {
      resource: text(entry.resource),
      kind: text(entry.responseKind.kind),
      namespaced: scope === 'Namespaced' ? true : scope === 'Cluster' ? false : undefined,
      verbs: texts(entry.verbs),
      subresources: records(entry.subresources).map(({ subresource }) => text(subresource)),
    },
  ];
}

/** An APIResourceList, in which `deployments/scale` stands beside `deployments`. */
export function readResourceList(list: { readonly resources?: unknown }): ResourceFacts[] {
  const entries = records(list.resources);
  const names = entries.map(({ name }) => text(name));
  return entries.flatMap((entry) => {
    const resource = text(entry.name);
    if (resource === '' || resource.includes('/')) return [];
    const prefix = `${resource}/`;
    return [
      {
        resource,
        kind: text(entry.kind),
        namespaced: typeof entry.namespaced === 'boolean' ? entry.namespaced : undefined,
        verbs: texts(entry.verbs),
        subresources: names
          .filter((name) => name.startsWith(prefix))
          .map((name) => name.slice(prefix.length)),
      },
    ];
  });
}
