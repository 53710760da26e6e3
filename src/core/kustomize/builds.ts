/**
 * The builds of a repository: what each render root gives, asked of the real kustomize, and why a root gives nothing.
 *
 * A root is built only when somebody asks. Opened once per plan, and once per scan of a whole repository.
 */
import type { Tree } from '../folder/index.ts';
import type { RefusalReason } from '../refusal.ts';
import { refusedFeatures } from './decode.ts';
import { featureRule } from './features.ts';
import { type DecodedFiles, type KustomizeGraph, type Reach, readGraph } from './graph.ts';
import { createRenderCache, type Render, type RenderCache, type Rendered, renderRoot } from './render.ts';
import type { RenderedObject } from './rendered.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export interface RootBuild {
  readonly root: string;
  readonly reach: Reach;
  readonly objects: readonly RenderedObject[];
}

export interface RootFailure {
  readonly root: string;
  readonly reach: Reach;
  readonly reason: RefusalReason;
  readonly path: string;
  readonly message: string;
}

export interface BuildOptions {
  readonly render: Render;
  readonly cache?: RenderCache;
  readonly decoded?: DecodedFiles;
  /** Folders that are built by an applier, even where another kustomization loads them, too. */
  readonly applied?: readonly string[];
  /** Nothing is built a second time, so what was built is not kept. */
  readonly once?: boolean;
}

export interface Builds {
  readonly graph: KustomizeGraph;
  /** The files as they stand in the tree. */
  readonly files: Workspace;
  /** Builds a root from the files as they stand in a workspace. */
  build(root: string, files: Workspace): Promise<Rendered>;
  /** What a root gives as it stands in the tree. Nothing is run for one that cannot be built. */
  result(reach: Reach): Promise<RootBuild | RootFailure>;
  /** Builds asked of kustomize so far. */
  readonly renders: { count: number };
}

export async function openBuilds(tree: Tree, options: BuildOptions): Promise<Builds> {
  const graph = await readGraph(tree, options.decoded ?? new Map(), options.applied);
  const files = openWorkspace(tree);
  const cache = options.cache ?? createRenderCache(20_000);
  const renders = { count: 0 };
  const counted: Render = {
    build: (request) => {
      renders.count += 1;
      return options.render.build(request);
    },
  };
  const known = new Map<string, readonly RenderedObject[]>();
  const build = async (root: string, from: Workspace): Promise<Rendered> => {
    const reach = graph.reaches.get(root);
    const node = graph.nodes.get(root);
    if (reach === undefined || node === undefined) throw new Error(`${root || '.'} is no root`);
    const paths = [...reach.files, ...from.changes().map(({ path }) => path)];
    const like = known.get(root) ?? [];
    const rendered = await renderRoot(
      counted,
      cache,
      { folder: root, file: node.file },
      from.sources(paths),
      like,
    );
    if (rendered.ok && options.once !== true && !known.has(root)) known.set(root, rendered.objects);
    return rendered;
  };
  const result = async (reach: Reach): Promise<RootBuild | RootFailure> => {
    const failure = failureOf(graph, reach);
    if (failure !== undefined) return failure;
    const rendered = await build(reach.root, files);
    return rendered.ok
      ? { root: reach.root, reach, objects: rendered.objects }
      : buildFailure(graph, reach, rendered);
  };
  return { graph, files, build, result, renders };
}

function failureOf(graph: KustomizeGraph, reach: Reach): RootFailure | undefined {
  const [problem] = reach.problems;
  if (problem !== undefined) {
    const reason = problem.kind === 'remote' ? 'UnsupportedKustomize' : 'BrokenKustomization';
    return { root: reach.root, reach, reason, path: problem.path, message: problem.message };
  }
  for (const folder of reach.folders) {
    const node = graph.nodes.get(folder);
    const [feature] = node?.decoded.ok === true ? refusedFeatures(node.decoded.kustomization) : [];
    if (node === undefined || feature === undefined) continue;
    const message = `${node.file} uses ${feature}, and ${featureRule(feature).reason}`;
    return { root: reach.root, reach, reason: 'UnsupportedKustomize', path: node.file, message };
  }
  return undefined;
}

function buildFailure(
  graph: KustomizeGraph,
  reach: Reach,
  { reason, message }: Extract<Rendered, { ok: false }>,
): RootFailure {
  const path = graph.nodes.get(reach.root)?.file ?? reach.root;
  const text = reason === 'Unavailable' ? message : `kustomize cannot build ${path}: ${message}`;
  const why = reason === 'Unavailable' ? 'KustomizeMissing' : 'BrokenKustomization';
  return { root: reach.root, reach, reason: why, path, message: text };
}
