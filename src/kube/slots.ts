/** A number of places; who asks waits until one is free, in the order of asking. */

/**
 * @returns a function that resolves with the place's release. After an abort it resolves at once, without a place.
 */
export function slots(count: number): (signal: AbortSignal) => Promise<() => void> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (signal) => {
    if (signal.aborted) return () => undefined;
    if (free > 0) {
      free -= 1;
      return releaseOnce();
    }
    return new Promise((resolve) => {
      const admit = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(releaseOnce());
      };
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(admit), 1);
        resolve(() => undefined);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(admit);
    });
  };

  function releaseOnce(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    };
  }
}
