/** Types that are never mirrored: noise of the machine, and what we or the control plane keep about ourselves. */

export interface ExcludedType {
  readonly group: string;
  /** '*' for every resource of the group. */
  readonly resource: string;
}

const ourGroup = 'configbutler.ai';

export const excludedTypes: readonly ExcludedType[] = [
  { group: '', resource: 'pods' },
  { group: '', resource: 'events' },
  { group: '', resource: 'endpoints' },
  { group: 'events.k8s.io', resource: 'events' },
  { group: 'discovery.k8s.io', resource: 'endpointslices' },
  { group: 'coordination.k8s.io', resource: 'leases' },
  { group: 'apps', resource: 'controllerrevisions' },
  { group: 'flowcontrol.apiserver.k8s.io', resource: 'flowschemas' },
  { group: 'flowcontrol.apiserver.k8s.io', resource: 'prioritylevelconfigurations' },
  { group: 'batch', resource: 'jobs' },
  { group: 'batch', resource: 'cronjobs' },
  // Our own kinds: mirroring them would make us our own source.
  { group: ourGroup, resource: '*' },
];

export function isExcludedType(group: string, resource: string): boolean {
  return excludedTypes.some(
    (excluded) => excluded.group === group && (excluded.resource === '*' || excluded.resource === resource),
  );
}

/** Objects the cluster puts into every namespace by itself. */
export function isExcludedObject(group: string, kind: string, name: string): boolean {
  return group === '' && kind === 'ConfigMap' && name === 'kube-root-ca.crt';
}
