/** Reconciles a KubeProvider: reads its connection settings and tells whether they can be used. Nothing is dialled for it. */
import { kubeProviderConditions } from '../api/conditions.ts';
import type { KubeProviderStatus } from '../api/kube-provider.ts';
import { type Context, conflictMs, steadyMs, unconvergedMs } from './context.ts';
import { decideKubeProvider } from './decide-kube-provider.ts';
import { conditionsOf } from './gates.ts';
import { persist } from './persist.ts';
import { timestampOf } from './time.ts';

export async function reconcileKubeProvider(context: Context, key: string): Promise<number | undefined> {
  const { store, clusters, clock } = context;
  const provider = store.get('KubeProvider', key);
  if (provider === undefined || provider.metadata.deletionTimestamp !== undefined) {
    clusters.forget(key);
    return undefined;
  }
  const before = clusters.connection(key);
  const connection = await clusters.connect(provider);
  if (connection === undefined) return unconvergedMs;
  if (JSON.stringify(before) !== JSON.stringify(connection)) context.onCluster(key);
  const generation = provider.metadata.generation ?? 0;
  const now = timestampOf(clock.date());
  const decision = decideKubeProvider(connection);
  const status: KubeProviderStatus = {
    ...provider.status,
    observedGeneration: generation,
    conditions: conditionsOf(provider.status?.conditions, kubeProviderConditions, decision, generation, now),
  };
  return (await persist(context, 'KubeProvider', provider, status)) === 'conflict' ? conflictMs : steadyMs;
}
