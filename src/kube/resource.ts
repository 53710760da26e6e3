/** Which resource a call is about, and the URL path that names it. */

export interface ResourceRef {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name as discovery gives it: `deployments`. */
  readonly resource: string;
}

/** All objects of a resource, in one namespace or in all of them. */
export interface CollectionRef extends ResourceRef {
  /** '' for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
}

export interface ObjectRef extends ResourceRef {
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function collectionPath({ group, version, resource, namespace }: CollectionRef): string {
  const root = group === '' ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`;
  const scope = namespace === '' ? '' : `/namespaces/${segment(namespace)}`;
  return `${root}${scope}/${segment(resource)}`;
}

/** Letters keep their case: names of RBAC objects may hold capitals. */
export function objectPath(ref: ObjectRef, subresource = ''): string {
  const path = `${collectionPath(ref)}/${segment(ref.name)}`;
  return subresource === '' ? path : `${path}/${segment(subresource)}`;
}

export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === ''
      ? []
      : [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** `deployments.apps/shop/web`, for messages. */
export function describeRef(ref: CollectionRef & { readonly name?: string }): string {
  const resource = ref.group === '' ? ref.resource : `${ref.resource}.${ref.group}`;
  return [resource, ref.namespace, ref.name ?? ''].filter((part) => part !== '').join('/');
}

/**
 * Orders two resourceVersions of one cluster: negative when `a` is older. Undefined when one is not a number, which
 * aggregated servers may do; such versions are only equal or not.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return undefined;
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

// An empty or dotted segment would name another resource.
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..')
    throw new Error(`"${text}" cannot be part of a Kubernetes URL`);
  return encodeURIComponent(text);
}
