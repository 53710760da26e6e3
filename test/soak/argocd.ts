/**
 * Edits around syncs of the real Argo CD. One try: a sync is started by hand, of a commit whose manifests are cached or of a
 * foreign push, and an object is edited between two seconds before its start and its end. With us the edit must be in Git
 * and live after one further sync, and the foreign change too. `npx node test/soak/argocd.ts [TRIES] [SEED]` runs both sides and
 * prints what came out; `make soak` does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { type ArgocdWorld, startArgocdWorld, syncFolder } from '../e2e/argocd/guarded.ts';
import { runSoak, type SoakOptions, type SoakResult, soakWith } from './tries.ts';

const applications = { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' };
const patience = { timeoutMs: 180_000, intervalMs: 150 };

export function soak(world: ArgocdWorld, options: SoakOptions): Promise<SoakResult> {
  return soakWith(
    {
      quiet: 'cached manifests',
      // Without a gate there is no hook to make anew.
      applyMs: { guarded: 6_000, none: 800 },
      prepare: (name, files, door) => syncFolder(world, { name, files, door }),
      start,
      busy: async (client, name) => (await stateOf(client, name)).busy,
      settled,
    },
    world.cluster.kubeconfig,
    options,
  );
}

interface State {
  readonly busy: boolean;
  readonly phase: string;
  readonly revision: string;
  readonly resourceVersion: string;
  readonly message: string;
}

async function stateOf(client: KubeClient, name: string): Promise<State> {
  const read = await client.get({ ...applications, namespace: 'argocd', name });
  if (read.kind !== 'ok') throw new Error(read.message);
  const state = (field: string) => String(valueAt(read.object, ['status', 'operationState', field]) ?? '');
  const phase = state('phase');
  return {
    busy: isObject(read.object.operation) || phase === 'Running' || phase === 'Terminating',
    phase,
    revision: String(valueAt(read.object, ['status', 'operationState', 'syncResult', 'revision']) ?? ''),
    resourceVersion: String(valueAt(read.object, ['metadata', 'resourceVersion'])),
    message: state('message'),
  };
}

/** Asks for a sync of the branch, as a click in the UI does, once nothing else runs. */
async function start(client: KubeClient, name: string): Promise<void> {
  const operation = { initiatedBy: { username: 'soak' }, sync: { prune: true, syncStrategy: { hook: {} } } };
  await until(
    `a sync of ${name} may start`,
    async () => {
      const { busy, resourceVersion } = await stateOf(client, name);
      if (busy) return false;
      const body = { metadata: { resourceVersion }, operation };
      const ref = { ...applications, namespace: 'argocd', name };
      return (await client.patch(ref, { type: 'merge', body })).kind === 'ok';
    },
    patience,
  );
}

/** Waits until no sync runs any more; with a repository, until the newest one has succeeded at the tip. */
async function settled(client: KubeClient, name: string, bareDir: string | undefined): Promise<void> {
  let last: State | undefined;
  await until(
    `${name} is synced`,
    async () => {
      last = await stateOf(client, name);
      if (last.busy || last.phase === '') return false;
      if (bareDir !== undefined)
        return last.phase === 'Succeeded' && last.revision === (await tip(bareDir, 'main'));
      // A sync that was superseded is started again at once.
      await sleep(500);
      return !(await stateOf(client, name)).busy;
    },
    patience,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${JSON.stringify(last)}`);
  });
}

if (import.meta.main) {
  const world = await startArgocdWorld();
  try {
    process.exitCode = await runSoak('argocd', (options) => soak(world, options), process.argv.slice(2));
  } finally {
    await world.stop();
  }
}
