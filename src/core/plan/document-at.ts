/** The document that describes one object in a tree, for callers who need a base to compare with. */
import { type FolderIndex, findDocument, type IndexCache, indexFolder, type Tree } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';
import { isObject, type JsonObject } from '../json.ts';
import { type KustomizeOptions, type OpenedFolder, openOverlay } from '../kustomize/index.ts';
import type { Sealer } from '../sealed/index.ts';
import { asLive } from './namespace.ts';
import { plainIndex } from './overlay-index.ts';
import { createReader } from './reader.ts';

/**
 * With the object's namespace filled in; undefined when no document of the folder describes it, or none that is readable. A sealed
 * one is readable when the sealer has a key for it. Where kustomize builds the folder, it is what the build gives.
 */
export async function documentAt(
  tree: Tree,
  folder: string,
  object: { readonly id: ObjectId; readonly namespaced: boolean },
  cache: IndexCache,
  sealer?: Sealer,
  kustomize?: KustomizeOptions,
): Promise<JsonObject | undefined> {
  const { built, index } = lookInBuilds(await openFolder(tree, folder, cache, kustomize), object);
  if (built !== undefined) return asLive(built, object.id.namespace);
  const found = findDocument(index, object.id, object.namespaced);
  if (found.kind !== 'found') return undefined;
  const { document } = found;
  if (!document.encrypted)
    return asLive(await createReader(tree, index).value(document), object.id.namespace);
  const opened = await sealer?.open(document.path, await tree.read(document.path));
  return opened?.kind === 'opened' ? asLive(opened.document.reveal(), object.id.namespace) : undefined;
}

/** Whether a document of the folder describes the object, readable or not. */
export async function hasDocument(
  tree: Tree,
  folder: string,
  object: { readonly id: ObjectId; readonly namespaced: boolean },
  cache: IndexCache,
  kustomize?: KustomizeOptions,
): Promise<boolean> {
  const { built, index } = lookInBuilds(await openFolder(tree, folder, cache, kustomize), object);
  return built !== undefined || findDocument(index, object.id, object.namespaced).kind !== 'none';
}

interface Look {
  readonly built?: JsonObject;
  /** Where else to look. */
  readonly index: FolderIndex;
}

/** Commits that are asked about object by object: what an applier may have applied. */
const keptFolders = 4;

async function openFolder(
  tree: Tree,
  folder: string,
  cache: IndexCache,
  kustomize: KustomizeOptions | undefined,
): Promise<OpenedFolder> {
  const entries = tree.entries();
  const isApplied = kustomize?.isApplied === true;
  const known = kustomize?.opened?.find(
    (one) => one.entries === entries && one.index.folder === folder && one.isApplied === isApplied,
  );
  if (known !== undefined) return known;
  const index = await indexFolder(tree, folder, cache);
  const render = kustomize?.render;
  const overlay = render === undefined ? undefined : await openOverlay(tree, index, { ...kustomize, render });
  const opened: OpenedFolder = { entries, isApplied, index, overlay };
  // A build that failed may go through the next time.
  if (overlay === undefined || overlay.failures.length === 0) {
    kustomize?.opened?.unshift(opened);
    kustomize?.opened?.splice(keptFolders);
  }
  return opened;
}

function lookInBuilds(
  { index, overlay }: OpenedFolder,
  { id, namespaced }: { readonly id: ObjectId; readonly namespaced: boolean },
): Look {
  if (overlay === undefined) return { index };
  const found = overlay.find(id, namespaced);
  if (found.kind !== 'found') return { index: plainIndex(index, overlay.scope.graph) };
  // Ciphertext is opened in its own file.
  return isObject(found.object.value.sops) ? { index } : { index, built: found.object.value };
}
