/**
 * The plural name and scope of the kinds that every cluster has, and of those of Flux and Argo CD.
 *
 * A fall-back for callers without discovery; what discovery says wins.
 */
import { parseApiVersion } from '../identity.ts';

export interface ResourceType {
  /** Plural, as in the API path. */
  readonly resource: string;
  readonly namespaced: boolean;
}

/** Group -> kinds; a leading `/` marks a cluster-scoped one, ` name` gives a plural that the rule does not. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...[
      'ConfigMap',
      'Endpoints endpoints',
      'Event',
      'LimitRange',
      'PersistentVolumeClaim',
      'Pod',
      'PodTemplate',
    ],
    ...['ReplicationController', 'ResourceQuota', 'Secret', 'Service', 'ServiceAccount'],
    ...['/Namespace', '/Node', '/PersistentVolume'],
  ],
  'admissionregistration.k8s.io': [
    ...['/MutatingAdmissionPolicy', '/MutatingAdmissionPolicyBinding', '/MutatingWebhookConfiguration'],
    ...['/ValidatingAdmissionPolicy', '/ValidatingAdmissionPolicyBinding', '/ValidatingWebhookConfiguration'],
  ],
  'apiextensions.k8s.io': ['/CustomResourceDefinition'],
  'apiregistration.k8s.io': ['/APIService'],
  apps: ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'argoproj.io': ['Application', 'ApplicationSet', 'AppProject'],
  autoscaling: ['HorizontalPodAutoscaler'],
  batch: ['CronJob', 'Job'],
  'certificates.k8s.io': ['/CertificateSigningRequest', '/ClusterTrustBundle'],
  'coordination.k8s.io': ['Lease'],
  'discovery.k8s.io': ['EndpointSlice'],
  'events.k8s.io': ['Event'],
  'flowcontrol.apiserver.k8s.io': ['/FlowSchema', '/PriorityLevelConfiguration'],
  'gateway.networking.k8s.io': [
    '/GatewayClass',
    'Gateway gateways',
    'GRPCRoute',
    'HTTPRoute',
    'ReferenceGrant',
  ],
  'helm.toolkit.fluxcd.io': ['HelmRelease'],
  'image.toolkit.fluxcd.io': ['ImagePolicy', 'ImageRepository', 'ImageUpdateAutomation'],
  'kustomize.toolkit.fluxcd.io': ['Kustomization'],
  'networking.k8s.io': ['Ingress', '/IngressClass', '/IPAddress', 'NetworkPolicy', '/ServiceCIDR'],
  'node.k8s.io': ['/RuntimeClass'],
  'notification.toolkit.fluxcd.io': ['Alert', 'Provider', 'Receiver'],
  policy: ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io': ['/ClusterRole', '/ClusterRoleBinding', 'Role', 'RoleBinding'],
  'resource.k8s.io': ['/DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', '/ResourceSlice'],
  'scheduling.k8s.io': ['/PriorityClass'],
  'source.toolkit.fluxcd.io': [
    ...['Bucket', 'ExternalArtifact', 'GitRepository', 'HelmChart', 'HelmRepository', 'OCIRepository'],
  ],
  'storage.k8s.io': [
    ...[
      '/CSIDriver',
      '/CSINode',
      'CSIStorageCapacity',
      '/StorageClass',
      '/VolumeAttachment',
      '/VolumeAttributesClass',
    ],
  ],
};

/** Undefined for a kind the table does not hold. The version does not matter. */
export function builtinResource(apiVersion: string, kind: string): ResourceType | undefined {
  const { group } = parseApiVersion(apiVersion);
  const entries = Object.hasOwn(kinds, group) ? (kinds[group] ?? []) : [];
  for (const entry of entries) {
    const [marked = '', plural] = entry.split(' ');
    const name = marked.replace('/', '');
    if (name === kind) return { resource: plural ?? pluralOf(kind), namespaced: !marked.startsWith('/') };
  }
  return undefined;
}

/** How Kubernetes itself derives the plural of a kind when nobody says it. */
export function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  if (lower.endsWith('s')) return `${lower}es`;
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}
