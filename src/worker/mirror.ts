/**
 * Runs what the controllers ask for: one repository per remote, one branch run per branch, one target run per GitTarget,
 * and its streams. Starts and stops are serialised per target; one that cannot start never holds up another.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TargetKey } from '../core/branch/state.ts';
import { createRenderCache, type KustomizeOptions } from '../core/kustomize/index.ts';
import { isSensitiveType } from '../core/sealed/index.ts';
import type { Repository } from '../git/repository.ts';
import { collectionKey } from '../kube/collection.ts';
import { StreamSet } from '../kube/stream-set.ts';
import { createKustomize } from '../render/index.ts';
import { BranchRun } from './branch-run.ts';
import { ClusterFacts } from './cluster-facts.ts';
import { digestMask } from './digest-key.ts';
import { type Examination, examine, type FlushMark, markOf } from './examine.ts';
import { collectionFeed } from './feed-context.ts';
import { FreshnessBarrier } from './freshness.ts';
import { HandledStates } from './handled.ts';
import { Journal, privateFile } from './journal.ts';
import { branchKeyOf, isAnother, notRunning, planningOf } from './mirror-changes.ts';
import type { MirrorOptions } from './mirror-options.ts';
import type { FlushReport, Mirror, MirrorEvent, MirrorSpec, TargetObservation } from './mirror-spec.ts';
import { regularly } from './regularly.ts';
import { Repositories } from './repositories.ts';
import { TargetRun } from './target-run.ts';
import { prepareSealers, type SealerFor } from './target-sealer.ts';

interface Running {
  readonly branchKey: string;
  readonly branch: BranchRun;
  readonly target: TargetRun;
  readonly barrier: FreshnessBarrier;
  readonly streams: StreamSet;
}

/** How often the remote of a branch is looked at while something of it is refused. */
const waitingRefreshMs = 10_000;
/** A target whose start failed is tried again after this. */
const restartMs = 5_000;
/** Objects of kustomize builds that are kept, all targets together. */
const renderedObjects = 50_000;
/** Time to publish what a removed target left. */
const farewellMs = 20_000;

export function createMirror(options: MirrorOptions): Mirror {
  return new RunningMirror(options);
}

class RunningMirror implements Mirror {
  readonly #options: MirrorOptions;
  readonly #repositories: Repositories;
  readonly #branches = new Map<string, BranchRun>();
  /** Targets that start, run or end on a branch: it is stopped when the last has left. */
  readonly #users = new Map<string, Set<TargetKey>>();
  readonly #running = new Map<TargetKey, Running>();
  readonly #wanted = new Map<TargetKey, MirrorSpec>();
  readonly #work = new Map<TargetKey, Promise<void>>();
  readonly #facts = new Map<MirrorSpec['cluster']['client'], ClusterFacts>();
  readonly #listeners = new Set<(target: TargetKey) => void>();
  readonly #eventListeners = new Set<(event: MirrorEvent) => void>();
  readonly #kustomize: KustomizeOptions;
  readonly #isSensitive: (group: string, resource: string) => boolean;
  readonly #cancelRefresh: () => void;
  #sealers: Promise<SealerFor> | undefined;
  #stopped = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#repositories = new Repositories(options);
    const scratch = join(options.dataDir, 'kustomize');
    mkdirSync(scratch, { recursive: true, mode: 0o700 });
    this.#kustomize = {
      render: createKustomize({ program: options.kustomize, scratch }),
      cache: createRenderCache(renderedObjects),
      decoded: new Map(),
      opened: [],
    };
    this.#isSensitive = isSensitiveType(options.sensitiveResources);
    const { gitRefreshIntervalMs: idleMs } = options;
    const cancels = [
      regularly(options, idleMs, async () => {
        await this.#refresh(() => true);
        await this.#repositories.maintain();
      }),
      regularly(options, Math.min(idleMs, waitingRefreshMs), () => this.#refresh((one) => one.waitsForGit)),
    ];
    this.#cancelRefresh = () => {
      for (const cancel of cancels) cancel();
    };
  }

  apply(specs: readonly MirrorSpec[]): void {
    const keys = new Set(specs.map(({ key }) => key));
    for (const key of this.#wanted.keys()) if (!keys.has(key)) this.#wanted.delete(key);
    for (const spec of specs) this.#wanted.set(spec.key, spec);
    for (const key of new Set([...keys, ...this.#running.keys()])) this.#schedule(key);
  }

  observe(key: TargetKey): TargetObservation | undefined {
    const running = this.#running.get(key);
    if (running === undefined) return undefined;
    const { target, branch } = running;
    return {
      branch: branch.observation(),
      streams: [...target.states.values()],
      folder: branch.folder(key),
      refused: [...target.refused.values()],
      retained: target.settledOnce ? target.retained.size : undefined,
      notices: target.notices,
    };
  }

  async flush(key: TargetKey, deadlineAt: number): Promise<FlushReport> {
    const running = this.#running.get(key);
    if (running === undefined) return notRunning;
    const { target, branch } = running;
    const mark = branch.publishedCount;
    const caughtUp = await Promise.all([...target.feeds.values()].map((feed) => feed.catchUp()));
    const answer = await branch.worker.flush(deadlineAt);
    const stale = caughtUp.some((freshness) => freshness === 'stale' || freshness === 'denied')
      ? { reason: 'NotFresh', message: 'a collection could not be read, so newer edits may be missing' }
      : undefined;
    return {
      tip: answer.kind === 'published' ? answer.tip : (branch.observation().tip ?? null),
      published: branch.publishedSince(mark),
      refused: [...target.refused.values()],
      pending: branch.observation().pendingObjects,
      closed: answer.kind === 'closed' ? { reason: answer.reason, message: answer.message } : stale,
    };
  }

  async examine(
    keys: readonly TargetKey[],
    revision: string,
    deadlineAt: number,
  ): Promise<Examination | undefined> {
    const examined = keys.flatMap((key) => this.#running.get(key) ?? []);
    if (examined.length === 0) return undefined;
    const { clock, rightOfWay } = this.#options;
    return examine(examined, { revision, deadlineAt, clock, rightOfWay });
  }

  mark(keys: readonly TargetKey[]): FlushMark | undefined {
    const running = keys.flatMap((key) => this.#running.get(key) ?? []);
    return running.length === 0 ? undefined : markOf(running, this.#options.clock);
  }

  async defaultBranch(repository: string): Promise<string | undefined> {
    const running = [...this.#running.values()].find(
      ({ target }) => target.spec.access.url.key === repository,
    );
    return running?.branch.defaultBranch();
  }

  onChange(listener: (target: TargetKey) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onEvent(listener: (event: MirrorEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  async stop(deadlineAt: number): Promise<number> {
    this.#stopped = true;
    this.#cancelRefresh();
    // A target that is being taken away may wait for a remote that hangs.
    await this.#within(deadlineAt, Promise.all(this.#work.values()));
    // Streams first: what they still hand over belongs to the last flush.
    await Promise.all(
      [...this.#running.values()].map(({ target, branch, streams }) =>
        branch.worker.unpressed(target.key, () => streams.stop()),
      ),
    );
    const unpublished = await Promise.all(
      [...this.#branches.values()].map(({ worker }) => worker.stop(deadlineAt)),
    );
    await this.#repositories.close();
    return unpublished.reduce((sum, count) => sum + count, 0);
  }

  async #within(deadlineAt: number, work: Promise<unknown>): Promise<void> {
    const { clock } = this.#options;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(Math.max(0, deadlineAt - clock.now()), resolve);
    await Promise.race([work, late]);
    cancel();
  }

  /** One change of a target at a time; the newest wish wins. */
  #schedule(key: TargetKey): void {
    const before = this.#work.get(key) ?? Promise.resolve();
    const work = before
      .then(() => this.#converge(key))
      .catch((error: unknown) => {
        this.#options.log.error(
          { err: error, target: key },
          'could not start or change the target; trying again',
        );
        this.#options.clock.after(restartMs, () => this.#schedule(key));
      })
      .finally(() => {
        if (this.#work.get(key) === work) this.#work.delete(key);
      });
    this.#work.set(key, work);
  }

  async #converge(key: TargetKey): Promise<void> {
    if (this.#stopped) return;
    const spec = this.#wanted.get(key);
    const running = this.#running.get(key);
    if (running !== undefined && (spec === undefined || isAnother(running, spec))) {
      await this.#end(running);
      return spec === undefined ? undefined : this.#converge(key);
    }
    if (spec === undefined) return;
    if (running === undefined) return this.#start(spec);
    await this.#change(running, spec);
  }

  async #start(spec: MirrorSpec): Promise<void> {
    const opened = await this.#repositories.open(spec.access.url);
    if (opened.kind !== 'ok') {
      this.#tell({ target: spec.key, type: 'Warning', reason: opened.reason, message: opened.message });
      throw new Error(`${opened.reason}: ${opened.message}`);
    }
    const { repository } = opened;
    const branchKey = branchKeyOf(spec);
    const branch = this.#branches.get(branchKey) ?? this.#startBranch(branchKey, repository, spec);
    this.#users.set(branchKey, (this.#users.get(branchKey) ?? new Set()).add(spec.key));
    try {
      await this.#startOn(branch, branchKey, repository, spec);
    } catch (error) {
      if (!this.#running.has(spec.key)) await this.#leave(branchKey, branch, spec.key);
      throw error;
    }
  }

  async #startOn(
    branch: BranchRun,
    branchKey: string,
    repository: Repository,
    spec: MirrorSpec,
  ): Promise<void> {
    const { log, clock, counts, rightOfWay } = this.#options;
    const journal = new Journal(privateFile(join(this.#options.dataDir, 'journal', `${spec.uid}.jsonl`)));
    const handled = new HandledStates(repository.keptTree(spec.uid), journal);
    await handled.load();
    const mask = await digestMask(this.#options.dataDir);
    this.#sealers ??= prepareSealers(this.#options).catch((error: unknown) => {
      this.#sealers = undefined;
      throw error;
    });
    const sealerFor = await this.#sealers;
    const target: TargetRun = new TargetRun({
      spec,
      handled,
      facts: this.#factsOf(spec),
      isSensitive: ({ group, resource }) => this.#isSensitive(group, resource),
      mask,
      sealerFor,
      kustomize: this.#kustomize,
      documentAt: (commit, object, sealer) =>
        branch.documentAt(target.spec.path, commit, object, sealer, target.kustomize),
      hasDocumentAt: (commit, object) =>
        branch.hasDocumentAt(target.spec.path, commit, object, target.kustomize),
      isPublished: (commit) => branch.isPublished(commit),
      tip: () => branch.observation().tip,
      hasCommit: (commit) => repository.reader.hasCommit(commit),
      event: (type, reason, message) => this.#tell({ target: spec.key, type, reason, message }),
    });
    const streams = new StreamSet({
      client: spec.cluster.client,
      clock,
      turns: () => rightOfWay.turns(),
      handlerFor: (collection) =>
        collectionFeed({
          ...{ target, collection, counts, mask, clock, rightOfWay },
          worker: branch.worker,
          changed: () => this.#changed(spec.key),
        }),
      onFailure: (collection, error) => {
        log.error(
          { err: error, target: spec.key, resource: collection.resource },
          'handling a watch event broke; the stream starts anew',
        );
        clock.after(restartMs, () => this.#restartStream(spec.key, collectionKey(collection)));
      },
    });
    const barrier = new FreshnessBarrier(target);
    this.#running.set(spec.key, { branchKey, branch, target, barrier, streams });
    branch.addTarget(target);
    log.info(
      { target: spec.key, branch: spec.branch, path: spec.path, handled: handled.size },
      'target started',
    );
    await streams.update(spec.collections);
    this.#changed(spec.key);
  }

  async #change(running: Running, spec: MirrorSpec): Promise<void> {
    const { target, branch, streams } = running;
    const before = target.spec;
    target.change(spec);
    if (before.acknowledged !== spec.acknowledged) await branch.acknowledge();
    branch.changeTarget(target);
    target.dropStates(new Set(spec.collections.map(collectionKey)));
    await branch.worker.unpressed(target.key, () => streams.update(spec.collections));
    if (planningOf(before) !== planningOf(spec) || before.sealing !== spec.sealing)
      await target.lookAtRefusedAgain();
    const again =
      before.resync !== spec.resync ||
      before.cluster.uid !== spec.cluster.uid ||
      (before.suspend && !spec.suspend) ||
      (before.prune !== 'Always' && spec.prune === 'Always');
    if (again) {
      if (before.resync !== spec.resync) branch.worker.feed({ kind: 'look' });
      target.resync(before.resync !== spec.resync);
      for (const stream of streams.streams()) stream.resync();
    }
    this.#changed(spec.key);
  }

  async #end(running: Running): Promise<void> {
    const { target, branch, streams, branchKey } = running;
    await branch.worker.unpressed(target.key, () => streams.stop());
    this.#running.delete(target.key);
    branch.removeTarget(target.key);
    await branch.worker.flush(this.#options.clock.now() + farewellMs);
    branch.forgetTarget(target.key);
    this.#forgetFacts();
    await this.#leave(branchKey, branch, target.key);
    this.#options.log.info({ target: target.key }, 'target stopped');
  }

  async #leave(branchKey: string, branch: BranchRun, key: TargetKey): Promise<void> {
    const users = this.#users.get(branchKey);
    users?.delete(key);
    if (users?.size !== 0 || this.#branches.get(branchKey) !== branch) return;
    // Taken away before anything is awaited: whoever starts now gets a branch of its own.
    this.#branches.delete(branchKey);
    this.#users.delete(branchKey);
    await branch.worker.stop(this.#options.clock.now() + farewellMs);
    await branch.worker.ended();
  }

  /** A replaced client takes what was read through it along. */
  #forgetFacts(): void {
    const clients = new Set([...this.#running.values()].map(({ target }) => target.spec.cluster.client));
    for (const client of this.#facts.keys()) if (!clients.has(client)) this.#facts.delete(client);
  }

  #startBranch(branchKey: string, repository: Repository, spec: MirrorSpec): BranchRun {
    const { log, counts, clock, rightOfWay, byteCap, gitTimeoutMs } = this.#options;
    const branch = new BranchRun({
      ...{ repository, clock, rightOfWay, byteCap, gitTimeoutMs },
      branch: spec.branch,
      log: log.child({ branch: spec.branch }),
      lastPushedCommit: spec.lastPushedCommit,
      counts: counts.branch(spec),
      changed: () => {
        for (const [key, running] of this.#running) if (running.branchKey === branchKey) this.#changed(key);
      },
    });
    this.#branches.set(branchKey, branch);
    return branch;
  }

  async #restartStream(key: TargetKey, collection: string): Promise<void> {
    const running = this.#running.get(key);
    if (running === undefined || this.#stopped) return;
    const { collections } = running.target.spec;
    await running.branch.worker.unpressed(key, async () => {
      await running.streams.update(collections.filter((one) => collectionKey(one) !== collection));
      await running.streams.update(collections);
    });
  }

  #refresh(wanted: (branch: BranchRun) => boolean): Promise<unknown> {
    return Promise.all([...this.#branches.values()].filter(wanted).map((branch) => branch.refresh()));
  }

  #factsOf({ cluster }: MirrorSpec): ClusterFacts {
    const facts = this.#facts.get(cluster.client) ?? new ClusterFacts(cluster.client, this.#options.clock);
    this.#facts.set(cluster.client, facts);
    return facts;
  }

  #tell(event: MirrorEvent): void {
    this.#options.log.info({ ...event }, 'event');
    for (const listener of this.#eventListeners) listener(event);
  }

  #changed(key: TargetKey): void {
    for (const listener of this.#listeners) listener(key);
  }
}
