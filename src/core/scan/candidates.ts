/** The folders of a repository that could be targets. */
import { baseName, compareText, type FolderIndex, isInside } from '../folder/index.ts';
import { type KustomizeGraph, parentOf } from '../kustomize/index.ts';

/**
 * Render roots, and folders that hold an object which no kustomization reads. A folder that another one builds from is none:
 * an edit there would change its readers.
 */
export function candidatesIn(
  everything: Pick<FolderIndex, 'documents' | 'others' | 'files'>,
  graph: KustomizeGraph,
  within: string,
): string[] {
  const charts = chartTemplates(everything);
  const found = new Set(graph.roots);
  for (const documents of everything.documents.values()) {
    for (const { path } of documents) {
      const folder = parentOf(path);
      if (found.has(folder) || graph.nodes.has(folder) || graph.rootsOf(path).length > 0) continue;
      if (!isTemplate(path, charts)) found.add(folder);
    }
  }
  return [...found].filter((folder) => liesIn(folder, within)).sort(compareText);
}

/** Folders that others build from. */
export function basesIn(graph: KustomizeGraph, within: string): string[] {
  return [...graph.nodes.keys()].filter((folder) => !graph.reaches.has(folder) && liesIn(folder, within));
}

export function liesIn(folder: string, outer: string): boolean {
  return folder === outer || isInside(folder, outer);
}

function chartTemplates({ files }: Pick<FolderIndex, 'files'>): ReadonlySet<string> {
  const charts = [...files.keys()].filter((path) => baseName(path) === 'Chart.yaml').map(parentOf);
  return new Set(charts.map((folder) => (folder === '' ? 'templates' : `${folder}/templates`)));
}

/** Helm fills templates in; a part of them may look like an object all the same. */
function isTemplate(path: string, charts: ReadonlySet<string>): boolean {
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    if (charts.has(folder)) return true;
  }
  return false;
}
