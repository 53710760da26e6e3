/** Stands in for the workers where a test is about the controllers: keeps what it was asked, and says what the test tells it to. */
import type {
  BranchObservation,
  FlushReport,
  Mirror,
  MirrorEvent,
  MirrorSpec,
  TargetObservation,
} from '../../src/worker/mirror-spec.ts';

export const quietBranch: BranchObservation = {
  tip: 'a'.repeat(40),
  verifiedAt: Date.UTC(2026, 0, 1),
  verifiedBy: 'Fetch',
  lastPushedCommit: undefined,
  lastPushedAt: undefined,
  failure: undefined,
  retryAt: undefined,
  halt: undefined,
  pendingWrites: 0,
  pendingObjects: 0,
};

export const doneFlush: FlushReport = {
  tip: 'a'.repeat(40),
  published: [],
  refused: [],
  pending: 0,
  closed: undefined,
};

export class RecordingMirror implements Mirror {
  /** Every wanted set, oldest first. */
  readonly applied: (readonly MirrorSpec[])[] = [];
  readonly flushed: { readonly target: string; readonly deadlineAt: number }[] = [];
  /** Changes of what a running target is seen to be; by key. */
  readonly seen = new Map<string, Partial<TargetObservation>>();
  flushAnswer: (target: string) => Promise<FlushReport> = async () => doneFlush;
  readonly #listeners = new Set<(target: string) => void>();
  readonly #eventListeners = new Set<(event: MirrorEvent) => void>();

  spec(key: string): MirrorSpec | undefined {
    return this.applied.at(-1)?.find((spec) => spec.key === key);
  }

  apply(specs: readonly MirrorSpec[]): void {
    this.applied.push(specs);
    for (const { key } of specs) this.#tell(key);
  }

  observe(key: string): TargetObservation | undefined {
    const spec = this.spec(key);
    if (spec === undefined) return undefined;
    return {
      branch: quietBranch,
      streams: spec.collections.map((collection) => ({ collection, state: { phase: 'streaming' } })),
      folder: { commit: 'a'.repeat(40), refusals: [], skipped: [], documents: 0 },
      refused: [],
      retained: 0,
      notices: [],
      ...this.seen.get(key),
    };
  }

  /** Changes what a target is seen to be, and tells the controllers. */
  change(key: string, seen: Partial<TargetObservation>): void {
    this.seen.set(key, { ...this.seen.get(key), ...seen });
    this.#tell(key);
  }

  emit(event: MirrorEvent): void {
    for (const listener of this.#eventListeners) listener(event);
  }

  async flush(target: string, deadlineAt: number): Promise<FlushReport> {
    this.flushed.push({ target, deadlineAt });
    return await this.flushAnswer(target);
  }

  onChange(listener: (target: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onEvent(listener: (event: MirrorEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  mark(): undefined {
    return undefined;
  }

  async examine(): Promise<undefined> {
    return undefined;
  }

  async defaultBranch(): Promise<undefined> {
    return undefined;
  }

  async stop(): Promise<number> {
    return 0;
  }

  #tell(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
