/** A wait that somebody can cut short: what is waited for is usually told, and looked up when it is not. */
import type { Clock } from '../kube/clock.ts';

export class Alarm {
  readonly #clock: Clock;
  #wake: () => void = () => undefined;
  #rung = false;
  #off = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the wait that goes on, or the next one. */
  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Ends every wait from now on. */
  off(): void {
    this.#off = true;
    this.#wake();
  }

  get isOff(): boolean {
    return this.#off;
  }

  wait(ms: number): Promise<void> {
    if (this.#off || this.#rung || ms <= 0) {
      this.#rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#rung = false;
        this.#wake = () => undefined;
        resolve();
      };
      const cancel = this.#clock.after(ms, done);
      this.#wake = done;
    });
  }
}
