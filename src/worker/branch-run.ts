/**
 * One branch at work: the worker, its remote, the commits it makes, and the GitTargets that write to it.
 *
 * Joins core/branch with git and the targets. What became of a write reaches people from here: handled states, refusals,
 * events, counts.
 */
import type { BranchState, FetchResult, Write } from '../core/branch/state.ts';
import { createIndexCache, type IndexCache, type Tree } from '../core/folder/index.ts';
import { describeObject, type ObjectId } from '../core/identity.ts';
import type { JsonObject } from '../core/json.ts';
import type { KustomizeOptions } from '../core/kustomize/index.ts';
import { documentAt, hasDocument } from '../core/plan/document-at.ts';
import type { Sealer } from '../core/sealed/index.ts';
import type { Repository } from '../git/repository.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { BranchAccess } from './branch-access.ts';
import { type BranchCounts, countWrite } from './branch-counts.ts';
import { commitRemoving, isPublished } from './branch-history.ts';
import { type BranchActions, BranchWorker } from './branch-worker.ts';
import { CommitWrites, type PlannedOutcome } from './commit-writes.ts';
import { observeFolder } from './folder-observation.ts';
import type { HandledUpdate } from './handled.ts';
import { handledUpdate } from './handled-update.ts';
import { LostCommits } from './lost-commits.ts';
import type { BranchObservation, TargetObservation } from './mirror-spec.ts';
import { PublishedEdits, publishedEdits } from './published-edits.ts';
import { RemoteBranch } from './remote-branch.ts';
import type { TargetRun } from './target-run.ts';
import type { RightOfWay } from './turns.ts';

export interface BranchRunOptions {
  readonly repository: Repository;
  readonly branch: string;
  readonly clock: Clock;
  readonly rightOfWay: RightOfWay;
  readonly log: Log;
  readonly byteCap: number;
  readonly gitTimeoutMs: number;
  /** Git confirmed the branch before. */
  readonly lastPushedCommit: string | undefined;
  counts: BranchCounts;
  /** Something observable of the branch or of one of its targets changed. */
  changed(): void;
}

/** Documents kept as parse results per branch. */
const cachedDocuments = 50_000;

export class BranchRun implements BranchActions {
  readonly worker: BranchWorker;
  readonly targets = new Map<string, TargetRun>();
  readonly cache: IndexCache = createIndexCache(cachedDocuments);
  readonly publishedEdits = new PublishedEdits();
  readonly #options: BranchRunOptions;
  readonly #remote: RemoteBranch;
  readonly #commits: CommitWrites;
  readonly #access = new BranchAccess(this.targets);
  readonly #lost: LostCommits;
  readonly #folders = new Map<string, TargetObservation['folder']>();
  readonly #published: { target: string; commit: string }[] = [];
  /** Published commits that are not listed any more. */
  #forgotten = 0;
  #verified: { at: number; by: 'Push' | 'Fetch' } | undefined;
  #lastPushed: { commit: string; at: number } | undefined;
  #observedTip: string | null | undefined;
  /** The first fetch of this process: commits may have fallen out while nobody looked. */
  #reviewAfterFetch = false;
  #observing: Promise<void> = Promise.resolve();

  constructor(options: BranchRunOptions) {
    this.#options = options;
    const { repository, branch, clock, log, byteCap } = options;
    this.#remote = new RemoteBranch({ repository, branch, deadlineMs: options.gitTimeoutMs });
    this.#commits = new CommitWrites({
      repository,
      branch,
      cache: this.cache,
      log,
      target: (key) => this.targets.get(key),
      newBranchParent: () => this.#remote.newBranchParent,
      lastCommitTouching: async (commit, path) =>
        (await repository.history.lastCommitTouching(path, commit))?.commit,
      commitRemoving: (commit, target, id) => commitRemoving(repository, commit, target, id),
      date: () => clock.date(),
      turns: () => options.rightOfWay.turns(),
      later: (ms, work) => {
        clock.after(ms, () => {
          work().catch((error: unknown) => log.error({ err: error }, 'could not look at an edit again'));
        });
      },
    });
    this.#lost = new LostCommits({
      ...{ repository, log, cache: this.cache },
      treeAt: (commit) => this.#treeAt(commit),
    });
    this.worker = new BranchWorker({
      actions: this,
      clock,
      log,
      byteCap,
      seen: options.lastPushedCommit !== undefined,
    });
  }

  addTarget(target: TargetRun): void {
    this.targets.set(target.key, target);
    this.worker.feed({ kind: 'target', target: target.key, settings: target.settings() });
    this.#observeFolders();
    this.#review([target]);
  }

  changeTarget(target: TargetRun): void {
    this.worker.feed({ kind: 'target', target: target.key, settings: target.settings() });
    this.#observeFolders();
  }

  /** No further edits are taken for it; what is pending can still be written. */
  removeTarget(key: string): void {
    this.worker.feed({ kind: 'target', target: key, settings: undefined });
  }

  forgetTarget(key: string): void {
    this.targets.delete(key);
    this.#folders.delete(key);
  }

  /** A person accepted the remote as it is now. */
  async acknowledge(): Promise<void> {
    if (this.worker.state.halt === undefined) return;
    await this.#remote.forget();
    this.worker.feed({ kind: 'acknowledge' });
  }

  observation(): BranchObservation {
    const state = this.worker.state;
    const { base, queue, live, snapshots, failure, halt, retryAt } = state;
    const open = [...(live === undefined ? [] : [live]), ...snapshots.values()];
    return {
      tip: base.kind === 'known' ? base.tip : undefined,
      verifiedAt: this.#verified?.at,
      verifiedBy: this.#verified?.by,
      lastPushedCommit: this.#lastPushed?.commit ?? this.#options.lastPushedCommit,
      lastPushedAt: this.#lastPushed?.at,
      failure,
      retryAt: retryAt === 0 ? undefined : retryAt,
      halt,
      pendingWrites: queue.length + open.length,
      pendingObjects:
        queue.reduce((sum, write) => sum + write.changes.length, 0) +
        open.reduce((sum, window) => sum + window.changes.size, 0),
    };
  }

  get repository(): Repository {
    return this.#options.repository;
  }

  /** What HEAD of the remote names; undefined when it does not answer. */
  async defaultBranch(): Promise<string | undefined> {
    const { repository, gitTimeoutMs } = this.#options;
    const listed = await this.#access.ask((access) =>
      repository.lsRemote(access, ['HEAD'], { deadlineMs: gitTimeoutMs }),
    );
    return listed?.kind === 'ok' ? listed.head : undefined;
  }

  folder(target: string): TargetObservation['folder'] {
    return this.#folders.get(target);
  }

  /** Commits published since the last call; for the report of a flush. */
  publishedSince(mark: number): readonly { target: string; commit: string }[] {
    return this.#published.slice(Math.max(0, mark - this.#forgotten));
  }

  get publishedCount(): number {
    return this.#forgotten + this.#published.length;
  }

  /** Something has no place in Git: a commit that mends it raises no event anywhere, so it is worth a look. */
  get waitsForGit(): boolean {
    return [...this.targets.values()].some(
      (target) => target.waitsForGit || (this.#folders.get(target.key)?.refusals.length ?? 0) > 0,
    );
  }

  /** Asks the remote whether it moved; a fetch follows when it did. For an idle branch. */
  async refresh(): Promise<void> {
    const { base, running, pushing, halt } = this.worker.state;
    if (base.kind !== 'known' || running !== undefined || pushing !== undefined || halt !== undefined) return;
    const asked = await this.#access.ask((access) => this.#remote.moved(access, base.tip));
    if (asked === undefined) return;
    if (asked.kind === 'ok' && !asked.moved) this.#verify('Fetch');
    else this.worker.feed({ kind: 'look' });
  }

  async fetch(previous: string | null | undefined, unpublished: readonly string[]): Promise<FetchResult> {
    this.#options.counts.fetched(this.#fetchReason(previous));
    const result = await this.#access.ask((access) => this.#remote.fetch(access, unpublished));
    if (result === undefined) return noAccess;
    if (result.kind === 'failed') return result;
    this.#verify('Fetch');
    // Commits of an earlier process count too: the branch was seen, whatever our own memory says.
    if (previous !== undefined && result.tip !== previous) this.#lookAtRefusedAgain();
    if (previous === undefined) this.#reviewAfterFetch = true;
    return result;
  }

  async commit(base: string | null, writes: readonly Write[]): ReturnType<CommitWrites['run']> {
    const result = await this.#commits.run(base, writes);
    if (result.kind === 'failed') this.#options.counts.commitFailed('error');
    return result;
  }

  async push(tip: string, expected: string | null, target: string): ReturnType<RemoteBranch['push']> {
    const startedAt = this.#options.clock.now();
    const result = await this.#access.ask((access) => this.#remote.push(access, tip, expected), target);
    if (result === undefined) return noAccess;
    this.#options.counts.pushed(result.kind, this.#options.clock.now() - startedAt);
    if (result.kind === 'pushed') {
      this.#verify('Push');
      this.#lastPushed = { commit: tip, at: this.#options.clock.date().getTime() };
    }
    return result;
  }

  async confirmed(writes: readonly Write[], tip: string | null): Promise<void> {
    const updates = new Map<TargetRun, HandledUpdate[]>();
    for (const write of writes) {
      const outcome = this.#commits.take(write.sequence);
      const target = this.targets.get(write.target);
      if (outcome === undefined || target === undefined) continue;
      this.#tell(write, outcome, target);
      const handled = outcome.done.flatMap(
        (change) => handledUpdate(target, change.key, write.sequence) ?? [],
      );
      updates.set(target, [...(updates.get(target) ?? []), ...handled]);
    }
    this.#options.changed();
    await Promise.all(
      [...updates].map(([target, handled]) => {
        if (tip !== null) target.handled.fits(tip);
        return target.handled.put(handled);
      }),
    );
  }

  async rewritten(previous: string, tip: string): Promise<void> {
    for (const target of this.targets.values())
      await this.#lost.review(target, target.handled.tip ?? previous, tip);
  }

  #review(targets: Iterable<TargetRun>): void {
    const { base } = this.worker.state;
    if (base.kind === 'known' && base.tip !== null) this.#lost.reviewAll(targets, base.tip);
  }

  changed({ queue, base }: BranchState): void {
    this.#options.counts.queued(queue.length);
    const tip = base.kind === 'known' ? base.tip : undefined;
    if (tip !== this.#observedTip) {
      this.#observedTip = tip;
      this.#observeFolders();
    }
    if (this.#reviewAfterFetch && base.kind === 'known') {
      this.#reviewAfterFetch = false;
      this.#review(this.targets.values());
    }
    this.#options.changed();
  }

  /** What Git states of an object of a target at a commit; undefined when it or the commit is not there. */
  async documentAt(
    folder: string,
    commit: string,
    object: { id: ObjectId; namespaced: boolean },
    sealer?: Sealer,
    kustomize?: KustomizeOptions,
  ): Promise<JsonObject | undefined> {
    const tree = await this.#treeAt(commit);
    return tree === undefined ? undefined : documentAt(tree, folder, object, this.cache, sealer, kustomize);
  }

  /** Whether Git has a document of an object of a target at a commit, readable or not. */
  async hasDocumentAt(
    folder: string,
    commit: string,
    object: { id: ObjectId; namespaced: boolean },
    kustomize?: KustomizeOptions,
  ): Promise<boolean> {
    const tree = await this.#treeAt(commit);
    return tree !== undefined && hasDocument(tree, folder, object, this.cache, kustomize);
  }

  /** Whether the remote's branch, as last seen, holds a commit. */
  isPublished(commit: string): Promise<boolean> {
    return isPublished(this.#options.repository, commit, this.observation().tip);
  }

  async #treeAt(commit: string): Promise<Tree | undefined> {
    if (!(await this.#options.repository.reader.hasCommit(commit))) return undefined;
    return this.#commits.treeAt(commit);
  }

  #tell(write: Write, outcome: PlannedOutcome, target: TargetRun): void {
    target.takeOutcomes(outcome.done, outcome.plan);
    for (const { object, message } of outcome.plan.notices)
      target.notice('Notice', describeObject(object), message);
    target.takeRetention(outcome.plan);
    countWrite(this.#options.counts, write, outcome);
    if (typeof write.commit !== 'string') return;
    this.#options.counts.committed(write);
    this.#published.push({ target: write.target, commit: write.commit });
    if (this.#published.length > publishedLimit) {
      this.#published.shift();
      this.#forgotten += 1;
    }
    this.publishedEdits.add(publishedEdits(write, write.commit, outcome));
    const objects = [...new Set(outcome.plan.edits.flatMap((edit) => edit.objects.map(describeObject)))];
    this.#options.log.info(
      {
        target: write.target,
        commit: write.commit,
        objects: objects.slice(0, 10).join(' '),
        count: objects.length,
      },
      'published',
    );
  }

  /** Reads each target's folder at the tip, one after the other, so that status says what stands there. */
  #observeFolders(): void {
    this.#observing = this.#observing
      .then(() => this.#readFolders())
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'could not read the folders of the branch');
      });
  }

  async #readFolders(): Promise<void> {
    const { base } = this.worker.state;
    if (base.kind !== 'known') return;
    const tree = await this.#commits.treeAt(base.tip);
    for (const target of this.targets.values()) {
      if (this.#folders.get(target.key)?.commit === base.tip) continue;
      this.#folders.set(
        target.key,
        await observeFolder(tree, target.spec.path, base.tip, this.cache, target.kustomize.decoded),
      );
    }
    this.#options.changed();
  }

  /** Git moved: what was refused may have a place now. */
  #lookAtRefusedAgain(): void {
    for (const target of this.targets.values()) {
      target.lookAtRefusedAgain().catch((error: unknown) => {
        this.#options.log.error({ err: error, target: target.key }, 'could not read refused objects again');
      });
    }
  }

  #fetchReason(previous: string | null | undefined): Parameters<BranchCounts['fetched']>[0] {
    const { moves, failure, queue } = this.worker.state;
    if (moves > 0) return 'contention';
    if (failure !== undefined) return 'push_failure_probe';
    return previous === undefined || queue.length > 0 ? 'publication' : 'refresh';
  }

  #verify(by: 'Push' | 'Fetch'): void {
    this.#verified = { at: this.#options.clock.date().getTime(), by };
  }
}

/** Commits remembered for the reports of flushes. */
const publishedLimit = 1_000;

const noAccess = {
  kind: 'failed',
  reason: 'RemoteUnreachable',
  message: 'no GitTarget writes to the branch any more, so there are no credentials to reach it with',
} as const;
