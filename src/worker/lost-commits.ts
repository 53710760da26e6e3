/** Commits that fell out of a branch: what they wrote is found again as long as it is live (contracts 3). */
import { findDocument, type IndexCache, indexFolder, type Tree } from '../core/folder/index.ts';
import type { Repository } from '../git/repository.ts';
import type { Log } from '../telemetry/log.ts';
import type { TargetRun } from './target-run.ts';

export interface LostCommitsOptions {
  readonly repository: Repository;
  readonly cache: IndexCache;
  readonly log: Log;
  /** Undefined when the repository lacks the commit. */
  treeAt(commit: string): Promise<Tree | undefined>;
}

const listLimit = 1_000;
const maxNamed = 3;

export class LostCommits {
  readonly #options: LostCommitsOptions;

  constructor(options: LostCommitsOptions) {
    this.#options = options;
  }

  /** Looks whether the branch still holds the commit that the targets' records fit; after a start it may not. */
  reviewAll(targets: Iterable<TargetRun>, tip: string): void {
    for (const target of targets) {
      const { tip: fitting } = target.handled;
      if (fitting === undefined) continue;
      this.review(target, fitting, tip).catch((error: unknown) => {
        this.#options.log.error({ err: error, target: target.key }, 'could not review lost commits');
      });
    }
  }

  /** Done twice it does no harm. */
  async review(target: TargetRun, fitting: string, tip: string): Promise<void> {
    const { reader, history } = this.#options.repository;
    if (fitting === tip || !(await reader.hasCommit(fitting))) return;
    const mergeBase = await history.mergeBase(fitting, tip);
    if (mergeBase === fitting) return;
    const lost = await history.commitsBetween(mergeBase, fitting, listLimit);
    const named = lost.slice(0, maxNamed).map(({ commit }) => commit.slice(0, 12));
    target.notice(
      'CommitsFellOut',
      tip,
      `the branch was rewritten and lost ${lost.length} commit(s) (${named.join(', ')}); edits that are still live are written again`,
    );
    await target.takeBack(await this.#writtenSince(target, mergeBase, fitting), mergeBase, tip);
  }

  /** Keys of handled objects whose file at a commit is not the one that an earlier commit holds. */
  async #writtenSince(target: TargetRun, base: string | undefined, commit: string): Promise<string[]> {
    const { treeAt, cache } = this.#options;
    const [tree, before] = [await treeAt(commit), base && (await treeAt(base))];
    if (tree === undefined) return [];
    const same = new Set((before ? before.entries() : []).map(({ path, id }) => `${id} ${path}`));
    const index = await indexFolder(tree, target.spec.path, cache);
    return [...target.handled.records()].flatMap(([key, { id }]) => {
      const found = findDocument(index, id, id.namespace !== '');
      const file = found.kind === 'none' ? undefined : index.files.get(found.document.path)?.entry;
      return file === undefined || same.has(`${file.id} ${file.path}`) ? [] : [key];
    });
  }
}
