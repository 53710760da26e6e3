/** Questions about the history of one branch that decide what of it is ours and what is somebody else's. */
import type { ObjectId } from '../core/identity.ts';
import type { Repository } from '../git/repository.ts';

type History = Pick<Repository, 'history' | 'reader'>;

/** Commits looked at for the one that removed a document; further back nobody remembers the edit. */
const searchedCommits = 20;

/** Whether a branch whose tip is given holds a commit. */
export async function isPublished(
  { history, reader }: History,
  commit: string,
  tip: string | null | undefined,
): Promise<boolean> {
  if (tip === undefined || tip === null || !(await reader.hasCommit(commit))) return false;
  return history.isAncestor(commit, tip);
}

/** The commit that removed an object's document from a target's folder, at or before a commit. */
export async function commitRemoving(
  { history }: History,
  tip: string,
  target: {
    readonly spec: { readonly path: string };
    isInCommit(commit: string, id: ObjectId): Promise<boolean | undefined>;
  },
  id: ObjectId,
): Promise<string | undefined> {
  const folder = target.spec.path === '' ? undefined : target.spec.path;
  for (const { commit, parents } of await history.commitsBetween(undefined, tip, searchedCommits, folder)) {
    const [parent] = parents;
    if (parent !== undefined && (await target.isInCommit(parent, id)) === true) return commit;
  }
  return undefined;
}
