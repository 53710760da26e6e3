/** The document that describes one object in a tree, for callers who need a base to compare with. */
import { findDocument, type IndexCache, indexFolder, type Tree } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';
import type { JsonObject } from '../json.ts';
import { asLive } from './namespace.ts';
import { createReader } from './reader.ts';

/** With the object's namespace filled in; undefined when no document of the folder describes it, or none that is readable. */
export async function documentAt(
  tree: Tree,
  folder: string,
  object: { readonly id: ObjectId; readonly namespaced: boolean },
  cache: IndexCache,
): Promise<JsonObject | undefined> {
  const index = await indexFolder(tree, folder, cache);
  const found = findDocument(index, object.id, object.namespaced);
  if (found.kind !== 'found' || found.document.encrypted) return undefined;
  return asLive(await createReader(tree, index).value(found.document), object.id.namespace);
}
