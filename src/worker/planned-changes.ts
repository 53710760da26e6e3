/**
 * A live change as the planner wants it: with the state it is compared with (contracts 1). That is what a pending write
 * assumed, what was handled, or, where neither is known, what the applier may have applied.
 */
import type { ObjectChange } from '../core/branch/state.ts';
import type { ObjectId } from '../core/identity.ts';
import { knownAppliers } from '../core/intent/managers.ts';
import { type JsonObject, valueAt } from '../core/json.ts';
import type { Change, Upsert } from '../core/plan/index.ts';
import { sanitize, withoutLabel } from '../core/sanitize/index.ts';
import { type Mask, unmasked } from '../core/sealed/index.ts';
import type { Applier, ClusterFacts } from './cluster-facts.ts';
import type { FolderAppliers } from './folder-appliers.ts';
import type { HandledStates } from './handled.ts';
import type { MirrorSpec } from './mirror-spec.ts';
import { knownBeside } from './sensitive-state.ts';
import type { UnderWay } from './under-way.ts';

export interface PlannedChangesOptions {
  readonly handled: HandledStates;
  readonly underWay: UnderWay;
  readonly appliers: FolderAppliers;
  readonly facts: ClusterFacts;
  spec(): MirrorSpec;
  /** Masks the values of an object that is sensitive; undefined for any other. */
  maskFor(id: ObjectId): Mask | undefined;
  /** What Git states of an object at each of these commits, where it states anything. */
  documentsAt(commits: readonly string[], id: ObjectId): Promise<JsonObject[]>;
  /** Whether the remote's branch holds a commit. */
  isPublished(commit: string): Promise<boolean>;
  /** The remote's branch as last seen. */
  tip(): string | null | undefined;
  /** Whether our repository holds a commit. */
  hasCommit(commit: string): Promise<boolean>;
}

export class PlannedChanges {
  readonly #options: PlannedChangesOptions;

  constructor(options: PlannedChangesOptions) {
    this.#options = options;
  }

  /** One change as the planner wants it, with the state it is compared with. */
  async plan(change: ObjectChange, sequence: number): Promise<Change> {
    const base = change.whole ? undefined : await this.#base(change, sequence);
    const mask = this.#options.maskFor(change.id);
    const pending = this.#options.underWay.base(change.key, sequence);
    const substitution = await this.#options.appliers.substitution(change.live);
    const handled = {
      ...(substitution === undefined ? {} : { substitution }),
      ...(base === undefined ? {} : { handled: base }),
      ...(mask && knownBeside(change, { record: this.#options.handled.get(change.key), pending, mask })),
    };
    if (change.live === undefined) {
      return { kind: 'delete', id: change.id, reason: change.deletion ?? 'observed', ...handled };
    }
    const live = change.live;
    const { appliers } = this.#options;
    const owner = appliers.ownerOf(live);
    const applier = await appliers.of(live);
    const applierKnown = applier.kind === 'applies' || applier.kind === 'unknown';
    const managers = {
      appliers: owner !== undefined && applierKnown ? knownAppliers[owner.kind] : [],
      ignore: this.#options.spec().ignoreManagers,
    };
    const candidates = base === undefined ? await this.#candidates(applier, change) : [];
    const upsert: Upsert = {
      kind: 'upsert',
      live,
      applierKnown,
      managers,
      ...handled,
      ...(candidates.length > 0 ? { candidates } : {}),
      ...((await this.#autoscaled(live, base)) ? { autoscaled: true } : {}),
    };
    const label = appliers.labelOf(live);
    return label === undefined ? upsert : untracked(upsert, label);
  }

  /** The state the change is compared with: what a pending write assumed, else what was handled. */
  async #base(change: ObjectChange, sequence: number): Promise<JsonObject | undefined> {
    const pending = this.#options.underWay.base(change.key, sequence);
    if (pending !== undefined) return pending.change.live && sanitize(pending.change.live);
    const left = await this.#left(change);
    if (left !== undefined) return left;
    const record = this.#options.handled.recorded(change.key);
    const body = record === undefined ? undefined : await this.#options.handled.body(record);
    const mask = this.#options.maskFor(change.id);
    return body && change.live && mask ? unmasked(body, sanitize(change.live), mask) : body;
  }

  /** What an earlier process wrote into commits that the remote has, but did not live to record. */
  async #left({ key, id, live }: ObjectChange): Promise<JsonObject | undefined> {
    const entries = this.#options.handled.journal.left(key);
    for (const { commit } of entries.toReversed()) {
      if (!(await this.#options.isPublished(commit))) continue;
      const [document] = await this.#options.documentsAt([commit], id);
      if (document !== undefined) return document;
    }
    // Nothing of it was published: an object that is gone was never handled, and no document is the one handled.
    const isUnknown =
      entries.length > 0 && live === undefined && this.#options.handled.recorded(key) === undefined;
    return isUnknown ? {} : undefined;
  }

  /** What the applier may have applied, where nothing else is left to compare with. */
  async #candidates(applier: Applier, { id, live }: ObjectChange): Promise<JsonObject[]> {
    if (live === undefined || (applier.kind !== 'applies' && applier.kind !== 'unknown')) return [];
    const revisions = applier.kind === 'applies' ? applier.revisions : [];
    for (const revision of revisions) {
      if (!(await this.#options.hasCommit(revision))) continue;
      const { lastPushedCommit } = this.#options.spec();
      const pushed = lastPushedCommit === undefined ? [] : [lastPushedCommit];
      return this.#options.documentsAt([...new Set([...revisions, ...pushed])], id);
    }
    // Nobody knows what it applied, so it may be all of what is live; only what a person owns is an edit.
    const tip = this.#options.tip();
    return [...(await this.#options.documentsAt(typeof tip === 'string' ? [tip] : [], id)), sanitize(live)];
  }

  /** Only a changed replica count asks: nothing else of an object is an autoscaler's. */
  async #autoscaled(live: JsonObject, base: JsonObject | undefined): Promise<boolean> {
    const replicas = valueAt(live, ['spec', 'replicas']);
    if (replicas === undefined || replicas === valueAt(base, ['spec', 'replicas'])) return false;
    return this.#options.facts.autoscaled(live);
  }
}

/** Without the label that the applier's tracking has put there, whatever Git states of it: nobody's edit. */
function untracked(change: Upsert, label: string): Upsert {
  const { live, handled, candidates } = change;
  return {
    ...change,
    live: withoutLabel(live, label),
    ...(handled === undefined ? {} : { handled: withoutLabel(handled, label) }),
    ...(candidates === undefined
      ? {}
      : { candidates: candidates.map((candidate) => withoutLabel(candidate, label)) }),
  };
}
