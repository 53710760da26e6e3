/**
 * Names of things: which object a document or a live object is, and how we say it to people.
 *
 * Identity is group, kind, namespace and name. The version is not part of it: one object is served in several.
 */
import { isObject, type Json, type JsonObject } from './json.ts';

export interface ObjectId {
  /** '' for the core group. */
  readonly group: string;
  readonly kind: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Splits `apps/v1` or `v1`. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The identity of an object, or undefined when it has no scalar apiVersion, kind or metadata.name. */
export function identify(object: Json | undefined): ObjectId | undefined {
  if (!isObject(object) || !isObject(object.metadata)) return undefined;
  const { apiVersion, kind } = object;
  const { name, namespace } = object.metadata;
  if (!isText(apiVersion) || !isText(kind) || !isText(name)) return undefined;
  return {
    group: parseApiVersion(apiVersion).group,
    kind,
    namespace: isText(namespace) ? namespace : '',
    name,
  };
}

/** A map key for an identity; not for people. */
export function objectKey(id: ObjectId): string {
  return `${id.group}/${id.kind}/${id.namespace}/${id.name}`;
}

/** Reads what `objectKey` made. */
export function parseObjectKey(key: string): ObjectId {
  const [group = '', kind = '', namespace = '', ...name] = key.split('/');
  return { group, kind, namespace, name: name.join('/') };
}

/** `Deployment.apps/shop/web`, `ConfigMap/shop/rates`, `ClusterRole.rbac.authorization.k8s.io/reader`. */
export function describeObject(id: ObjectId): string {
  const kind = id.group === '' ? id.kind : `${id.kind}.${id.group}`;
  return id.namespace === '' ? `${kind}/${id.name}` : `${kind}/${id.namespace}/${id.name}`;
}

/** Reads what `describeObject` prints. Returns undefined for anything else. */
export function parseObject(text: string): ObjectId | undefined {
  const parts = text.split('/');
  if (parts.length < 2 || parts.length > 3 || parts.some((part) => part === '')) return undefined;
  const [kindAndGroup = '', ...rest] = parts;
  const dot = kindAndGroup.indexOf('.');
  const kind = dot < 0 ? kindAndGroup : kindAndGroup.slice(0, dot);
  const group = dot < 0 ? '' : kindAndGroup.slice(dot + 1);
  const name = rest.at(-1) ?? '';
  return { group, kind, namespace: rest.length === 2 ? (rest[0] ?? '') : '', name };
}

/** The labels or annotations of an object; an empty map when it has none. */
export function metadataMap(object: JsonObject, field: 'labels' | 'annotations'): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const map = metadata[field];
  return isObject(map) ? map : {};
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
