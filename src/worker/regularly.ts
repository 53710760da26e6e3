/** Work that is done again and again while nobody calls it off. */
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';

/** @param intervalMs 0: never. Returns what calls it off. */
export function regularly(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  intervalMs: number,
  look: () => Promise<unknown>,
): () => void {
  if (intervalMs === 0) return () => undefined;
  let cancel: () => void = () => undefined;
  const again = () => {
    cancel = clock.after(intervalMs, () => {
      look().catch((error: unknown) =>
        log.error({ err: error }, 'could not look at a remote, or keep its copy in shape'),
      );
      again();
    });
  };
  again();
  return () => cancel();
}
