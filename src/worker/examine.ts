/**
 * What a gate needs to know of GitTargets that share a branch: is everything live handled, is it published, and does a
 * revision hold it. Gathers facts; core/gate decides.
 */
import { closeWindow, dropMark, openWindow, type Since, takeMark } from '../core/apply/index.ts';
import type { FlushEvidence, PublishedEdit, RefusedEdit, TargetEvidence } from '../core/gate/index.ts';
import { describeObject } from '../core/identity.ts';
import type { ApplierOwner } from '../core/sanitize/index.ts';
import type { CommitInfo } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import type { Clock } from '../kube/clock.ts';
import type { BranchRun } from './branch-run.ts';
import type { FreshnessBarrier } from './freshness.ts';
import type { TargetRun } from './target-run.ts';
import type { RightOfWay } from './turns.ts';

/** One target at work, with its branch. */
export interface Examined {
  readonly target: TargetRun;
  readonly branch: BranchRun;
  readonly barrier: FreshnessBarrier;
}

export interface Examination {
  readonly targets: readonly TargetEvidence[];
  readonly flush: FlushEvidence;
  readonly hasRevision: boolean;
  readonly edits: readonly PublishedEdit[];
  /** The moment of the flush. To be dropped once no answer rests on it any more. */
  readonly mark: FlushMark;
  /** Whether the examined revision is this commit or came after it. */
  descendsFrom(commit: string): Promise<boolean>;
  /** What was committed to the folders since the examined revision. */
  since(): Promise<Since>;
}

/** A flush mark of one or more targets; an apply window begins at one. */
export interface FlushMark {
  open(window: { holder: ApplierOwner; revision: string; limitMs: number }): OpenWindow;
  drop(): void;
}

export interface OpenWindow {
  /** How many writes of the applier were withheld so far, because they wrote over newer edits. */
  withheld(): number;
  /** Handles what the API server has accepted until now, then closes. */
  end(): Promise<void>;
}

export interface Wanted {
  readonly revision: string;
  readonly deadlineAt: number;
  readonly clock: Clock;
  /** For what waits for git alone; the barrier sees to itself, and a flush waits for planning. */
  readonly rightOfWay: Pick<RightOfWay, 'first'>;
}

/** Marks outlive grants by the time an answer takes. */
const markMs = 150_000;
const commitsLookedAt = 200;

/** @param examined at least one; all of the same branch */
export async function examine(examined: readonly Examined[], wanted: Wanted): Promise<Examination> {
  const { revision, deadlineAt, clock, rightOfWay } = wanted;
  const branch = examined[0]?.branch;
  if (branch === undefined) throw new Error('there is nothing to examine');
  const { repository } = branch;
  // A commit we lack was made since we last looked: the flush looks at the remote first.
  const known = () => repository.reader.hasCommit(revision);
  if (revision !== branch.observation().tip && !(await rightOfWay.first(known)))
    branch.worker.feed({ kind: 'look' });
  const collections = await Promise.all(examined.map(({ barrier }) => barrier.prove()));
  const mark = markOf(examined, clock);
  const answer = await branch.worker.flush(deadlineAt);
  const tip = answer.kind === 'published' ? answer.tip : null;
  const { hasRevision, targets, edits } = await rightOfWay.first(() =>
    compareWithTip(branch, { examined, collections, revision, tip }),
  );
  return {
    targets,
    flush: answer,
    hasRevision,
    edits,
    mark,
    descendsFrom: async (commit) =>
      (await repository.reader.hasCommit(commit)) &&
      (await repository.reader.hasCommit(revision)) &&
      repository.history.isAncestor(commit, revision),
    since: () =>
      hasRevision && tip !== null
        ? sinceRevision(examined, revision, tip)
        : Promise.resolve({ kind: 'unknown' }),
  };
}

interface Proven {
  readonly examined: readonly Examined[];
  /** Of each of them. */
  readonly collections: readonly TargetEvidence['collections'][];
  readonly revision: string;
  readonly tip: string | null;
}

/** What a published tip holds beyond a revision, as far as the repository holds both. */
async function compareWithTip(
  branch: BranchRun,
  { examined, collections, revision, tip }: Proven,
): Promise<Pick<Examination, 'hasRevision' | 'targets' | 'edits'>> {
  const { repository } = branch;
  const hasRevision = tip !== null && (revision === tip || (await repository.reader.hasCommit(revision)));
  const targets = await Promise.all(
    examined.map(async ({ target }, index) => ({
      target: target.key,
      running: true,
      collections: collections[index] ?? [],
      sameTree: hasRevision ? await sameTree(repository, target.spec.path, revision, tip) : undefined,
      refused: refusedOf(target),
    })),
  );
  return { hasRevision, targets, edits: hasRevision ? await editsSince(branch, revision, tip) : [] };
}

async function sinceRevision(examined: readonly Examined[], revision: string, tip: string): Promise<Since> {
  let foreign = false;
  let oldestAt = Number.POSITIVE_INFINITY;
  for (const { target, branch } of examined) {
    const { history } = branch.repository;
    if (!(await history.isAncestor(revision, tip))) return { kind: 'unknown' };
    const commits = await history.commitsBetween(revision, tip, commitsLookedAt, target.spec.path || '.');
    if (commits.length === commitsLookedAt) return { kind: 'unknown' };
    for (const commit of commits) {
      oldestAt = Math.min(oldestAt, commit.committer.date.getTime());
      if (!isOurs(commit, target)) foreign = true;
    }
  }
  return { kind: 'known', foreign, oldestAt };
}

/** Every commit of ours ends with the trailer that says how well its author is proven. */
function isOurs({ committer, message }: CommitInfo, { spec }: TargetRun): boolean {
  return committer.email === spec.committer.email && /^Attribution: \S+$/m.test(message);
}

async function sameTree(
  repository: Repository,
  path: string,
  revision: string,
  tip: string,
): Promise<boolean> {
  if (revision === tip) return true;
  const { reader } = repository;
  const [asked, newest] = await Promise.all([reader.treeId(revision, path), reader.treeId(tip, path)]);
  return asked === newest;
}

async function editsSince(
  branch: BranchRun,
  revision: string,
  tip: string,
): Promise<readonly PublishedEdit[]> {
  if (revision === tip) return [];
  const commits = await branch.repository.history.commitsBetween(revision, tip, commitsLookedAt);
  return branch.publishedEdits.of(new Set(commits.map(({ commit }) => commit)));
}

function refusedOf(target: TargetRun): RefusedEdit[] {
  return [...target.refused.values()].map(({ object, path, reason, fields = [] }) => ({
    target: target.key,
    object: object === undefined ? (path ?? '') : describeObject(object),
    fields,
    reason,
  }));
}

/** A mark of this very moment, whatever is published. */
export function markOf(examined: readonly Omit<Examined, 'branch'>[], clock: Clock): FlushMark {
  const until = clock.now() + markMs;
  const marks = examined.map((one) => ({ ...one, mark: takeMark(one.target.book, until) }));
  return {
    open({ holder, revision, limitMs }) {
      const windows = marks.flatMap(({ target, barrier, mark }) => {
        const ends = clock.now() + limitMs;
        const window = openWindow(target.book, mark, { holder, revision, until: ends });
        return window === undefined ? [] : [{ target, barrier, window, before: target.collisions }];
      });
      return {
        withheld: () => windows.reduce((sum, { target, before }) => sum + target.collisions - before, 0),
        async end() {
          await Promise.all(windows.map(({ barrier }) => barrier.prove()));
          for (const { target, window } of windows) closeWindow(target.book, window);
        },
      };
    },
    drop() {
      for (const { target, mark } of marks) dropMark(target.book, mark);
    },
  };
}
