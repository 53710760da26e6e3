/**
 * Finding the document of an object, and the files in which it might stand unread.
 */
import type { ObjectId } from '../identity.ts';
import type { FolderIndex } from './folder-index.ts';
import type { IndexedDocument } from './indexed-file.ts';

export type Lookup =
  | { readonly kind: 'found'; readonly document: IndexedDocument }
  | { readonly kind: 'none' }
  /** Only documents that cannot be edited hold the object. */
  | { readonly kind: 'not-editable'; readonly document: IndexedDocument; readonly reason: string };

/**
 * The document of an object.
 *
 * A document that states the object's namespace wins. Else one that states none is taken (the applier fills it in), and
 * for a cluster-scoped kind one that states any (the API server has no use for it).
 */
export function findDocument(index: FolderIndex, id: ObjectId, namespaced: boolean): Lookup {
  const named = documentsNamed(index, id);
  const exact = named.filter((one) => one.id.namespace === id.namespace);
  const candidates = exact.length > 0 ? exact : named.filter((one) => !namespaced || one.id.namespace === '');
  const claimed = candidates.find((one) => one.notEditable === undefined);
  if (claimed !== undefined) return { kind: 'found', document: claimed };
  const first = candidates[0];
  if (first === undefined) return { kind: 'none' };
  return { kind: 'not-editable', document: first, reason: first.notEditable ?? '' };
}

/** The documents of that group, kind and name, in any namespace. */
export function documentsNamed(index: FolderIndex, id: ObjectId): IndexedDocument[] {
  const named = index.documents.get(id.name) ?? [];
  return named.filter((one) => one.id.kind === id.kind && one.id.group === id.group);
}

/** True when an autoscaler of the folder sets the object's size. */
export function isAutoscaled(index: FolderIndex, id: ObjectId): boolean {
  return index.scaled.some(
    (one) =>
      one.group === id.group &&
      one.kind === id.kind &&
      one.name === id.name &&
      (one.namespace === id.namespace || one.namespace === ''),
  );
}
