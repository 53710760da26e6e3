/** Names of our objects inside the controllers: `namespace/name`, or `name` for cluster scope. */

export interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}

export function keyOf({ metadata }: Named): string {
  return keyFrom(metadata.namespace, metadata.name);
}

export function keyFrom(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Older first; of the same age by namespace and name. The age decides who keeps what two objects want. */
export function byAge(a: Aged, b: Aged): number {
  const byTime = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  if (byTime !== 0) return byTime;
  const [keyA, keyB] = [keyOf(a), keyOf(b)];
  return keyA < keyB ? -1 : keyA > keyB ? 1 : 0;
}

export interface Aged {
  readonly metadata: Named['metadata'] & { readonly creationTimestamp?: string | undefined };
}
