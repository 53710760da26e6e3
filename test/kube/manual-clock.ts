/** A clock that stands still until a test moves it. */
import type { Clock } from '../../src/kube/clock.ts';

interface Timer {
  readonly at: number;
  readonly ms: number;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(Date.UTC(2026, 0, 1) + this.#now);
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** What each waiting timer was set to, in the order they were set. */
  waiting(): number[] {
    return [...this.#timers].map(({ ms }) => ms);
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    let timer = this.#next();
    while (timer !== undefined && timer.at <= until) {
      this.#fire(timer);
      timer = this.#next();
    }
    this.#now = until;
  }

  /** Moves to the timer that is due first, runs it, and returns what it was set to. */
  runNext(): number {
    const timer = this.#next();
    if (timer === undefined) throw new Error('no timer is waiting');
    this.#fire(timer);
    return timer.ms;
  }

  #next(): Timer | undefined {
    return [...this.#timers].sort((a, b) => a.at - b.at)[0];
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.run();
  }
}

/** Lets real input and output go on until `probe` holds; fails after fifteen seconds. */
export async function eventually(what: string, probe: () => boolean): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!probe()) {
    if (performance.now() > deadline) throw new Error(`still waiting for: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
