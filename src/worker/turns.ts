/** Turns of a thread: long work asks between its steps, and everything else on the thread goes first once a slice is over. */

/** As long as a slice of the streams: whoever waits for an answer waits for one slice of each at most. */
const sliceMs = 8;

/** What is returned has to be awaited before the work goes on; undefined while the slice lasts. */
export function takingTurns(now: () => number): () => Promise<void> | undefined {
  let startedAt = now();
  return () => {
    if (now() - startedAt < sliceMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        startedAt = now();
        resolve();
      });
    });
  };
}
