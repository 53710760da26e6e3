/**
 * The deny list: fields that belong to the server or to a controller whatever their value.
 *
 * They are stripped from live objects, and in a file they are *unowned*: never added, never changed, never removed.
 */
import { isObject, type JsonObject, type Path } from '../json.ts';

/** Metadata that is intent; every other metadata field is bookkeeping. */
const keptMetadata = new Set(['name', 'namespace', 'labels', 'annotations']);

const labelPrefixes = ['kustomize.toolkit.fluxcd.io/', 'kro.run/', 'applyset.kubernetes.io/'];

const annotationPrefixes = [
  'kubectl.kubernetes.io/',
  'control-plane.alpha.kubernetes.io/',
  'deployment.kubernetes.io/',
  'autoscaling.alpha.kubernetes.io/',
  'kustomize.toolkit.fluxcd.io/',
  'applyset.kubernetes.io/',
  'pv.kubernetes.io/',
];

const annotationKeys = new Set([
  'argocd.argoproj.io/tracking-id',
  'argocd.argoproj.io/installation-id',
  'argocd.argoproj.io/refresh',
  'kcp.io/cluster',
  'reconcile.fluxcd.io/requestedAt',
  'deprecated.daemonset.template.generation',
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/selected-node',
]);

/** Core kinds with fields the cluster allocates; the keys sit below `spec`. */
const specFields: Readonly<Record<string, readonly string[]>> = {
  Service: ['clusterIP', 'clusterIPs', 'healthCheckNodePort', 'ipFamilies'],
  Pod: ['nodeName'],
  PersistentVolumeClaim: ['volumeName'],
};

export function isUnownedLabel(key: string): boolean {
  return labelPrefixes.some((prefix) => key.startsWith(prefix));
}

export function isUnownedAnnotation(key: string): boolean {
  return annotationKeys.has(key) || annotationPrefixes.some((prefix) => key.startsWith(prefix));
}

export function isUnownedMetadata(key: string): boolean {
  return !keptMetadata.has(key);
}

/** Fields below `spec` that the cluster allocates for an object of this kind. Only core kinds have any. */
export function unownedSpecFields(object: JsonObject): readonly string[] {
  if (object.apiVersion !== 'v1' || typeof object.kind !== 'string') return [];
  return Object.hasOwn(specFields, object.kind) ? (specFields[object.kind] ?? []) : [];
}

/** Whether the file's value at a path is none of our business: it stays as it is, stated or not. */
export function isUnowned(object: JsonObject, path: Path): boolean {
  const [top, field, key] = path;
  if (top === 'status') return true;
  if (top === 'spec') return typeof field === 'string' && unownedSpecFields(object).includes(field);
  if (top !== 'metadata' || typeof field !== 'string') return false;
  if (isUnownedMetadata(field)) return true;
  if (typeof key !== 'string') return false;
  if (field === 'labels') return isUnownedLabel(key);
  return field === 'annotations' && isUnownedAnnotation(key);
}

/** Whether a label or annotation map of a document holds a key that has to stay. */
export function holdsUnowned(object: JsonObject, path: Path, map: JsonObject): boolean {
  return isObject(map) && Object.keys(map).some((key) => isUnowned(object, [...path, key]));
}
