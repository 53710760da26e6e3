/** Keeps journeys apart that need the same names on the server, and bounds how many are on their way. */

export interface Locks {
  /** Runs when none of the names is taken by an earlier one. */
  run<T>(names: Iterable<string>, work: () => Promise<T>): Promise<T>;
}

export function createLocks(limit: number): Locks {
  const tails = new Map<string, Promise<unknown>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function enter(): Promise<void> {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return {
    run(names, work) {
      const taken = [...new Set(names)];
      const earlier = taken.map((name) => tails.get(name));
      const done = Promise.allSettled(earlier).then(async () => {
        await enter();
        try {
          return await work();
        } finally {
          leave();
        }
      });
      for (const name of taken) tails.set(name, done);
      return done;
    },
  };
}
