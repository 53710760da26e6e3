/** What status says of a target's folder at a commit. */
import {
  countDocuments,
  folderLayout,
  type IndexCache,
  indexFolder,
  type Tree,
} from '../core/folder/index.ts';
import { type DecodedFiles, kustomizeLayout } from '../core/kustomize/index.ts';
import type { TargetObservation } from './mirror-spec.ts';

export async function observeFolder(
  tree: Tree,
  folder: string,
  commit: string | null,
  cache: IndexCache,
  decoded?: DecodedFiles,
): Promise<NonNullable<TargetObservation['folder']>> {
  const index = await indexFolder(tree, folder, cache);
  const layout = folderLayout(index);
  return {
    commit,
    refusals: layout.kind === 'closed' ? layout.refusals : [],
    skipped: index.skipped,
    documents: countDocuments(index),
    layout: await kustomizeLayout(tree, folder, decoded),
  };
}
