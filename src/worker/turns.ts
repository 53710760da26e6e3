/**
 * The right of way on the one thread: answers that somebody waits for go before long work. Long work runs in slices, one of
 * all of it between two looks at the outside world; while answers are made it yields to them, but never for long.
 */
import type { Clock } from '../kube/clock.ts';

/** Whether long work tells what just happened, or what was there before. */
export type Work = 'live' | 'long';

/** Asked between two steps: what is returned has to be awaited before the work goes on; undefined while the slice lasts. */
export type Turn = (work?: Work) => Promise<void> | undefined;

const sliceMs = 4;
/** While answers are made, the long work has together one slice every so often: it is never starved. */
const everyMs = 20;

interface Waiting {
  readonly work: Work;
  resume(): void;
}

export class RightOfWay {
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #answers = 0;
  #scheduled = false;
  #lastSliceAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Does something for an answer that somebody waits for. It must not wait for long work: neither for a stream to tell
   * something nor for an edit to be planned.
   */
  async first<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#answers += 1;
    try {
      return await work();
    } finally {
      this.#answers -= 1;
      if (this.#answers === 0) {
        this.#cancelTimer?.();
        this.#cancelTimer = undefined;
        this.#schedule();
      }
    }
  }

  /** The turns of one piece of long work. What is live does not yield to answers: they may rest on it. */
  turns(): Turn {
    let startedAt = this.#clock.now();
    return (work = 'long') => {
      if (this.#clock.now() - startedAt < sliceMs) return undefined;
      return new Promise((resolve) => {
        const resume = () => {
          startedAt = this.#clock.now();
          resolve();
        };
        this.#waiting.push({ work, resume });
        this.#schedule();
      });
    };
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#letOneGo();
    });
  }

  #letOneGo(): void {
    const leftMs = this.#answers === 0 ? 0 : this.#lastSliceAt + everyMs - this.#clock.now();
    const index = leftMs <= 0 ? 0 : this.#waiting.findIndex(({ work }) => work === 'live');
    const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (next === undefined) {
      this.#waitFor(leftMs);
      return;
    }
    if (next.work === 'long') this.#lastSliceAt = this.#clock.now();
    next.resume();
    this.#schedule();
  }

  #waitFor(ms: number): void {
    if (this.#waiting.length === 0 || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.#cancelTimer = undefined;
      this.#schedule();
    });
  }
}

/** For steps of which many are long: true after every so many. */
export function every(count: number): () => boolean {
  let done = 0;
  return () => {
    done += 1;
    return done % count === 0;
  };
}

/** Everything else that waits for the thread has its turn. */
export function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
