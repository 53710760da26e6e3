/** From a rendered object back to the document, generator entry and layers that make it. */
import { isInside } from '../folder/index.ts';
import type { GeneratorEntry } from './decode.ts';
import type { KustomizeGraph } from './graph.ts';
import { type Layer, layersTo, nameAfter, uniqueLayers } from './layers.ts';
import type { RenderedObject } from './rendered.ts';
import type { SourceDocument, Workspace } from './workspace.ts';

export interface Source {
  /** Innermost first. */
  readonly layers: readonly Layer[];
  readonly document: SourceDocument;
}

export interface GeneratorSource {
  readonly layers: readonly Layer[];
  readonly entry: GeneratorEntry;
  /** The layer that holds the entry. */
  readonly layer: Layer;
}

/** What may be written: regular files of the folder that one root alone reads. */
export interface Scope {
  readonly folder: string;
  readonly graph: KustomizeGraph;
  /** The pattern of .gittargetignore that covers a path. */
  ignored(path: string): string | undefined;
}

/** Why a file is not written; undefined when it may be. */
export function writeProblem({ folder, graph, ignored }: Scope, path: string): string | undefined {
  if (!isInside(path, folder)) return `${path} lies outside of the folder`;
  const roots = graph.rootsOf(path);
  if (roots.length > 1) return `${path} is also read by ${roots.map((root) => root || '.').join(' and ')}`;
  const pattern = ignored(path);
  return pattern === undefined
    ? undefined
    : `${path} is covered by the pattern ${pattern} of .gittargetignore`;
}

/** The document of a rendered object; undefined when it cannot be told for certain. */
export async function sourceOf(
  graph: KustomizeGraph,
  root: string,
  object: RenderedObject,
  files: Workspace,
): Promise<Source | undefined> {
  const { id, origin } = object;
  if (origin.kind !== 'file') return undefined;
  const inFile = (await files.objects(origin.path)).filter(
    (one) => one.id.kind === id.kind && one.id.group === id.group,
  );
  const found = inFile.flatMap((document): Source[] => {
    const names = { source: document.id.name, rendered: id.name };
    const layers = layersTo(graph, root, origin.path, names);
    return layers === undefined ? [] : [{ document, layers }];
  });
  const [only, ...others] = found;
  if (others.length === 0) return only;
  const named = found.filter(({ document, layers }) => nameAfter(layers, document.id.name) === id.name);
  if (named.length === 1) return named[0];
  const exact = named.filter(({ document }) => document.id.namespace === id.namespace);
  return exact.length === 1 ? exact[0] : undefined;
}

/** The name of a generated object without the hash that kustomize appends. */
export function withoutHash(name: string): string {
  return name.replace(/-[a-z0-9]{10}$/, '');
}

/** The configMapGenerator entry that made an object. */
export function generatorOf(
  graph: KustomizeGraph,
  root: string,
  object: RenderedObject,
): GeneratorSource | undefined {
  const { origin, id } = object;
  if (origin.kind !== 'generator' || origin.generator !== 'ConfigMapGenerator') return undefined;
  const layers = layersTo(graph, root, origin.file, undefined);
  const at = layers?.findIndex(({ node }) => node.file === origin.file) ?? -1;
  const layer = layers?.[at];
  if (layers === undefined || layer === undefined) return undefined;
  const outer = uniqueLayers(layers.slice(at));
  const found = layer.kustomization.configMaps.filter((entry) => {
    const name = nameAfter(outer, entry.name);
    return entry.stableName ? name === id.name : nameAfter(outer, entry.name) === withoutHash(id.name);
  });
  const own = found.length < 2 ? found : found.filter(({ namespace }) => namespace === id.namespace);
  const [entry, ...others] = own;
  return entry === undefined || others.length > 0 ? undefined : { layers, entry, layer };
}
