/**
 * What of Flux's objects tells on which way the content of a GitRepository reaches the cluster. From objects to small facts;
 * the controllers keep them and decide what they mean.
 */
import { isObject, type JsonObject, valueAt } from '../core/json.ts';
import { branchOf, textAt } from './flux-kinds.ts';
import { doorAnnotation, type FluxName } from './flux-source.ts';
import { cleanPath, commitIds } from './folder-applier.ts';

export interface SourceRef extends FluxName {
  readonly kind: string;
}

export interface RouteSource extends FluxName {
  readonly url: string;
  /** Undefined when it follows a tag, a range of versions or one commit. */
  readonly branch: string | undefined;
  /** The annotation `configbutler.ai/door: open`. */
  readonly doorOpen: boolean;
  /** Name of the Secret with the keys that commits must be signed with; undefined when commits are not verified. */
  readonly verifiedBy: string | undefined;
  /** Names of GitRepositories of its namespace whose content it takes in. */
  readonly includes: readonly string[];
}

export interface RouteKustomization extends FluxName {
  readonly source: SourceRef;
  readonly path: string;
  readonly suspended: boolean;
  /** The commit it fetched last. */
  readonly attempted: string | undefined;
  /** It says how its last apply ended: none runs. */
  readonly resting: boolean;
}

/** An ExternalArtifact and what it was made from, or an ArtifactGenerator and what it makes artifacts from. */
export interface RouteMaker extends FluxName {
  readonly sources: readonly SourceRef[];
}

export function routeSourceOf(object: JsonObject): RouteSource {
  const annotations = valueAt(object, ['metadata', 'annotations']);
  const included = valueAt(object, ['spec', 'include']);
  return {
    ...nameOf(object),
    url: textAt(object, 'spec', 'url') ?? '',
    branch: branchOf(object),
    doorOpen: isObject(annotations) && annotations[doorAnnotation] === 'open',
    // Mode Tag looks at a tag only, never at a commit of ours.
    verifiedBy:
      textAt(object, 'spec', 'verify', 'mode') === 'Tag'
        ? undefined
        : textAt(object, 'spec', 'verify', 'secretRef', 'name'),
    includes: objectsOf(included).flatMap((one) => textAt(one, 'repository', 'name') ?? []),
  };
}

export function routeKustomizationOf(object: JsonObject): RouteKustomization {
  const ready = objectsOf(valueAt(object, ['status', 'conditions'])).find(({ type }) => type === 'Ready');
  const [attempted] = commitIds([textAt(object, 'status', 'lastAttemptedRevision')]);
  const own = nameOf(object);
  const ref = valueAt(object, ['spec', 'sourceRef']);
  return {
    ...own,
    source: sourceRefOf(isObject(ref) ? ref : {}, own.namespace),
    path: cleanPath(textAt(object, 'spec', 'path') ?? ''),
    suspended: valueAt(object, ['spec', 'suspend']) === true,
    attempted,
    resting: ready?.status === 'True' || ready?.status === 'False',
  };
}

export function externalArtifactOf(object: JsonObject): RouteMaker {
  const own = nameOf(object);
  const ref = valueAt(object, ['spec', 'sourceRef']);
  return { ...own, sources: isObject(ref) ? [sourceRefOf(ref, own.namespace)] : [] };
}

export function artifactGeneratorOf(object: JsonObject): RouteMaker {
  const own = nameOf(object);
  const sources = objectsOf(valueAt(object, ['spec', 'sources']));
  return { ...own, sources: sources.map((ref) => sourceRefOf(ref, own.namespace)) };
}

function sourceRefOf(ref: JsonObject, ownNamespace: string): SourceRef {
  return {
    kind: textAt(ref, 'kind') ?? '',
    namespace: textAt(ref, 'namespace') ?? ownNamespace,
    name: textAt(ref, 'name') ?? '',
  };
}

function nameOf(object: JsonObject): FluxName {
  return {
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
  };
}

function objectsOf(value: ReturnType<typeof valueAt>): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
