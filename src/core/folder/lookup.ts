/**
 * Finding the document of an object, and the files in which it might stand unread.
 */
import type { ObjectId } from '../identity.ts';
import { DocumentTable } from './document-table.ts';
import type { FolderIndex } from './folder-index.ts';
import type { IndexedDocument } from './indexed-file.ts';
import type { Wants } from './packed-file.ts';

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
  const named = recordsOf(
    index,
    id,
    (namespace) => !namespaced || namespace === id.namespace || namespace === '',
  );
  const exact = named.filter((one) => one.id.namespace === id.namespace);
  const candidates = exact.length > 0 ? exact : named.filter((one) => !namespaced || one.id.namespace === '');
  const claimed = candidates.find((one) => one.notEditable === undefined);
  if (claimed !== undefined) return { kind: 'found', document: claimed };
  const first = candidates[0];
  if (first === undefined) return { kind: 'none' };
  return { kind: 'not-editable', document: first, reason: first.notEditable ?? '' };
}

/** The documents of that group, kind and name, in any namespace. */
export function documentsNamed(index: FolderIndex, id: ObjectId): readonly IndexedDocument[] {
  return recordsOf(index, id, () => true);
}

/** How many records the folder holds. */
export function countDocuments({ documents }: FolderIndex): number {
  if (documents instanceof DocumentTable) return documents.count;
  return [...documents.values()].reduce((sum, some) => sum + some.length, 0);
}

function recordsOf(
  { documents }: FolderIndex,
  { group, kind, name }: ObjectId,
  isIn: (namespace: string) => boolean,
): readonly IndexedDocument[] {
  const wants: Wants = (one) => one.kind === kind && one.group === group && isIn(one.namespace);
  if (documents instanceof DocumentTable) return documents.named(name, wants);
  return (documents.get(name) ?? []).filter((one) => wants(one.id));
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
