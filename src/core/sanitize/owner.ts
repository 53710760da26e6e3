/** Which applier made a live object, by the marks Flux and Argo CD leave. Read before the marks are stripped. */
import { metadataMap } from '../identity.ts';
import { knownAppliers } from '../intent/managers.ts';
import { isObject, type JsonObject } from '../json.ts';

export interface ApplierOwner {
  readonly kind: 'Flux' | 'ArgoCD';
  /** Namespace of the Kustomization or Application; '' when an Argo CD mark does not say and nobody told where Argo CD is. */
  readonly namespace: string;
  readonly name: string;
  /** The mark of another installation of Argo CD than the one we are beside. */
  readonly isForeign?: true;
}

/** How the Argo CD of a cluster marks what it applies. */
export interface ArgocdTracking {
  /** Where an Application is that a mark names without a namespace. */
  readonly namespace: string;
  /** Undefined: nobody told. Without being told, Argo CD 3 takes the annotation and Argo CD 2 the label. */
  readonly method: 'annotation' | 'label' | 'annotation+label' | undefined;
  readonly label: string;
  /** '' for none; undefined: nobody told. */
  readonly installation: string | undefined;
}

const fluxName = 'kustomize.toolkit.fluxcd.io/name';
const fluxNamespace = 'kustomize.toolkit.fluxcd.io/namespace';
const argoTracking = 'argocd.argoproj.io/tracking-id';
const argoInstallation = 'argocd.argoproj.io/installation-id';

export const unknownTracking: ArgocdTracking = {
  namespace: '',
  method: undefined,
  label: 'app.kubernetes.io/instance',
  installation: undefined,
};

/**
 * The Kustomization or Application that made the object; undefined when none did.
 *
 * An Argo CD tracking id copied along with a manifest names another object than the one it stands on, and proves nothing. The
 * label is set by charts and people too: it counts only on an object that Argo CD has written to.
 */
export function applierOwner(
  live: JsonObject,
  tracking: ArgocdTracking = unknownTracking,
): ApplierOwner | undefined {
  const labels = metadataMap(live, 'labels');
  const name = labels[fluxName];
  const namespace = labels[fluxNamespace];
  if (isText(name) && isText(namespace)) return { kind: 'Flux', namespace, name };
  const { method } = tracking;
  const marked = markedOwner(live, tracking);
  if (method === 'annotation') return marked;
  const labelled = labelledOwner(live, tracking);
  return method === 'label' ? (labelled ?? marked) : (marked ?? labelled);
}

/**
 * The key of the label that tracking puts on the object beside what Git states: bookkeeping, and no intent, while it says what
 * tracking would set. Undefined where the label may be Git's own.
 *
 * @param owner the Application that applies the object, or the folder it is of
 */
export function trackingLabel(
  live: JsonObject,
  owner: ApplierOwner,
  tracking: ArgocdTracking,
): string | undefined {
  const { method, label } = tracking;
  if (owner.kind !== 'ArgoCD' || method === 'annotation') return undefined;
  // Beside an annotation the label is tracking's only where somebody says so.
  if (method === undefined && markedOwner(live, tracking) !== undefined) return undefined;
  const elsewhere = owner.namespace !== '' && owner.namespace !== tracking.namespace;
  const instance = elsewhere ? `${owner.namespace}_${owner.name}` : owner.name;
  const value = metadataMap(live, 'labels')[label];
  const cut = instance.slice(0, labelLimit).replace(/[^a-zA-Z0-9]+$/, '');
  return value === instance || (method === 'annotation+label' && value === cut) ? label : undefined;
}

/** Longest value of a label. */
const labelLimit = 63;

function markedOwner(live: JsonObject, tracking: ArgocdTracking): ApplierOwner | undefined {
  const annotations = metadataMap(live, 'annotations');
  const mark = annotations[argoTracking];
  const owner = isText(mark) ? argoOwner(mark, live, tracking) : undefined;
  if (owner === undefined || tracking.installation === undefined) return owner;
  const isOurs = (annotations[argoInstallation] ?? '') === tracking.installation;
  return isOurs ? owner : { ...owner, isForeign: true };
}

function labelledOwner(live: JsonObject, tracking: ArgocdTracking): ApplierOwner | undefined {
  const instance = metadataMap(live, 'labels')[tracking.label];
  return isText(instance) && isWrittenByArgocd(live) ? instanceOwner(instance, tracking) : undefined;
}

function isWrittenByArgocd({ metadata }: JsonObject): boolean {
  const managed = isObject(metadata) ? metadata.managedFields : undefined;
  const managers: readonly string[] = knownAppliers.ArgoCD;
  return (
    Array.isArray(managed) &&
    managed.some(
      (entry) =>
        isObject(entry) &&
        typeof entry.manager === 'string' &&
        managers.includes(entry.manager) &&
        entry.subresource !== 'status',
    )
  );
}

/** Reads `app:group/Kind:namespace/name`. */
function argoOwner(mark: string, live: JsonObject, tracking: ArgocdTracking): ApplierOwner | undefined {
  const [app, kind, object, ...rest] = mark.split(':');
  if (!isText(app) || kind === undefined || object === undefined) return undefined;
  const liveName = textAt(live.metadata, 'name');
  const liveKind = live.kind;
  // Names of RBAC objects may hold colons.
  const tracked = [object, ...rest].join(':');
  const trackedName = tracked.slice(tracked.indexOf('/') + 1);
  if (isText(liveName) && trackedName !== liveName) return undefined;
  if (isText(liveKind) && kind.slice(kind.indexOf('/') + 1) !== liveKind) return undefined;
  return instanceOwner(app, tracking);
}

/** An Application outside Argo CD's own namespace is written `namespace_app`. */
export function instanceOwner(instance: string, { namespace }: ArgocdTracking): ApplierOwner {
  const underscore = instance.indexOf('_');
  if (underscore < 0) return { kind: 'ArgoCD', namespace, name: instance };
  return { kind: 'ArgoCD', namespace: instance.slice(0, underscore), name: instance.slice(underscore + 1) };
}

function textAt(value: JsonObject[string] | undefined, key: string): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[key] : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
