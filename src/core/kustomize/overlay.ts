/**
 * The builds that a folder takes part in: its render roots, what each gives, and which files they read.
 *
 * Opened once per plan. What a root gives is asked of the real kustomize; a root that does not build refuses its own objects only.
 */
import { type FolderIndex, isInside, type Tree, type TreeEntry } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';
import { openBuilds, type RootBuild, type RootFailure } from './builds.ts';
import type { DecodedFiles, KustomizeGraph, Reach } from './graph.ts';
import type { Render, RenderCache, Rendered } from './render.ts';
import type { RenderedObject } from './rendered.ts';
import { type Scope, withoutHash } from './source.ts';
import type { PostBuild } from './variables.ts';
import type { Workspace } from './workspace.ts';

/** What a caller gives for kustomize folders. */
export interface KustomizeOptions {
  /** Unset: only substitution is known, and folders with a kustomization are refused. */
  readonly render?: Render;
  /** Kept between plans, a build whose files did not change is not made again. */
  readonly cache?: RenderCache;
  /** Kept between plans, a kustomization file is decoded once. */
  readonly decoded?: DecodedFiles;
  /** What Flux fills in after the build of this folder. */
  readonly postBuild?: PostBuild;
  /** The folder itself is built by an applier, even where another kustomization loads it, too. */
  readonly isApplied?: boolean;
  /** Kept between questions about single objects (`documentAt`): the folders opened last, newest first. */
  readonly opened?: OpenedFolder[];
}

/** A folder at one commit, told by the very list of its files. */
export interface OpenedFolder {
  readonly entries: readonly TreeEntry[];
  readonly isApplied: boolean;
  readonly index: FolderIndex;
  /** Undefined when no kustomization has to do with it. */
  readonly overlay: Pick<Overlay, 'find' | 'scope'> | undefined;
}

export type Found =
  | { readonly kind: 'found'; readonly root: string; readonly object: RenderedObject }
  /** A generated object under the name it had with other content. */
  | { readonly kind: 'earlier'; readonly root: string; readonly object: RenderedObject }
  | { readonly kind: 'several'; readonly roots: readonly string[] }
  | { readonly kind: 'none' };

export interface Overlay {
  readonly scope: Scope;
  readonly files: Workspace;
  readonly builds: readonly RootBuild[];
  readonly failures: readonly RootFailure[];
  find(id: ObjectId, namespaced: boolean): Found;
  /** Builds a root from the files as they stand in a workspace. */
  build(root: string, files: Workspace): Promise<Rendered>;
  /** Builds asked of kustomize so far. */
  readonly renders: { count: number };
}

/** Roots beyond this many share the folder; nothing of it belongs to one of them then. */
const maxRoots = 32;

/** Undefined when no kustomization reads the folder or lies in it. */
export async function openOverlay(
  tree: Tree,
  index: FolderIndex,
  options: KustomizeOptions & { readonly render: Render },
): Promise<Overlay | undefined> {
  const applied = options.isApplied === true ? [index.folder] : [];
  const { graph, files, build, result, renders } = await openBuilds(tree, { ...options, applied });
  const reaches = graph.roots.flatMap((root) => graph.reaches.get(root) ?? []);
  const relevant = reaches.filter((reach) => [...reach.files].some((path) => isInside(path, index.folder)));
  if (relevant.length === 0) return undefined;
  const builds: RootBuild[] = [];
  const failures: RootFailure[] = [];
  for (const [at, reach] of relevant.entries()) {
    const one = at < maxRoots ? await result(reach) : tooMany(graph, reach, relevant.length);
    if ('objects' in one) builds.push(one);
    else failures.push(one);
  }
  const scope: Scope = { folder: index.folder, graph, ignored: (path) => ignoredBy(index, path) };
  return { scope, files, builds, failures, build, renders, find: finder(builds) };
}

function ignoredBy({ folder, ignore }: FolderIndex, path: string): string | undefined {
  return isInside(path, folder)
    ? ignore.patternFor(folder === '' ? path : path.slice(folder.length + 1))
    : undefined;
}

function tooMany(graph: KustomizeGraph, reach: Reach, count: number): RootFailure {
  const path = graph.nodes.get(reach.root)?.file ?? reach.root;
  const message = `${count} kustomizations outside of it build from the folder; its files belong to none of them`;
  return { root: reach.root, reach, reason: 'WriteFanIn', path, message };
}

interface Place {
  readonly root: string;
  readonly object: RenderedObject;
}

function finder(builds: readonly RootBuild[]): Overlay['find'] {
  const byName = new Map<string, Place[]>();
  const add = (key: string, place: Place): void => {
    const known = byName.get(key);
    if (known === undefined) byName.set(key, [place]);
    else known.push(place);
  };
  for (const { root, objects } of builds) {
    for (const object of objects) {
      const { group, kind, name } = object.id;
      add(`${group}/${kind}/${name}`, { root, object });
      if (isHashed(object)) add(`${group}/${kind}/${withoutHash(name)}~`, { root, object });
    }
  }
  return (id, namespaced) => {
    const named = byName.get(`${id.group}/${id.kind}/${id.name}`) ?? [];
    const exact = named.filter(({ object }) => object.id.namespace === id.namespace);
    // The applier gives a namespace to what has none; a cluster-scoped object may have been given one by kustomize.
    const loose = named.filter(({ object }) => !namespaced || object.id.namespace === '');
    const places = exact.length > 0 ? exact : loose;
    const [only, ...others] = places;
    if (others.length > 0) return { kind: 'several', roots: places.map(({ root }) => root) };
    if (only !== undefined) return { kind: 'found', ...only };
    const earlier = (byName.get(`${id.group}/${id.kind}/${withoutHash(id.name)}~`) ?? []).filter(
      ({ object }) => object.id.namespace === id.namespace && withoutHash(id.name) !== id.name,
    );
    const [first, ...more] = earlier;
    return first === undefined || more.length > 0 ? { kind: 'none' } : { kind: 'earlier', ...first };
  };
}

/** A generator may have appended a hash; a name that only looks like it does no harm. */
function isHashed({ origin, id }: RenderedObject): boolean {
  return origin.kind === 'generator' && withoutHash(id.name) !== id.name;
}
