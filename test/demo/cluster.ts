/** Where the demo runs: an API server of its own, a kind cluster, or the cluster of a kubeconfig. */
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { part } from '../cluster/parts.ts';
import { runOk } from '../cluster/run.ts';

export interface DemoCluster {
  readonly description: string;
  readonly kubeconfig: string;
  /** Undefined when the cluster is not ours: nothing is installed there but what the demo needs. */
  readonly plane?: ControlPlane;
  /** Runs kubectl; fails with its words. */
  kubectl(args: readonly string[], stdin?: string, env?: Readonly<Record<string, string>>): Promise<string>;
  stop(): Promise<void>;
}

const kindName = 'gitops-reverser-demo';

export async function demoCluster(): Promise<DemoCluster> {
  if (process.env.CLUSTER === 'kind') return kindCluster();
  const { KUBECONFIG } = process.env;
  if (KUBECONFIG !== undefined && KUBECONFIG !== '') {
    // The git server of the demo is on loopback: the sidecar runs beside it, so any reachable cluster will do.
    return withKubectl(`the cluster of ${KUBECONFIG}`, KUBECONFIG, 'kubectl', async () => {
      await runOk('kubectl', ['--kubeconfig', KUBECONFIG, 'delete', 'namespace', 'shop', '--wait=false']);
    });
  }
  const plane = await startControlPlane();
  const own = withKubectl(`${plane.url} (a process of its own)`, plane.kubeconfig, part('kubectl'), () =>
    plane.stop(),
  );
  return { ...own, plane };
}

/** Needs Docker and the `kind` program; not run where the project is tested, see docs/guide/demo.md. */
async function kindCluster(): Promise<DemoCluster> {
  const kubeconfig = `/tmp/${kindName}.kubeconfig`;
  await runOk(
    'kind',
    ['create', 'cluster', '--name', kindName, '--kubeconfig', kubeconfig, '--wait', '120s'],
    {
      timeoutMs: 600_000,
    },
  );
  return withKubectl(`kind cluster ${kindName}`, kubeconfig, 'kubectl', async () => {
    await runOk('kind', ['delete', 'cluster', '--name', kindName]);
  });
}

function withKubectl(
  description: string,
  kubeconfig: string,
  program: string,
  stop: () => Promise<void>,
): DemoCluster {
  return {
    description,
    kubeconfig,
    async kubectl(args, stdin, env = {}) {
      return runOk(program, args, {
        env: { ...process.env, KUBECONFIG: kubeconfig, ...env },
        ...(stdin === undefined ? {} : { stdin }),
      });
    },
    stop,
  };
}
