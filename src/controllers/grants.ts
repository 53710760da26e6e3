/** What a KubeProvider allows: which namespaces may mirror from it, and which source namespaces it lends them. Pure. */
import type { KubeProviderSpec } from '../api/kube-provider.ts';
import { matchesSelector } from './selector.ts';

export type Labels = Readonly<Record<string, string>>;

export type Grant =
  | { readonly kind: 'admitted'; readonly lent: ReadonlySet<string> }
  | { readonly kind: 'denied' }
  /** A selector has to be asked, and the labels of the namespace are not known. */
  | { readonly kind: 'unknown' };

export const everyNamespace = '*';

/**
 * The union of the grants that admit a namespace of the control cluster.
 * @param labels of that namespace; undefined when they cannot be read
 */
export function grantFor(
  { allowedGitTargets }: Pick<KubeProviderSpec, 'allowedGitTargets'>,
  namespace: string,
  labels: Labels | undefined,
): Grant {
  const lent = new Set<string>();
  let unknown = false;
  for (const { consumerNamespaces, sourceNamespaces } of allowedGitTargets) {
    const admitted = admits(consumerNamespaces, namespace, labels);
    if (admitted === undefined) unknown = true;
    if (admitted) for (const name of sourceNamespaces ?? [namespace]) lent.add(name);
  }
  if (lent.size > 0) return { kind: 'admitted', lent };
  return unknown ? { kind: 'unknown' } : { kind: 'denied' };
}

/** Whether an admitted namespace may read a source namespace. Its own name is always lent with the admission. */
export function lends(grant: Grant, own: string, sourceNamespace: string): boolean {
  if (grant.kind !== 'admitted') return false;
  if (sourceNamespace === own || grant.lent.has(everyNamespace)) return true;
  return sourceNamespace !== everyNamespace && grant.lent.has(sourceNamespace);
}

function admits(
  { from, names = [], selector }: KubeProviderSpec['allowedGitTargets'][number]['consumerNamespaces'],
  namespace: string,
  labels: Labels | undefined,
): boolean | undefined {
  switch (from) {
    case 'All':
      return true;
    case 'Names':
      return names.includes(namespace);
    case 'Selector':
      if (selector === undefined) return false;
      return labels === undefined ? undefined : matchesSelector(selector, labels);
  }
}
