/**
 * Ways on which Flux applies what a GitTarget writes without asking the door (contracts 7), each with the way out. Pure; the
 * view of Flux keeps the facts.
 */
import type { RouteKustomization, RouteMaker, RouteSource, SourceRef } from '../appliers/flux-routes.ts';
import type { FluxName } from '../appliers/flux-source.ts';
import { pathsOverlap } from '../appliers/folder-applier.ts';
import type { GateTarget } from '../core/gate/index.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';

export interface FluxRoutes {
  readonly sources: readonly RouteSource[];
  readonly kustomizations: readonly RouteKustomization[];
  readonly artifacts: readonly RouteMaker[];
  readonly generators: readonly RouteMaker[];
  /** The commit that a Kustomization fetched, if it did not come through the door. */
  passedBy(kustomization: FluxName): string | undefined;
}

/** The worst first. */
const order = ['NotAdmitted', 'DoorOpen', 'NotThroughDoor', 'ExternalArtifact', 'Included'] as const;

type Bypass = (typeof order)[number];

export interface RouteFinding {
  readonly reason: Bypass | 'Succeeded';
  readonly message: string;
}

interface Found {
  readonly bypass: Bypass;
  readonly message: string;
}

const namedAtMost = 5;
/** ExternalArtifacts may be made from each other. */
const deepest = 8;

/** Whether all that Flux applies of a target's folder passes the door; undefined when Flux does not apply it. */
export function routesFinding(routes: FluxRoutes, target: GateTarget): RouteFinding | undefined {
  const found: Found[] = [];
  const guarded: string[] = [];
  let isApplied = false;
  for (const source of coveredSources(routes.sources, target)) {
    const users = routes.kustomizations.filter((one) => reads(one, source) && appliesFolder(one, target));
    const artifacts = routes.artifacts.filter((one) => isMadeFrom(one, source, routes, deepest));
    const including = routes.sources.filter(
      ({ namespace, includes }) => namespace === source.namespace && includes.includes(source.name),
    );
    isApplied ||= users.length + artifacts.length + including.length > 0;
    found.push(
      ...usersFound(users, source, target, routes),
      ...artifacts.map((one) => artifactFound(one, source, routes)),
      ...including.map((one) => includedFound(one, source)),
    );
    guarded.push(...users.map(keyOf));
  }
  if (!isApplied) return undefined;
  found.sort((a, b) => order.indexOf(a.bypass) - order.indexOf(b.bypass));
  const [first] = found;
  if (first === undefined) {
    const names = guarded.slice(0, namedAtMost).join(', ');
    return { reason: 'Succeeded', message: `${names} fetches through the door before each apply` };
  }
  const more = found.length > namedAtMost ? [`and ${found.length - namedAtMost} more`] : [];
  const messages = [...found.slice(0, namedAtMost).map(({ message }) => message), ...more];
  return { reason: first.bypass, message: messages.join('; ') };
}

/** GitRepositories that follow the very branch a target writes. */
export function coveredSources(sources: readonly RouteSource[], target: GateTarget): RouteSource[] {
  return sources.filter(
    ({ url, branch }) => branch === target.branch && normaliseRepositoryUrl(url) === target.repository,
  );
}

function usersFound(
  users: readonly RouteKustomization[],
  source: RouteSource,
  target: GateTarget,
  routes: FluxRoutes,
): Found[] {
  if (users.length === 0) return [];
  const found: Found[] = [];
  const about = `GitRepository ${keyOf(source)}`;
  if (source.namespace !== target.namespace && !target.crossNamespace) {
    const message = `${about}: it is in another namespace, so its applies are not held back; set allowCrossNamespace.appliers on the KubeProvider`;
    found.push({ bypass: 'NotAdmitted', message });
  }
  if (source.doorOpen) {
    const message = `${about}: the annotation configbutler.ai/door: open lets every apply pass unchecked; remove it when the emergency is over`;
    found.push({ bypass: 'DoorOpen', message });
  }
  for (const user of users) {
    const commit = routes.passedBy(user);
    if (commit === undefined) continue;
    const message = `Kustomization ${keyOf(user)}: it fetched ${commit.slice(0, 12)} without asking the door; set SOURCE_CONTROLLER_LOCALHOST on the kustomize-controller that applies it`;
    found.push({ bypass: 'NotThroughDoor', message });
  }
  return found;
}

function artifactFound(artifact: RouteMaker, source: RouteSource, routes: FluxRoutes): Found {
  const users = routes.kustomizations.filter(
    ({ source: ref }) => ref.kind === 'ExternalArtifact' && isSame(ref, artifact),
  );
  const names = users.slice(0, namedAtMost).map(keyOf).join(', ');
  const who = users.length === 0 ? 'whoever reads it' : `Kustomization ${names}`;
  const [maker] = artifact.sources;
  const by =
    maker === undefined || maker.kind === 'GitRepository'
      ? ''
      : ` (made by ${maker.kind} ${maker.namespace}/${maker.name})`;
  return {
    bypass: 'ExternalArtifact',
    message: `ExternalArtifact ${keyOf(artifact)}${by}: it carries GitRepository ${keyOf(source)} past the door; let ${who} read the GitRepository itself`,
  };
}

function includedFound(including: RouteSource, source: RouteSource): Found {
  return {
    bypass: 'Included',
    message: `GitRepository ${keyOf(including)}: it includes GitRepository ${keyOf(source)}, whose commits then are not checked; let a Kustomization read that one itself`,
  };
}

function isMadeFrom(maker: RouteMaker, source: FluxName, routes: FluxRoutes, depth: number): boolean {
  if (depth === 0) return false;
  return maker.sources.some((ref) => {
    switch (ref.kind) {
      case 'GitRepository':
        return isSame(ref, source);
      case 'ArtifactGenerator':
        return routes.generators.some(
          (one) => isSame(one, ref) && isMadeFrom(one, source, routes, depth - 1),
        );
      case 'ExternalArtifact':
        return routes.artifacts.some((one) => isSame(one, ref) && isMadeFrom(one, source, routes, depth - 1));
      default:
        return false;
    }
  });
}

function reads({ source: ref }: RouteKustomization, source: RouteSource): boolean {
  return ref.kind === 'GitRepository' && isSame(ref, source);
}

function appliesFolder({ path, suspended }: RouteKustomization, target: GateTarget): boolean {
  return !suspended && pathsOverlap(path, target.path);
}

function isSame(one: FluxName | SourceRef, other: FluxName): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}

export function keyOf({ namespace, name }: FluxName): string {
  return `${namespace}/${name}`;
}
