/** The kustomizations an object passes through on its way from its file to the build, in that order. */
import type { JsonObject } from '../json.ts';
import type { Kustomization } from './decode.ts';
import type { KustomizeGraph, KustomizeNode } from './graph.ts';

export interface Layer {
  readonly node: KustomizeNode;
  readonly kustomization: Kustomization;
}

const maxChains = 64;

/**
 * The layers from the kustomization that names `path` to the root, components before the kustomization that uses them.
 * Several ways lead to one file when a base is used twice; `name` and `rendered` pick the one that gives the rendered name.
 */
export function layersTo(
  graph: KustomizeGraph,
  root: string,
  path: string,
  names: { readonly source: string; readonly rendered: string } | undefined,
): readonly Layer[] | undefined {
  const chains = chainsTo(graph, root, (node) => node.documents.includes(path) || node.file === path);
  const [first] = chains;
  if (chains.length < 2 || names === undefined) return first;
  const fitting = chains.filter((layers) => nameAfter(layers, names.source) === names.rendered);
  return fitting.length === 1 ? fitting[0] : undefined;
}

function chainsTo(graph: KustomizeGraph, root: string, holds: (node: KustomizeNode) => boolean): Layer[][] {
  const chains: Layer[][] = [];
  const visit = (folder: string, outer: readonly KustomizeNode[]): void => {
    const node = graph.nodes.get(folder);
    if (node === undefined || outer.includes(node) || chains.length >= maxChains) return;
    const way = [node, ...outer];
    if (holds(node)) chains.push(way.flatMap((one) => withComponents(graph, one, [])));
    for (const base of [...node.bases, ...node.components]) visit(base, way);
  };
  visit(root, []);
  return chains;
}

/** A component works on what its user has gathered, before the user's own fields do. */
function withComponents(graph: KustomizeGraph, node: KustomizeNode, seen: readonly string[]): Layer[] {
  if (!node.decoded.ok || seen.includes(node.folder)) return [];
  const inner = node.components.flatMap((folder) => {
    const component = graph.nodes.get(folder);
    return component === undefined ? [] : withComponents(graph, component, [...seen, node.folder]);
  });
  const own: Layer = { node, kustomization: node.decoded.kustomization };
  // The chain to a document inside a component meets the component twice.
  return [...inner, own];
}

/** The name after the prefixes and suffixes of the layers. */
export function nameAfter(layers: readonly Layer[], name: string): string {
  return uniqueLayers(layers).reduce(
    (text, { kustomization }) => `${kustomization.namePrefix}${text}${kustomization.nameSuffix}`,
    name,
  );
}

/** The namespace that the layers give a namespaced object; undefined when none does. */
export function namespaceAfter(layers: readonly Layer[]): string | undefined {
  const set = layers.filter(({ kustomization }) => kustomization.namespace !== '');
  return set.at(-1)?.kustomization.namespace;
}

export function uniqueLayers(layers: readonly Layer[]): readonly Layer[] {
  return layers.filter((layer, at) => layers.findIndex((other) => other.node === layer.node) === at);
}

/** Whether a patch with this `target` takes in an object of this name; undefined when labels decide. */
export function selects(
  target: JsonObject,
  object: { readonly group: string; readonly version: string; readonly kind: string },
  names: readonly string[],
): boolean | undefined {
  const fits = (field: string, values: readonly string[]): boolean => {
    const wanted = target[field];
    if (typeof wanted !== 'string' || wanted === '') return true;
    const pattern = anchored(wanted);
    return pattern === undefined ? false : values.some((value) => pattern.test(value));
  };
  if (!fits('group', [object.group]) || !fits('version', [object.version])) return false;
  if (!fits('kind', [object.kind]) || !fits('name', names)) return false;
  const byLabels = target.labelSelector !== undefined || target.annotationSelector !== undefined;
  return byLabels || target.namespace !== undefined ? undefined : true;
}

function anchored(text: string): RegExp | undefined {
  if (/[+*}]\)*[+*{]/.test(text)) return undefined;
  try {
    return new RegExp(`^(?:${text})$`);
  } catch {
    return undefined;
  }
}
