/** A new object: which kustomization takes it in, what its document leaves to the kustomization, and the entry that lists it. */

import { compareText, isInside, type Tree } from '../folder/index.ts';
import { metadataMap, type ObjectId } from '../identity.ts';
import type { KindSchema } from '../intent/schema/index.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { RefusalReason } from '../refusal.ts';
import { appendDocument, printDocument } from '../yaml/index.ts';
import { objectsOf } from './decode.ts';
import { type DecodedFiles, type KustomizeNode, outsideOf, readGraph, topmost } from './graph.ts';
import { editKustomization, withResource } from './kustomization-edits.ts';
import { type Layer, layersTo, namespaceAfter, uniqueLayers } from './layers.ts';
import type { Overlay } from './overlay.ts';
import type { Projection } from './project.ts';
import { parentOf } from './reference.ts';
import { type Scope, writeProblem } from './source.ts';
import type { Workspace } from './workspace.ts';

export interface ObjectCreation {
  readonly root: string;
  readonly path: string;
  /** The kustomization file that lists it; undefined when the file at `path` is listed already. */
  readonly listedIn: string | undefined;
  /** A document to write, or the whole text of a new file that holds ciphertext. */
  readonly document: JsonObject | string;
  /** What the build has to give; ciphertext only has to come up. */
  readonly expected: JsonObject | 'anything';
  readonly schema: KindSchema;
}

export type Home =
  | {
      readonly ok: true;
      readonly root: string;
      readonly node: KustomizeNode;
      /** From the home to the root. */
      readonly layers: readonly Layer[];
    }
  | { readonly ok: false; readonly reason: RefusalReason; readonly message: string; readonly path?: string };

/** The one kustomization that takes new objects in, or the one nearest to a declared path. */
export function homeOf({ scope, builds, failures }: Overlay, declared: string | undefined): Home {
  const { graph } = scope;
  const { own, tops } = nodesOf(scope);
  const above = own.filter(
    (node) => declared !== undefined && (node.folder === '' || isInside(declared, node.folder)),
  );
  const nearest = above.toSorted((a, b) => compareText(b.folder, a.folder))[0];
  const candidates = nearest === undefined ? tops : [nearest];
  const [node, ...others] = candidates;
  if (node === undefined) {
    const message = 'no kustomization of the folder could list a new file, and no applier would read it then';
    return { ok: false, reason: 'AmbiguousLayout', message };
  }
  if (others.length > 0) {
    const named = candidates.map(({ file }) => file).slice(0, 5);
    const message = `a new object could belong to ${named.join(' or ')}; name its path with spec.placement`;
    return { ok: false, reason: 'AmbiguousLayout', message };
  }
  const roots = graph.rootsOf(node.file);
  const root = roots[0] ?? '';
  const failure = failures.find((one) => roots.includes(one.root));
  if (failure !== undefined)
    return { ok: false, reason: failure.reason, message: failure.message, path: failure.path };
  const problem = writeProblem(scope, node.file);
  if (problem !== undefined || !builds.some((build) => build.root === root))
    return {
      ok: false,
      reason: 'WriteFanIn',
      message: problem ?? `${node.file} is not built`,
      path: node.file,
    };
  return { ok: true, root, node, layers: uniqueLayers(layersTo(graph, root, node.file, undefined) ?? []) };
}

/** The kustomizations of the folder, and those of them that no other one of the folder loads. */
function nodesOf({ graph, folder }: Pick<Scope, 'graph' | 'folder'>) {
  const inFolder = (one: string): boolean => one === folder || isInside(one, folder);
  const own = [...graph.nodes.values()].filter((node) => inFolder(node.folder) && isPlain(node));
  const loaded = new Set(own.flatMap(({ bases, components }) => [...bases, ...components]));
  return { own, tops: own.filter((node) => !loaded.has(node.folder)) };
}

/** Which kustomization of a folder takes new objects in; told from the files alone, without a build. */
export type KustomizeLayout =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'one';
      readonly kustomization: string;
      /** Folders outside that its builds read, each for what lies in it. */
      readonly bases: readonly string[];
    }
  | { readonly kind: 'several'; readonly kustomizations: readonly string[] };

export async function kustomizeLayout(
  tree: Tree,
  folder: string,
  decoded: DecodedFiles = new Map(),
): Promise<KustomizeLayout> {
  const graph = await readGraph(tree, decoded);
  const files = nodesOf({ graph, folder }).tops.map(({ file }) => file);
  const [only, ...others] = files;
  if (only === undefined) return { kind: 'none' };
  if (others.length > 0) return { kind: 'several', kustomizations: files };
  const read = graph.rootsOf(only).flatMap((root) => {
    const reach = graph.reaches.get(root);
    return reach === undefined ? [] : outsideOf(reach, folder);
  });
  return { kind: 'one', kustomization: only, bases: topmost([...new Set(read)].sort(compareText)) };
}

function isPlain({ decoded }: KustomizeNode): boolean {
  return !(decoded.ok && decoded.kustomization.isComponent);
}

/** The namespace that every namespaced object gets there; undefined when each keeps its own. */
export function namespaceOf({ layers }: Extract<Home, { ok: true }>): string | undefined {
  return namespaceAfter(layers);
}

/** The document that the layers turn into the object; undefined when they would give it another name. */
export function documentFor(
  { layers }: Extract<Home, { ok: true }>,
  object: JsonObject,
  id: ObjectId,
  keepNamespace: boolean,
): JsonObject | undefined {
  const prefix = layers
    .map(({ kustomization }) => kustomization.namePrefix)
    .toReversed()
    .join('');
  const suffix = layers.map(({ kustomization }) => kustomization.nameSuffix).join('');
  if (!id.name.startsWith(prefix) || !id.name.endsWith(suffix)) return undefined;
  const name = id.name.slice(prefix.length, id.name.length - suffix.length);
  if (name === '' || !isObject(object.metadata)) return undefined;
  const metadata: JsonObject = { ...object.metadata, name };
  if (!keepNamespace && namespaceAfter(layers) === id.namespace) delete metadata.namespace;
  leaveOut(metadata, 'labels', object, layers.map(labelsOf));
  leaveOut(metadata, 'annotations', object, layers.map(annotationsOf));
  return { ...object, metadata };
}

/**
 * The object as the build gives it: with the labels and annotations that the layers set on everything. The next apply adds them
 * to the live object, too; where they reach into selectors, the build will show it.
 */
export function asBuilt({ layers }: Extract<Home, { ok: true }>, object: JsonObject): JsonObject {
  const metadata: JsonObject = { ...(isObject(object.metadata) ? object.metadata : {}) };
  const set = (field: 'labels' | 'annotations', all: readonly JsonObject[]): void => {
    const given: JsonObject = Object.assign({}, ...all);
    if (Object.keys(given).length > 0) metadata[field] = { ...given, ...metadataMap(object, field) };
  };
  set('labels', layers.map(labelsOf));
  set('annotations', layers.map(annotationsOf));
  return { ...object, metadata };
}

function labelsOf({ kustomization: { value } }: Layer): JsonObject {
  const pairs = objectsOf(value.labels).map(({ pairs: own }) => (isObject(own) ? own : {}));
  return Object.assign({}, isObject(value.commonLabels) ? value.commonLabels : {}, ...pairs);
}

function annotationsOf({ kustomization: { value } }: Layer): JsonObject {
  return isObject(value.commonAnnotations) ? value.commonAnnotations : {};
}

/** What the kustomization sets anyway is not stated again. */
function leaveOut(
  metadata: JsonObject,
  field: 'labels' | 'annotations',
  object: JsonObject,
  sets: readonly JsonObject[],
): void {
  const set: JsonObject = Object.assign({}, ...sets);
  const kept = Object.entries(metadataMap(object, field)).filter(([key, value]) => set[key] !== value);
  if (kept.length === 0) delete metadata[field];
  else metadata[field] = Object.fromEntries(kept);
}

export async function projectCreate(
  scope: Scope,
  files: Workspace,
  creation: ObjectCreation,
): Promise<Projection> {
  const { path, document, listedIn } = creation;
  const problem = writeProblem(scope, path);
  if (problem !== undefined) return { ok: false, reason: 'WriteFanIn', message: problem, path };
  const before = await files.text(path);
  if (typeof document === 'string' || before === undefined)
    files.write(path, typeof document === 'string' ? document : printDocument(document));
  else {
    const appended = appendDocument(before, document);
    if (!appended.ok)
      return { ok: false, reason: appended.reason, message: `${path}: ${appended.message}`, path };
    files.write(path, appended.text);
  }
  if (listedIn === undefined) return { ok: true };
  const listed = await editKustomization(files, listedIn, withResource(parentOf(listedIn), path));
  return listed.ok
    ? { ok: true }
    : { ok: false, reason: 'UnplaceableEdit', message: listed.message, path: listedIn };
}
