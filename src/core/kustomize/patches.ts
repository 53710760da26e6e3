/** The strategic-merge patches that an object meets on its way, in the order in which they apply. */
import { identify, parseApiVersion } from '../identity.ts';
import { isObject, type JsonObject } from '../json.ts';
import { readDocuments } from '../yaml/index.ts';
import { isJsonPatch, type PatchEntry } from './decode.ts';
import { type Layer, nameAfter, selects, uniqueLayers } from './layers.ts';
import { resolveReference } from './reference.ts';
import type { Source } from './source.ts';
import type { Workspace } from './workspace.ts';

export interface AppliedPatch {
  readonly layer: Layer;
  readonly value: JsonObject;
  /** Undefined for an inline patch. */
  readonly path?: string;
  /** Position of the document in its file. */
  readonly index: number;
  /** Our own file of edits. */
  readonly isOwned: boolean;
}

export interface MetPatches {
  /** Innermost first. */
  readonly merged: readonly AppliedPatch[];
  /** A patch that sets values in a way we do not follow: JSON6902, or selected by labels. */
  readonly opaque: readonly { readonly layer: Layer; readonly what: string }[];
}

export const editsHeader = '# Live edits that the base does not hold. Kept by gitops-reverser.\n';
export const deleteHeader = '# Deleted live, while the base still holds it. Kept by gitops-reverser.\n';

/** In one kustomization: patchesStrategicMerge, patches, patchesJson6902. */
export async function patchesOf(source: Source, files: Workspace): Promise<MetPatches> {
  const merged: AppliedPatch[] = [];
  const opaque: { layer: Layer; what: string }[] = [];
  const layers = uniqueLayers(source.layers);
  for (const [at, layer] of layers.entries()) {
    const names = namesUpTo(layers.slice(0, at), source.document.id.name);
    for (const entry of layer.kustomization.patches) {
      const target = entry.target === undefined ? true : targets(entry.target, source, names);
      if (target === false) continue;
      const found = await documentsOf(entry, layer, files);
      if (found === 'opaque' || target === undefined) {
        opaque.push({ layer, what: entry.path ?? `${entry.field}[${entry.index}]` });
        continue;
      }
      for (const patch of found) {
        if (entry.target !== undefined || isFor(patch.value, source, names)) merged.push(patch);
      }
    }
  }
  return { merged, opaque };
}

function namesUpTo(layers: readonly Layer[], name: string): string[] {
  return [name, ...layers.map((_layer, at) => nameAfter(layers.slice(0, at + 1), name))];
}

function targets(target: JsonObject, { document }: Source, names: readonly string[]): boolean | undefined {
  const { group, version } = parseApiVersion(String(document.value.apiVersion));
  return selects(target, { group, version, kind: document.id.kind }, names);
}

function isFor(patch: JsonObject, { document }: Source, names: readonly string[]): boolean {
  const id = identify(patch);
  if (id === undefined || id.kind !== document.id.kind || id.group !== document.id.group) return false;
  if (!names.includes(id.name)) return false;
  return id.namespace === '' || document.id.namespace === '' || id.namespace === document.id.namespace;
}

async function documentsOf(
  entry: PatchEntry,
  layer: Layer,
  files: Workspace,
): Promise<AppliedPatch[] | 'opaque'> {
  if (isJsonPatch(entry)) return 'opaque';
  const path = entry.path === undefined ? undefined : resolveReference(layer.node.folder, entry.path);
  const text = path === undefined ? entry.inline : await files.text(path);
  // A file that an earlier edit of the batch took away.
  if (text === undefined) return [];
  const documents = path === undefined ? readDocuments(text) : await files.documents(path);
  const patches: AppliedPatch[] = [];
  for (const [index, document] of documents.entries()) {
    if (document.kind === 'empty') continue;
    if (document.kind !== 'value' || !isObject(document.value)) return 'opaque';
    const isOwned = path !== undefined && text.startsWith(editsHeader);
    patches.push({ layer, value: document.value, index, isOwned, ...(path === undefined ? {} : { path }) });
  }
  return patches;
}
