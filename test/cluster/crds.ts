/** Waits until the API server serves new kinds. */
import { kubectl } from './kubectl.ts';
import { until } from './wait.ts';

const timeoutMs = 60_000;

/** @param selection what `kubectl wait` takes: `-f FILE`, names, or `crd --all` */
export async function served(
  cluster: { kubeconfigFor(user: string): string },
  what: string,
  ...selection: string[]
): Promise<void> {
  const wait = ['wait', '--for=condition=Established', '--timeout=30s', ...selection];
  // kubectl fails at once on a CRD that has no conditions yet, so it is asked again.
  await until(`${what} are served`, async () => (await kubectl(cluster, wait)).code === 0, { timeoutMs });
}
