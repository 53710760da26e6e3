/**
 * What an API server serves, and which of it may be mirrored. Discovery facts go in, verdicts come out; this folder
 * asks no server and reads no clock. `kube/discovery.ts` brings the facts, the controllers of watch rules resolve
 * their items against the result.
 */

/** One top-level resource of one version. */
export interface ServedResource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name, as in URLs. */
  readonly resource: string;
  readonly kind: string;
  /** Undefined when discovery does not say. */
  readonly namespaced: boolean | undefined;
  readonly verbs: readonly string[];
  /** The version the server prefers for this resource. */
  readonly preferred: boolean;
  /** Names of the subresources: `status`, `scale`. */
  readonly subresources: readonly string[];
  readonly origin: Origin;
  /** Where `scale` keeps the replicas, for example `.spec.replicas`. */
  readonly scalePath?: string;
}

/** `extension`: not built in, but the APIServices that would tell more cannot be read. */
export type Origin = 'builtin' | 'crd' | 'aggregated' | 'extension' | 'unknown';

export interface FailedGroup {
  readonly group: string;
  readonly version: string;
  readonly message: string;
}

/** One look at discovery. */
export interface Discovery {
  readonly resources: readonly ServedResource[];
  /** Group versions the server could not answer for; nothing is known about them. */
  readonly failed: readonly FailedGroup[];
}

/** `deployments.v1.apps`; for maps and messages. */
export function resourceKey({
  group,
  version,
  resource,
}: Pick<ServedResource, 'group' | 'version' | 'resource'>): string {
  return group === '' ? `${resource}.${version}` : `${resource}.${version}.${group}`;
}

export function groupVersionKey({
  group,
  version,
}: {
  readonly group: string;
  readonly version: string;
}): string {
  return group === '' ? version : `${group}/${version}`;
}
