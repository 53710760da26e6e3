/** Views of a folder's index: the documents that no build reads, and the one document of a sealed object. */
import type { FolderIndex, IndexedDocument } from '../folder/index.ts';
import type { KustomizeGraph } from '../kustomize/index.ts';

/** Without the files that a kustomization reads: those are the builds' matter, and patches are no objects. */
export function plainIndex(index: FolderIndex, graph: KustomizeGraph): FolderIndex {
  return filtered(index, (path) => graph.rootsOf(path).length === 0);
}

export function documentIndex(index: FolderIndex, path: string): FolderIndex {
  return filtered(index, (one) => one === path);
}

function filtered(index: FolderIndex, isKept: (path: string) => boolean): FolderIndex {
  const keep = (documents: readonly IndexedDocument[]): readonly IndexedDocument[] =>
    documents.filter(({ path }) => isKept(path));
  return {
    ...index,
    files: new Map([...index.files].filter(([path]) => isKept(path))),
    documents: new Map(
      [...index.documents].flatMap(([name, documents]) => {
        const kept = keep(documents);
        return kept.length === 0 ? [] : [[name, kept] as const];
      }),
    ),
    duplicates: index.duplicates.map(keep).filter((some) => some.length > 1),
    kustomizations: [],
    unclear: index.unclear.filter(({ path }) => isKept(path)),
    skipped: index.skipped.filter(({ path }) => isKept(path)),
  };
}
