/**
 * One worker per (normalised repository URL, branch): feeds core/branch, one input at a time, and carries out its effects.
 *
 * Decides nothing. Everything that changes the branch goes through `feed`, so there is one order of events.
 */
import {
  type BranchState,
  type CommitResult,
  type Effect,
  type FetchResult,
  type FlushAnswer,
  type Input,
  initialState,
  type PushResult,
  type TargetKey,
  type Write,
} from '../core/branch/state.ts';
import { step, stoppingAnswer } from '../core/branch/step.ts';
import { heldBytes, underPressure } from '../core/branch/window.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';

/** What the worker needs of the world around the branch. */
export interface BranchActions {
  /** `unpublished`: commits of ours that the remote has not confirmed, oldest first. */
  fetch(previous: string | null | undefined, unpublished: readonly string[]): Promise<FetchResult>;
  /** Plans and commits the writes in order on the base; keeps per-object outcomes until `confirmed`. */
  commit(base: string | null, writes: readonly Write[]): Promise<CommitResult>;
  push(tip: string, expected: string | null, target: TargetKey): Promise<PushResult>;
  /** The writes are final on the remote. Must not fail the branch: what goes wrong is repaired by a later snapshot. */
  confirmed(writes: readonly Write[], tip: string | null): Promise<void>;
  rewritten(previous: string, tip: string): Promise<void>;
  /** Something people can see changed. */
  changed(state: BranchState): void;
}

export class BranchWorker {
  readonly #actions: BranchActions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #inputs: Input[] = [];
  readonly #waiters = new Map<number, (answer: FlushAnswer) => void>();
  readonly #waiting: { readonly target: TargetKey | undefined; readonly resume: () => void }[] = [];
  /** Targets whose streams shall end: they must not wait for the remote. */
  readonly #unpressed = new Map<TargetKey, number>();
  readonly #jobs = new Set<Promise<void>>();
  /** What follows from jobs that are done. */
  readonly #background = new Set<Promise<void>>();
  #state: BranchState;
  #feeding = false;
  #wake: (() => void) | undefined;
  #nextFlush = 1;
  #stopped: ((unpublished: number) => void) | undefined;

  constructor(options: { actions: BranchActions; clock: Clock; log: Log; byteCap: number; seen: boolean }) {
    this.#actions = options.actions;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#state = initialState({ byteCap: options.byteCap, seen: options.seen });
  }

  get state(): BranchState {
    return this.#state;
  }

  /** Takes an input; effects start before it returns. Safe to call from inside an effect. */
  feed(input: Input): void {
    this.#inputs.push(input);
    if (this.#feeding) return;
    this.#feeding = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        const result = step(this.#state, next, this.#clock.now());
        this.#state = result.state;
        for (const effect of result.effects) this.#carryOut(effect);
      }
    } finally {
      this.#feeding = false;
    }
    this.#relieve();
    this.#actions.changed(this.#state);
  }

  /** Feeds a change and waits while more is held in memory than the byte cap allows. */
  async accept(input: Input): Promise<void> {
    this.feed(input);
    const target = 'target' in input ? input.target : undefined;
    if (!this.#mustWait(target)) return;
    this.#log.debug({ heldBytes: heldBytes(this.#state) }, 'a stream waits until edits are published');
    await new Promise<void>((resume) => this.#waiting.push({ target, resume }));
  }

  /** Does work that waits for the streams of a target to end; meanwhile they do not wait for the remote. */
  async unpressed<Result>(target: TargetKey, work: () => Promise<Result>): Promise<Result> {
    this.#unpressed.set(target, (this.#unpressed.get(target) ?? 0) + 1);
    this.#relieve();
    try {
      return await work();
    } finally {
      const others = (this.#unpressed.get(target) ?? 1) - 1;
      if (others === 0) this.#unpressed.delete(target);
      else this.#unpressed.set(target, others);
    }
  }

  flush(deadlineAt: number): Promise<FlushAnswer> {
    if (this.#state.stopped) return Promise.resolve(stoppingAnswer);
    const id = this.#nextFlush++;
    return new Promise((resolve) => {
      this.#waiters.set(id, resolve);
      this.feed({ kind: 'flush', id, deadlineAt });
    });
  }

  /**
   * Publishes what it can until the deadline. Resolves with the number of writes that are not published. A job that hangs
   * beyond the deadline is left alone; whoever closes the repository ends it.
   */
  async stop(deadlineAt: number): Promise<number> {
    if (this.#state.stopped) return this.#state.queue.length;
    const unpublished = await new Promise<number>((resolve) => {
      this.#stopped = resolve;
      this.feed({ kind: 'stop', deadlineAt });
    });
    await Promise.all(this.#background);
    return unpublished;
  }

  /** Resolves once nothing of a stopped worker touches the repository any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#jobs);
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'fetch':
        this.#fetch();
        break;
      case 'commit':
        this.#commit(effect.base, effect.writes);
        break;
      case 'push':
        this.#push(effect.tip, effect.expected, effect.target);
        break;
      case 'confirmed':
        this.#afterwards(
          this.#actions.confirmed(effect.writes, effect.tip),
          'could not record what is published',
        );
        break;
      case 'rewritten':
        this.#afterwards(
          this.#actions.rewritten(effect.previous, effect.tip),
          'could not review lost commits',
        );
        break;
      case 'answer':
        this.#waiters.get(effect.flush)?.(effect.answer);
        this.#waiters.delete(effect.flush);
        break;
      case 'wake':
        this.#wakeAt(effect.at);
        break;
      case 'halted':
        this.#log.warn({ reason: effect.halt }, 'the branch stands still until a person has looked');
        break;
      case 'failing': {
        const { reason, message } = effect.failure;
        this.#log.warn(
          { reason, message, retryInMs: effect.retryAt - this.#clock.now() },
          'edits wait for another try',
        );
        break;
      }
      case 'stopped':
        this.#wake?.();
        this.#stopped?.(effect.unpublished);
        break;
    }
  }

  #fetch(): void {
    const { base, queue } = this.#state;
    const unpublished = queue.flatMap(({ commit }) => (typeof commit === 'string' ? [commit] : []));
    this.#job(
      this.#actions.fetch(base.kind === 'known' ? base.tip : undefined, unpublished),
      (result) => ({ kind: 'fetched', result }),
      (message) => ({ kind: 'fetched', result: { kind: 'failed', reason: 'RemoteUnreachable', message } }),
    );
  }

  #commit(base: string | null, writes: readonly Write[]): void {
    this.#job(
      this.#actions.commit(base, writes),
      (result) => ({ kind: 'committed', result }),
      (message) => ({ kind: 'committed', result: { kind: 'failed', reason: 'CommitFailed', message } }),
    );
  }

  #push(tip: string, expected: string | null, target: TargetKey): void {
    this.#job(
      this.#actions.push(tip, expected, target),
      (result) => ({ kind: 'pushed', result }),
      (message) => ({ kind: 'pushed', result: { kind: 'failed', reason: 'RemoteUnreachable', message } }),
    );
  }

  /** Runs a job and feeds its result. What it throws is a failure with a reason, never a silent end. */
  #job<Result>(
    job: Promise<Result>,
    taken: (result: Result) => Input,
    broken: (message: string) => Input,
  ): void {
    const done = job.then(
      (result) => this.feed(taken(result)),
      (error: unknown) => {
        this.#log.error({ err: error }, 'a job of the branch broke');
        this.feed(broken(error instanceof Error ? error.message : String(error)));
      },
    );
    track(this.#jobs, done);
  }

  #afterwards(work: Promise<void>, what: string): void {
    const done = work.catch((error: unknown) => this.#log.error({ err: error }, what));
    track(this.#background, done);
  }

  #wakeAt(at: number): void {
    this.#wake?.();
    this.#wake = this.#clock.after(Math.max(0, at - this.#clock.now()), () => this.feed({ kind: 'tick' }));
  }

  #mustWait(target: TargetKey | undefined): boolean {
    if (this.#state.stopped || (target !== undefined && this.#unpressed.has(target))) return false;
    return underPressure(this.#state);
  }

  #relieve(): void {
    const waiting = this.#waiting.splice(0);
    for (const one of waiting) {
      if (this.#mustWait(one.target)) this.#waiting.push(one);
      else one.resume();
    }
  }
}

function track(set: Set<Promise<void>>, work: Promise<void>): void {
  set.add(work);
  void work.finally(() => set.delete(work));
}
