/** Which applier made a live object, by the marks Flux and Argo CD leave. Read before the marks are stripped. */
import { metadataMap } from '../identity.ts';
import type { JsonObject } from '../json.ts';

export interface ApplierOwner {
  readonly kind: 'Flux' | 'ArgoCD';
  /** Namespace of the Kustomization or Application; '' when an Argo CD mark does not say. */
  readonly namespace: string;
  readonly name: string;
}

const fluxName = 'kustomize.toolkit.fluxcd.io/name';
const fluxNamespace = 'kustomize.toolkit.fluxcd.io/namespace';
const argoTracking = 'argocd.argoproj.io/tracking-id';

/**
 * The Kustomization or Application that made the object; undefined when none did.
 *
 * An Argo CD tracking id copied along with a manifest names another object than the one it stands on, and proves nothing.
 */
export function applierOwner(live: JsonObject): ApplierOwner | undefined {
  const labels = metadataMap(live, 'labels');
  const name = labels[fluxName];
  const namespace = labels[fluxNamespace];
  if (isText(name) && isText(namespace)) return { kind: 'Flux', namespace, name };
  const tracking = metadataMap(live, 'annotations')[argoTracking];
  return isText(tracking) ? argoOwner(tracking, live) : undefined;
}

/** Reads `app:group/Kind:namespace/name`; an Application outside Argo CD's own namespace is written `namespace_app`. */
function argoOwner(tracking: string, live: JsonObject): ApplierOwner | undefined {
  const [app, kind, object, ...rest] = tracking.split(':');
  if (!isText(app) || kind === undefined || object === undefined) return undefined;
  const liveName = textAt(live.metadata, 'name');
  const liveKind = live.kind;
  // Names of RBAC objects may hold colons.
  const tracked = [object, ...rest].join(':');
  const trackedName = tracked.slice(tracked.indexOf('/') + 1);
  if (isText(liveName) && trackedName !== liveName) return undefined;
  if (isText(liveKind) && kind.slice(kind.indexOf('/') + 1) !== liveKind) return undefined;
  const underscore = app.indexOf('_');
  if (underscore < 0) return { kind: 'ArgoCD', namespace: '', name: app };
  return { kind: 'ArgoCD', namespace: app.slice(0, underscore), name: app.slice(underscore + 1) };
}

function textAt(value: JsonObject[string] | undefined, key: string): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[key] : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
