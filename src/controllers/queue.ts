/**
 * What has to be looked at again. A key waits at most once, is worked on by one worker at a time, and comes back later when
 * its work failed or asked for it. Knows nothing of what a key means.
 */
import type { Clock } from '../kube/clock.ts';

export interface QueueOptions {
  readonly clock: Clock;
  /** Works on one key. Milliseconds until the key is wanted again, or undefined for never. What it throws is retried. */
  readonly work: (key: string) => Promise<number | undefined>;
  readonly onError: (key: string, error: unknown) => void;
  /** Keys worked on at the same time. Default 4. */
  readonly workers?: number;
}

interface Later {
  readonly at: number;
  readonly cancel: () => void;
}

const firstRetryMs = 500;
const lastRetryMs = 300_000;

export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #workers: number;
  /** Insertion order is the order of work. */
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #later = new Map<string, Later>();
  readonly #failures = new Map<string, number>();
  #starting = false;
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#workers = options.workers ?? 4;
  }

  get depth(): number {
    return this.#waiting.size;
  }

  /** Now. A key that is being worked on is worked on once more afterwards. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#waiting.add(key);
    this.#startSoon();
  }

  /** After a while, unless it is due earlier anyway. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const { clock } = this.#options;
    const at = clock.now() + delayMs;
    const planned = this.#later.get(key);
    if (planned !== undefined && planned.at <= at) return;
    planned?.cancel();
    const cancel = clock.after(delayMs, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, cancel });
  }

  /** Takes nothing new and waits for the work going on. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    await Promise.all(this.#running.values());
  }

  /** Whoever adds keys finishes first: many adds of one moment are one. */
  #startSoon(): void {
    if (this.#starting) return;
    this.#starting = true;
    queueMicrotask(() => {
      this.#starting = false;
      this.#start();
    });
  }

  #start(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#workers) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      // What was planned for later is decided anew by this run.
      this.#later.get(key)?.cancel();
      this.#later.delete(key);
      this.#running.set(key, this.#run(key));
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const again = await this.#options.work(key);
      this.#failures.delete(key);
      if (again !== undefined) this.addAfter(key, again);
    } catch (error) {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#options.onError(key, error);
      this.addAfter(key, Math.min(firstRetryMs * 2 ** Math.min(failures, 16), lastRetryMs));
    } finally {
      this.#running.delete(key);
      this.#startSoon();
    }
  }
}
