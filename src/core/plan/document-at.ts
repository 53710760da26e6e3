/** The document that describes one object in a tree, for callers who need a base to compare with. */
import { findDocument, type IndexCache, indexFolder, type Tree } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';
import type { JsonObject } from '../json.ts';
import type { Sealer } from '../sealed/index.ts';
import { asLive } from './namespace.ts';
import { createReader } from './reader.ts';

/**
 * With the object's namespace filled in; undefined when no document of the folder describes it, or none that is readable. A sealed
 * one is readable when the sealer has a key for it.
 */
export async function documentAt(
  tree: Tree,
  folder: string,
  object: { readonly id: ObjectId; readonly namespaced: boolean },
  cache: IndexCache,
  sealer?: Sealer,
): Promise<JsonObject | undefined> {
  const index = await indexFolder(tree, folder, cache);
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
): Promise<boolean> {
  return findDocument(await indexFolder(tree, folder, cache), object.id, object.namespaced).kind !== 'none';
}
