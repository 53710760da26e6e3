/**
 * Carries out the commit effect: plans each decided write on the tip as the write before it leaves it, and makes all
 * commits in one fast-import run. What became of each object is kept until the write is confirmed.
 */
import type { CommitResult, ObjectChange, PlannedWrite, TargetKey, Write } from '../core/branch/state.ts';
import type { IndexCache, Tree, TreeEntry } from '../core/folder/index.ts';
import { type ObjectId, objectKey } from '../core/identity.ts';
import { type Change, type Plan, plan, withRefusedFields } from '../core/plan/index.ts';
import { refuse } from '../core/refusal.ts';
import type { Draft } from '../git/draft.ts';
import { diskFailure } from '../git/failure.ts';
import type { CommitSpec } from '../git/import-stream.ts';
import type { Repository } from '../git/repository.ts';
import type { Signer } from '../git/signing.ts';
import type { Log } from '../telemetry/log.ts';
import { commitMessage } from './commit-message.ts';
import { namedNotices } from './foreign-commit.ts';
import { blobId } from './handled.ts';
import type { JournalEntry } from './journal.ts';
import { OverlayTree } from './overlay-tree.ts';
import { coreFailureReason } from './remote-branch.ts';
import type { TargetRun } from './target-run.ts';
import { othersFirst, type Turn } from './turns.ts';

/** What planning a write came to; kept until it is confirmed or planned again. */
export interface PlannedOutcome {
  readonly plan: Plan;
  /** Changes that are dealt with: written, unchanged, retained or never mirrored. */
  readonly done: readonly ObjectChange[];
}

export interface CommitContext {
  readonly repository: Repository;
  readonly branch: string;
  readonly cache: IndexCache;
  readonly log: Log;
  target(key: TargetKey): TargetRun | undefined;
  /** Tip of the default branch, for a branch that does not exist yet; null in an empty repository. */
  newBranchParent(): string | null;
  /** The commit that last touched a path at or before a commit. */
  lastCommitTouching(commit: string, path: string): Promise<string | undefined>;
  /** The commit that removed an object's document from a target's folder, at or before a commit. */
  commitRemoving(commit: string, target: TargetRun, id: ObjectId): Promise<string | undefined>;
  date(): Date;
  /** The turns of planning a write. */
  turns(): Turn;
  /** Does work after `ms`; what goes wrong with it is logged. */
  later(ms: number, work: () => Promise<void>): void;
}

/** More objects than this are no short step. */
const atOnce = 500;
/** A write that planning broke on is planned again after this. */
const lookAgainMs = 60_000;

/** What a run of writes is planned on, and where contents go as they are planned. */
interface Work {
  readonly parent: string | null;
  readonly tree: OverlayTree;
  readonly draft: Draft;
}

interface PlannedCommit {
  readonly sequence: number;
  /** undefined: nothing to commit. */
  readonly spec: CommitSpec | undefined;
  readonly signer: Signer | undefined;
}

export class CommitWrites {
  readonly #context: CommitContext;
  readonly #outcomes = new Map<number, PlannedOutcome>();
  /** The tree of the newest commit made here, so that its successor needs no listing. */
  #tree: { readonly commit: string; readonly tree: OverlayTree } | undefined;
  /** The files of that commit; they stay known while the tree runs ahead of it. */
  #newest: { readonly commit: string; readonly entries: readonly TreeEntry[] } | undefined;

  constructor(context: CommitContext) {
    this.#context = context;
  }

  async run(base: string | null, writes: readonly Write[]): Promise<CommitResult> {
    const objects = writes.reduce((sum, { changes }) => sum + changes.length, 0);
    // What was confirmed just now took its time as well.
    if (objects > atOnce) await othersFirst();
    const parent = base ?? this.#context.newBranchParent();
    const tree = await this.#treeToChange(parent);
    // From here on the tree runs ahead of any commit; only a whole run makes it valid again.
    this.#tree = undefined;
    const draft = this.#context.repository.draft();
    try {
      return await this.#planAndImport({ parent, tree, draft }, writes);
    } finally {
      await draft.abandon();
    }
  }

  async #planAndImport({ parent, tree, draft }: Work, writes: readonly Write[]): Promise<CommitResult> {
    const planned: PlannedCommit[] = [];
    for (const write of writes) {
      const spec = await this.#planWrite(write, { parent, tree, draft });
      const signer = this.#target(write)?.spec.signer;
      planned.push({ sequence: write.sequence, spec, signer });
    }
    if (planned.every(({ spec }) => spec === undefined)) {
      if (parent !== null) this.#tree = { commit: parent, tree };
      return { kind: 'ok', planned: planned.map(({ sequence }) => ({ sequence, commit: null })) };
    }
    const result: PlannedWrite[] = [];
    let tip = parent;
    for (const [index, run] of runsOfOneSigner(planned).entries()) {
      const made = await this.#import(tip, run, index === 0 ? draft : undefined);
      if (made.kind !== 'ok')
        return { kind: 'failed', reason: coreFailureReason(made.reason), message: made.message };
      const commits = made.commits.map(({ commit }) => commit);
      tip = commits.at(-1) ?? tip;
      for (const { sequence, spec } of run) {
        result.push({ sequence, commit: spec === undefined ? null : (commits.shift() ?? null) });
      }
    }
    if (tip !== null) {
      tree.forgetContent();
      this.#tree = { commit: tip, tree };
      this.#newest = { commit: tip, entries: tree.entries() };
    }
    return (await this.#note(writes, result)) ?? { kind: 'ok', planned: result };
  }

  #import(
    base: string | null,
    run: readonly PlannedCommit[],
    draft: Draft | undefined,
  ): ReturnType<Repository['commit']> {
    const { repository, branch } = this.#context;
    const commits = run.flatMap(({ spec }) => spec ?? []);
    const signer = run.find(({ spec }) => spec !== undefined)?.signer;
    return repository.commit({ branch, base, commits, draft, ...(signer && { signer }) });
  }

  /** The target that decided the write; another GitTarget of the same name is not it. */
  #target({ target: key, targetUid }: Write): TargetRun | undefined {
    const target = this.#context.target(key);
    return target?.spec.uid === targetUid ? target : undefined;
  }

  /** Notes what the commits hold before anybody can see them. Returns the failure when that cannot be written. */
  async #note(writes: readonly Write[], planned: readonly PlannedWrite[]): Promise<CommitResult | undefined> {
    const notes = new Map<TargetRun, { sequence: number; entries: JournalEntry[] }[]>();
    for (const { sequence, commit } of planned) {
      const write = writes.find((one) => one.sequence === sequence);
      const target = write && this.#target(write);
      const done = this.#outcomes.get(sequence)?.done ?? [];
      if (target === undefined || commit === null) continue;
      const written = done.filter(({ live }) => live !== undefined);
      const entries = written.map(({ id, uid, resourceVersion }) => ({ id, uid, resourceVersion, commit }));
      notes.set(target, [...(notes.get(target) ?? []), { sequence, entries }]);
    }
    try {
      await Promise.all([...notes].map(([target, noted]) => target.handled.journal.note(noted)));
      return undefined;
    } catch (error) {
      const full = diskFailure(error, 'keeping the journal');
      if (full === undefined) throw error;
      return { kind: 'failed', reason: coreFailureReason(full.reason), message: full.message };
    }
  }

  /** What planning a confirmed write came to; it is forgotten here. */
  take(sequence: number): PlannedOutcome | undefined {
    const outcome = this.#outcomes.get(sequence);
    this.#outcomes.delete(sequence);
    return outcome;
  }

  /** The files of a commit, not to be changed; null = no commit, no files. */
  async treeAt(commit: string | null): Promise<Tree> {
    const entries = this.#newest?.commit === commit ? this.#newest.entries : await this.#list(commit);
    return new OverlayTree(entries, (id) => this.#readBlob(id));
  }

  async #treeToChange(commit: string | null): Promise<OverlayTree> {
    if (commit !== null && this.#tree?.commit === commit) return this.#tree.tree;
    return new OverlayTree(await this.#list(commit), (id) => this.#readBlob(id));
  }

  async #list(commit: string | null): Promise<readonly TreeEntry[]> {
    return commit === null ? [] : this.#context.repository.reader.readTree(commit);
  }

  async #planWrite(write: Write, work: Work): Promise<CommitSpec | undefined> {
    const { parent, tree } = work;
    const target = this.#target(write);
    if (target === undefined) {
      // The GitTarget is gone and with it the settings to write by; its folder stays as it is.
      this.#outcomes.set(write.sequence, { plan: emptyPlan, done: [] });
      return undefined;
    }
    if (write.changes.some(({ echo }) => echo)) {
      for (const change of write.changes) target.underWay.assume(write.sequence, change);
      this.#outcomes.set(write.sequence, { plan: emptyPlan, done: write.changes });
      return undefined;
    }
    const result = await this.#nameCommits(await this.#planSafely(write, target, work), target, parent);
    const edits = result.edits.map(({ path, content }) => ({ path, content: content ?? null }));
    const refused = new Set(
      result.outcomes.filter(({ outcome }) => outcome === 'refused').map(({ object }) => objectKey(object)),
    );
    const done: ObjectChange[] = [];
    for (const change of write.changes) {
      if (refused.has(change.key)) {
        target.underWay.drop(change.key, write.sequence);
        continue;
      }
      target.underWay.assume(write.sequence, change, documentBlob(result, tree, target, change));
      done.push(change);
    }
    this.#outcomes.set(write.sequence, { plan: withoutContent(result), done });
    if (edits.length === 0) return undefined;
    const files = result.edits.map(({ path, content, mode }) => ({ path, content: content ?? null, mode }));
    const message = await commitMessage(write, result, target, (path) => this.#foreignCommit(parent, path));
    tree.apply(edits);
    for (const { path, parsed } of result.edits) {
      const id = parsed === undefined ? undefined : tree.idOf(path);
      if (parsed !== undefined && id !== undefined) this.#context.cache.set(id, parsed);
    }
    const now = this.#context.date();
    const committer = { ...target.spec.committer, date: now };
    return {
      files,
      message,
      author: write.author.git ? { ...write.author.git, date: now } : committer,
      committer,
    };
  }

  /** A plan that breaks must not hold up every other edit of the branch: its objects are refused, loudly. */
  async #planSafely(write: Write, target: TargetRun, { tree, draft }: Work): Promise<Plan> {
    try {
      const pause = this.#context.turns();
      const changes = await this.#changes(write, target, pause);
      const options = await target.planOptions(this.#context.cache);
      const made = await plan(tree, changes, {
        ...options,
        pause,
        drafted: (content) => draft.store(content),
      });
      return withRefusedFields(made, changes, options);
    } catch (error) {
      this.#context.log.error({ err: error, target: write.target }, 'planning a write broke');
      // A full disk or a lost process passes; a bug is told again.
      this.#context.later(lookAgainMs, () => target.lookAtRefusedAgain());
      const said = error instanceof Error ? error.message : String(error);
      const refused = write.changes.map(({ id }) =>
        refuse('VerificationFailed', `planning the edit failed: ${said}`, { object: id }),
      );
      const outcomes = write.changes.map(({ id }) => ({ object: id, outcome: 'refused' as const }));
      return { ...emptyPlan, refused, outcomes };
    }
  }

  async #changes(write: Write, target: TargetRun, pause: () => Promise<void> | undefined): Promise<Change[]> {
    const changes: Change[] = [];
    for (const change of write.changes) {
      const turn = pause();
      if (turn !== undefined) await turn;
      changes.push(await target.planChange(change, write.sequence));
    }
    if (write.sweep !== undefined) {
      const { group, kind, namespace, present } = write.sweep;
      changes.push({
        kind: 'sweep',
        group,
        of: kind,
        present,
        ...(namespace === undefined ? {} : { namespace }),
      });
    }
    return changes;
  }

  async #nameCommits(planned: Plan, target: TargetRun, parent: string | null): Promise<Plan> {
    if (parent === null || planned.notices.length === 0) return planned;
    const notices = await namedNotices(planned, {
      touching: (path) => this.#context.lastCommitTouching(parent, path),
      removing: (id) => this.#context.commitRemoving(parent, target, id),
    });
    return { ...planned, notices };
  }

  async #foreignCommit(parent: string | null, path: string): Promise<string | undefined> {
    return parent === null ? undefined : this.#context.lastCommitTouching(parent, path);
  }

  async #readBlob(id: string): Promise<Uint8Array> {
    const blob = await this.#context.repository.reader.readBlob(id);
    if (blob === undefined) throw new Error(`the repository lost the blob ${id}`);
    return blob;
  }
}

/** The blob with the document of a sensitive object as the plan leaves it. */
function documentBlob(
  { outcomes, edits }: Plan,
  tree: OverlayTree,
  target: TargetRun,
  { id, key }: ObjectChange,
): string | undefined {
  if (!target.isSensitive(id)) return undefined;
  const path = outcomes.find(({ object }) => objectKey(object) === key)?.path;
  if (path === undefined) return undefined;
  const edit = edits.find((one) => one.path === path);
  if (edit === undefined) return tree.idOf(path);
  return edit.content === undefined ? undefined : blobId(edit.content);
}

/** Kept until the remote confirms, which may take days: without the files. */
function withoutContent(result: Plan): Plan {
  const edits = result.edits.map(({ content: _content, parsed: _parsed, ...edit }) => edit);
  return { ...result, edits };
}

/** Consecutive commits of one signing key; what needs no commit goes with its neighbours. */
function runsOfOneSigner(planned: readonly PlannedCommit[]): PlannedCommit[][] {
  const runs: PlannedCommit[][] = [];
  let signer: Signer | undefined;
  for (const one of planned) {
    const run = runs.at(-1);
    const fits =
      one.spec === undefined || run?.every(({ spec }) => spec === undefined) || signer === one.signer;
    if (one.spec !== undefined) signer = one.signer;
    if (run !== undefined && fits) run.push(one);
    else runs.push([one]);
  }
  return runs;
}

const emptyPlan: Plan = { edits: [], refused: [], skipped: [], notices: [], unchanged: [], outcomes: [] };
