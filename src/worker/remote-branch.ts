/** One branch of one remote as core/branch means it: fetch, push, and what a moved tip means for our history. */
import type { FailureReason, FetchResult, PushResult } from '../core/branch/state.ts';
import type { Access } from '../git/credentials.ts';
import type { GitFailure, GitFailureReason } from '../git/failure.ts';
import type { Repository } from '../git/repository.ts';

export interface RemoteBranchOptions {
  readonly repository: Repository;
  readonly branch: string;
  readonly deadlineMs: number;
}

export class RemoteBranch {
  readonly #repository: Repository;
  readonly #branch: string;
  readonly #deadlineMs: number;
  #defaultTip: string | null = null;

  constructor({ repository, branch, deadlineMs }: RemoteBranchOptions) {
    this.#repository = repository;
    this.#branch = branch;
    this.#deadlineMs = deadlineMs;
  }

  /** What a branch that does not exist yet starts from: the default branch's tip, null in an empty repository. */
  get newBranchParent(): string | null {
    return this.#defaultTip;
  }

  /** True when the remote's tip is not the one given; one cheap question. */
  async moved(access: Access, tip: string | null): Promise<{ kind: 'ok'; moved: boolean } | GitFailure> {
    const ref = `refs/heads/${this.#branch}`;
    const listed = await this.#repository.lsRemote(access, [ref], { deadlineMs: this.#deadlineMs });
    if (listed.kind !== 'ok') return listed;
    return { kind: 'ok', moved: (listed.refs.get(ref) ?? null) !== tip };
  }

  /** @param unpublished commits of ours that the remote has not confirmed, oldest first */
  async fetch(access: Access, unpublished: readonly string[]): Promise<FetchResult> {
    let recreated = false;
    let fetched = await this.#fetchOnce(access);
    if (fetched.kind === 'failed' && fetched.reason === 'CorruptRepository') {
      // Everything but the handled states can be had again; without them edits are judged as at a first adoption.
      const broken = await this.#repository.recreate();
      fetched = broken ?? (await this.#fetchOnce(access));
      recreated = true;
    }
    if (fetched.kind === 'failed') return failure(fetched);
    if (fetched.kind === 'missing') return this.#missing(access);
    const { tip, history, previous } = fetched;
    const holds = recreated ? undefined : await this.#newestHeld(tip, unpublished);
    return {
      kind: 'ok',
      tip,
      history: history === 'first' ? 'same' : history,
      recreated,
      ...(previous === undefined ? {} : { previous }),
      ...(holds === undefined ? {} : { holds }),
    };
  }

  /** The newest of our commits that the tip holds, when the answer to their push was lost. */
  async #newestHeld(tip: string, unpublished: readonly string[]): Promise<string | undefined> {
    for (const commit of unpublished.toReversed()) {
      if (commit === tip || (await this.#repository.history.isAncestor(commit, tip))) return commit;
    }
    return undefined;
  }

  async push(access: Access, tip: string, expected: string | null): Promise<PushResult> {
    const pushed = await this.#repository.push(
      { branch: this.#branch, newTip: tip, expectedOld: expected, access },
      { deadlineMs: this.#deadlineMs },
    );
    switch (pushed.kind) {
      case 'pushed':
      case 'up-to-date':
        return { kind: 'pushed' };
      case 'moved':
        return { kind: 'moved' };
      case 'refused':
        return {
          kind: 'failed',
          reason: 'PushRefused',
          message: `the remote refused the push: ${pushed.message}`,
        };
      case 'failed':
        return failure(pushed);
    }
  }

  /** After a person accepted what the remote is now: nothing is known of the branch. */
  async forget(): Promise<void> {
    await this.#repository.forgetBranch(this.#branch);
  }

  #fetchOnce(access: Access): ReturnType<Repository['fetch']> {
    return this.#repository.fetch(this.#branch, access, { deadlineMs: this.#deadlineMs });
  }

  async #missing(access: Access): Promise<FetchResult> {
    const listed = await this.#repository.lsRemote(access, undefined, { deadlineMs: this.#deadlineMs });
    if (listed.kind !== 'ok') return failure(listed);
    this.#defaultTip = null;
    const { head } = listed;
    if (head !== undefined && head !== this.#branch && listed.refs.has(`refs/heads/${head}`)) {
      const fetched = await this.#repository.fetch(head, access, { deadlineMs: this.#deadlineMs });
      if (fetched.kind === 'failed') return failure(fetched);
      if (fetched.kind === 'ok') this.#defaultTip = fetched.tip;
    }
    return { kind: 'ok', tip: null, history: 'same' };
  }
}

/** git's reasons in the words of the branch. */
export function coreFailureReason(reason: GitFailureReason): FailureReason {
  switch (reason) {
    case 'AuthenticationFailed':
    case 'HostKeyUnknown':
    case 'RepositoryNotFound':
    case 'RemoteUnreachable':
    case 'DiskFull':
      return reason;
    case 'TimedOut':
    case 'Aborted':
      return 'RemoteUnreachable';
    case 'Refused':
      return 'PushRefused';
    case 'CorruptRepository':
    case 'Unknown':
      return 'CommitFailed';
  }
}

function failure({ reason, message }: GitFailure): {
  kind: 'failed';
  reason: FailureReason;
  message: string;
} {
  return { kind: 'failed', reason: coreFailureReason(reason), message };
}
