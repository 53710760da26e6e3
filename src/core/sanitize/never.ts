/** Objects that never reach Git, whatever a rule selects. */
import { identify } from '../identity.ts';
import type { JsonObject } from '../json.ts';

const ownGroup = 'configbutler.ai';
const clusterBundle = 'kube-root-ca.crt';

/** Kind and group -> why. The group is left out for the core group. */
const excludedKinds: Readonly<Record<string, string>> = {
  Pod: 'Pods come and go with the workload that owns them',
  Event: 'Events are records, not intent',
  'Event.events.k8s.io': 'Events are records, not intent',
  Endpoints: 'Endpoints are computed from Services and Pods',
  'EndpointSlice.discovery.k8s.io': 'EndpointSlices are computed from Services and Pods',
  'Lease.coordination.k8s.io': 'Leases are heartbeats of running processes',
  'ControllerRevision.apps': 'ControllerRevisions are the history a controller keeps',
  'FlowSchema.flowcontrol.apiserver.k8s.io': 'FlowSchemas are maintained by the API server',
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io':
    'PriorityLevelConfigurations are maintained by the API server',
  'Job.batch': 'Jobs run once; a copy in Git would run them again',
  'CronJob.batch': 'CronJobs are on the default exclusion list with the Jobs they make',
};

/** Why the object is never mirrored, as a sentence for a person; undefined when it may be. */
export function neverMirrored(live: JsonObject): string | undefined {
  const id = identify(live);
  if (id === undefined) return undefined;
  if (id.group === ownGroup || id.group.endsWith(`.${ownGroup}`)) {
    return `${id.kind} is a kind of the GitOps Reverser itself and is not mirrored.`;
  }
  if (id.group === '' && id.kind === 'ConfigMap' && id.name === clusterBundle) {
    return `The cluster writes the ConfigMap ${clusterBundle} into every namespace; it is not mirrored.`;
  }
  const why = excludedKinds[id.group === '' ? id.kind : `${id.kind}.${id.group}`];
  return why === undefined ? undefined : `${why}; they are not mirrored.`;
}
