/** Scans a repository; see index.ts. */
import {
  compareText,
  createIndexCache,
  indexFolder,
  isInside,
  type Tree,
  type TreeEntry,
} from '../folder/index.ts';
import { type Builds, createRenderCache, openBuilds, type Render } from '../kustomize/index.ts';
import { basesIn, candidatesIn, liesIn } from './candidates.ts';
import { judgeFolder } from './folder.ts';
import type { FolderReport, ScanReport } from './report.ts';

export interface ScanOptions {
  /** Only folders at or below this one are reported; '' is the whole repository. */
  readonly within: string;
  readonly render: Render;
  readonly isSensitive: (apiVersion: string, kind: string) => boolean;
  /** Told after every folder. */
  readonly progress?: (done: number, total: number) => void;
}

/** Documents whose identities are remembered; a repository with more is read again in parts. */
const cacheLimit = 1_000_000;
/** Builds under way at the same time. */
const atOnce = 4;

/** Throws only when the tree cannot be read. */
export async function scan(tree: Tree, options: ScanOptions): Promise<ScanReport> {
  const cache = createIndexCache(cacheLimit);
  const builds = await openBuilds(tree, { render: options.render, cache: createRenderCache(0), once: true });
  const { graph } = builds;
  const everything = await indexFolder(withoutIgnoreFile(tree), '', cache);
  const candidates = candidatesIn(everything, graph, options.within);
  const entries = tree.entries().toSorted((a, b) => compareText(a.path, b.path));
  const found: FolderReport[] = [];
  const waiting = candidates.entries();
  const work = async (): Promise<void> => {
    for (const [at, folder] of waiting) {
      const own = { entries: () => entriesIn(entries, folder), read: (path: string) => tree.read(path) };
      const index = await indexFolder(own, folder, cache);
      found[at] = await judgeFolder(builds, index, options.isSensitive);
      options.progress?.(found.filter((one) => one !== undefined).length, candidates.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return {
    folders: found.map((report) => ({ ...report, overlaps: overlapsOf(report.path, candidates) })),
    bases: basesIn(graph, options.within).map((path) => ({ path, readBy: rootsOf(builds, path) })),
  };
}

/** The ignore rules of a target count for that target alone. */
function withoutIgnoreFile(tree: Tree): Tree {
  const entries = tree.entries().filter(({ path }) => path !== '.gittargetignore');
  return { entries: () => entries, read: (path) => tree.read(path) };
}

/** The list is in path order, so a folder is one stretch of it. */
function entriesIn(entries: readonly TreeEntry[], folder: string): readonly TreeEntry[] {
  if (folder === '') return entries;
  const from = firstFrom(entries, `${folder}/`);
  let end = from;
  while (isInside(entries[end]?.path ?? '', folder)) end += 1;
  return entries.slice(from, end);
}

function firstFrom(entries: readonly TreeEntry[], path: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.path ?? '') < path) low = middle + 1;
    else high = middle;
  }
  return low;
}

function overlapsOf(path: string, candidates: readonly string[]): string[] {
  return candidates.filter((other) => other !== path && (liesIn(other, path) || liesIn(path, other)));
}

function rootsOf({ graph }: Builds, folder: string): readonly string[] {
  return graph.rootsOf(graph.nodes.get(folder)?.file ?? '');
}
