/**
 * Answers whether an applier may go on: finds the GitTargets a question is about, has them examined, lets core/gate decide,
 * and remembers grants. Every answer comes by its deadline. The doors and the HTTP interface call it.
 */
import type { Since } from '../core/apply/index.ts';
import {
  addGrant,
  closed,
  coverageOf,
  decide,
  type GateAnswer,
  type GateQuestion,
  type GateTarget,
  type Grant,
  usableGrants,
  useGrant,
} from '../core/gate/index.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { Examination, FlushMark } from './examine.ts';
import type { Mirror } from './mirror-spec.ts';

export interface GateDeskOptions {
  readonly mirror: Pick<Mirror, 'examine' | 'mark' | 'defaultBranch'>;
  /** Every GitTarget of a repository, running or not; undefined while our kinds were not read. */
  targets(repository: string): readonly CoveredTarget[] | undefined;
  readonly clock: Clock;
  readonly log: Log;
  counted(question: GateQuestion, answer: GateAnswer, durationMs: number): void;
}

export interface CoveredTarget extends GateTarget {
  /** What its Ready condition says, for a target that does not run. */
  readonly status: string;
}

export interface AskOptions {
  readonly deadlineMs: number;
  /** Whoever may be about to apply, for grants: names of Kustomizations, or the Application. */
  readonly appliers: readonly string[];
  /** It applies already, whatever the answer is: the mark is the caller's, and nothing is granted. */
  readonly isUnderWay?: boolean;
}

export interface Verdict {
  readonly answer: GateAnswer;
  /** Of an open, covered answer, or of an apply under way: where its window begins. The caller drops it once the windows are open. */
  readonly mark: FlushMark | undefined;
  /** Whether the asked revision is this commit or came after it; false when that is not known. */
  descendsFrom(commit: string): Promise<boolean>;
  /** What was committed to the covered folders since the asked revision. */
  since(): Promise<Since>;
}

interface GrantQuestion {
  readonly scope: string;
  readonly appliers: readonly string[];
  readonly spend: boolean;
  readonly isUnderWay: boolean;
}

/** What is left of the deadline for the decision itself. */
const marginMs = 300;
const defaultBranchMs = 600_000;

export class GateDesk {
  readonly #options: GateDeskOptions;
  readonly #defaultBranches = new Map<string, { readonly branch: string; readonly until: number }>();
  #grants: readonly Grant<FlushMark>[] = [];

  constructor(options: GateDeskOptions) {
    this.#options = options;
  }

  /** Never rejects, and never takes longer than the deadline. */
  async ask(question: GateQuestion, options: AskOptions): Promise<Verdict> {
    const { deadlineMs } = options;
    const { clock, log } = this.#options;
    const startedAt = clock.now();
    const work = this.#answer(question, options, startedAt + Math.max(0, deadlineMs - marginMs)).catch(
      (error: unknown) => {
        log.error({ err: error }, 'answering an applier broke');
        return plain(closed('NotFresh', 'finding out what is live broke; the log says how'));
      },
    );
    const verdict = await this.#inTime(work, deadlineMs);
    const { answer } = verdict;
    this.#options.counted(question, answer, clock.now() - startedAt);
    log.debug(
      { applier: question.applier, ...question.application, revision: question.revision, answer },
      'gate',
    );
    return verdict;
  }

  /**
   * Where the window of an apply begins that asks nobody or is not held; undefined where nobody writes to the folder. It may
   * be of any revision: what an old tag lacks is pruned like anything else.
   */
  mark(question: GateQuestion): FlushMark | undefined {
    const repository = normaliseRepositoryUrl(question.repoURL);
    const targets = repository === undefined ? undefined : this.#options.targets(repository);
    const covered = (targets ?? []).filter((target) => {
      const targetRevision = `refs/heads/${target.branch}`;
      return coverageOf({ ...question, targetRevision }, [target], undefined).kind === 'covered';
    });
    return this.#options.mirror.mark(covered.map(({ key }) => key));
  }

  /** What comes after the deadline is of no use to anybody; the flush itself goes on. */
  #inTime(work: Promise<Verdict>, deadlineMs: number): Promise<Verdict> {
    return new Promise((resolve) => {
      let late = false;
      const cancel = this.#options.clock.after(deadlineMs, () => {
        late = true;
        resolve(plain(closed('Deadline', 'the answer was not ready in time; edits go on being published')));
      });
      void work.then((verdict) => {
        cancel();
        if (late) verdict.mark?.drop();
        resolve(verdict);
      });
    });
  }

  async #answer(
    question: GateQuestion,
    { appliers, isUnderWay = false }: AskOptions,
    deadlineAt: number,
  ): Promise<Verdict> {
    const repository = normaliseRepositoryUrl(question.repoURL);
    if (repository === undefined) return plain({ decision: 'open', covered: false });
    const targets = this.#options.targets(repository);
    if (targets === undefined) {
      return plain(closed('SnapshotPending', 'the sidecar has just started and has not read the GitTargets'));
    }
    let coverage = coverageOf(question, targets, undefined);
    if (coverage.kind === 'default-branch') {
      const branch = await this.#defaultBranch(repository);
      if (branch === undefined) {
        return plain(closed('RemoteUnreachable', 'the remote does not say which branch its HEAD is'));
      }
      coverage = coverageOf(question, targets, branch);
    }
    if (coverage.kind !== 'covered') return plain({ decision: 'open', covered: false });
    const covered = coverage.targets.map(({ key }) => key);
    const idle = (key: string) => targets.find((target) => target.key === key)?.status ?? '';
    const examination = await this.#options.mirror.examine(covered, question.revision, deadlineAt);
    const running = new Set(examination?.targets.map(({ target }) => target));
    const missing = covered.find((key) => !running.has(key));
    if (examination === undefined || missing !== undefined) {
      examination?.mark.drop();
      const why = idle(missing ?? '') || 'it is being started';
      return plain(closed('SnapshotPending', `GitTarget ${missing ?? ''} is not at work yet: ${why}`));
    }
    const scope = [repository, coverage.branch, question.applier, nameOf(question)].join(' ');
    return this.#judge(question, examination, {
      scope,
      appliers,
      spend: question.phase !== 'render',
      isUnderWay,
    });
  }

  async #judge(question: GateQuestion, examination: Examination, asked: GrantQuestion): Promise<Verdict> {
    const { mark, descendsFrom, since } = examination;
    const { applier, revision } = question;
    const answer = decide({ ...examination, applier, revision });
    if (asked.isUnderWay) return { answer, mark, descendsFrom, since };
    if (answer.decision === 'closed') {
      mark.drop();
      return { answer, mark: undefined, descendsFrom, since };
    }
    const [grant] = await this.#spendGrants(asked, descendsFrom);
    if (answer.decision === 'open') return { answer, mark, descendsFrom, since };
    if (grant !== undefined) {
      mark.drop();
      const { tip, refused } = answer;
      const open = { decision: 'open', covered: true, tip, revision, edits: [], refused } as const;
      // Its window begins at the flush that granted it. Other appliers may still use the grant, so that mark stays.
      const granted: FlushMark = { open: (window) => grant.mark.open(window), drop: () => undefined };
      return { answer: open, mark: granted, descendsFrom, since };
    }
    const added = addGrant(this.#grants, { scope: asked.scope, tip: answer.tip, mark }, this.#now());
    this.#grants = added.grants;
    for (const { mark: old } of added.dropped) if (old !== mark) old.drop();
    return { answer, mark: undefined, descendsFrom, since };
  }

  /**
   * The grants that the asked revision may use, the newest first. All of them are used up by one open answer, also by one
   * that needs none: what was promised has come.
   */
  async #spendGrants(
    asked: GrantQuestion,
    descendsFrom: Examination['descendsFrom'],
  ): Promise<readonly Grant<FlushMark>[]> {
    const usable: Grant<FlushMark>[] = [];
    for (const grant of usableGrants(this.#grants, asked, this.#now())) {
      if (await descendsFrom(grant.tip)) usable.push(grant);
    }
    // A render writes nothing: the apply that follows needs the grant.
    if (asked.spend) {
      for (const grant of usable) this.#grants = useGrant(this.#grants, grant, asked.appliers);
    }
    return usable;
  }

  async #defaultBranch(repository: string): Promise<string | undefined> {
    const known = this.#defaultBranches.get(repository);
    if (known !== undefined && known.until > this.#now()) return known.branch;
    const branch = await this.#options.mirror.defaultBranch(repository);
    if (branch !== undefined)
      this.#defaultBranches.set(repository, { branch, until: this.#now() + defaultBranchMs });
    return branch;
  }

  #now(): number {
    return this.#options.clock.now();
  }
}

function plain(answer: GateAnswer): Verdict {
  return {
    answer,
    mark: undefined,
    descendsFrom: async () => false,
    since: async () => ({ kind: 'unknown' }),
  };
}

function nameOf({ application }: GateQuestion): string {
  return `${application.namespace}/${application.name}`;
}
