/** Clients of a real test cluster. */
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/core/json.ts';
import { createKubeClient, type KubeClient, type ObjectResult } from '../../src/kube/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { createTransport } from '../../src/kube/transport.ts';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { part } from '../cluster/parts.ts';
import { configOf } from './fault-server.ts';

/** Why no test cluster can start here, or undefined when one can. */
export function clusterMissing(): string | undefined {
  try {
    part('kube-apiserver');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'the test cluster is not built';
  }
}

export function clientFor(cluster: ControlPlane, user: string): KubeClient {
  const text = readFileSync(cluster.kubeconfigFor(user), 'utf8');
  return createKubeClient({
    transport: createTransport(() => configOf({ from: 'text', text }), systemClock),
    version: '0.0.0-test',
  });
}

/** The object of a call that has to succeed. */
export function ok(result: ObjectResult): JsonObject {
  if (result.kind !== 'ok') throw new Error(`${result.kind}: ${result.message}`);
  return result.object;
}
