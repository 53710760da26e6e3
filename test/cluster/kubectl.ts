/** kubectl against a test cluster. */
import { part } from './parts.ts';
import { type RunResult, run } from './run.ts';

export interface KubectlOptions {
  /** What `-f -` reads. */
  readonly stdin?: string;
  /** Whose token to use; the administrator's by default. */
  readonly user?: string;
}

/** Runs kubectl as a user of the cluster. A non-zero exit code is a value, not an error. */
export function kubectl(
  cluster: { kubeconfigFor(user: string): string },
  args: readonly string[],
  { stdin = '', user = 'admin' }: KubectlOptions = {},
): Promise<RunResult> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigFor(user), KUBECTL_KUBERC: 'false' };
  return run(part('kubectl'), args, { stdin, env });
}
