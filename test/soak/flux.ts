/**
 * Edits around applies of the real Flux. One try: an apply starts (a drift correction, or a foreign push), and an object is
 * edited between two seconds before its start and shortly after its end. With us the edit must be in Git and live after one
 * further apply, and the foreign change too. `npx node test/soak/flux.ts [TRIES] [SEED]` runs both sides and prints what came
 * out; `make soak` does.
 */
import { isObject, type JsonObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { applyFolder, type GuardedWorld, startGuardedWorld } from '../e2e/flux/guarded.ts';
import { runSoak, type SoakOptions, type SoakResult, soakWith } from './tries.ts';

const kustomizations = { group: 'kustomize.toolkit.fluxcd.io', version: 'v1', resource: 'kustomizations' };
const gitRepositories = { group: 'source.toolkit.fluxcd.io', version: 'v1', resource: 'gitrepositories' };
const patience = { timeoutMs: 120_000, intervalMs: 100 };

export function soak(world: GuardedWorld, options: SoakOptions): Promise<SoakResult> {
  return soakWith(
    {
      quiet: 'drift correction',
      applyMs: { guarded: 1_500, none: 1_500 },
      prepare: (name, files, door) => applyFolder(world, { name, files, door }),
      start: (client, name, foreign) => request(client, foreign ? gitRepositories : kustomizations, name),
      busy,
      settled,
    },
    world.cluster.kubeconfig,
    options,
  );
}

async function busy(client: KubeClient, name: string): Promise<boolean> {
  const read = await client.get({ ...kustomizations, namespace: name, name });
  return read.kind === 'ok' && !isDone(read.object);
}

let requests = 0;

async function request(client: KubeClient, resource: typeof kustomizations, name: string): Promise<void> {
  const value = `${new Date().toISOString()}-${requests++}`;
  const body = { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': value } } };
  const patched = await client.patch({ ...resource, namespace: name, name }, { type: 'merge', body });
  if (patched.kind !== 'ok') throw new Error(patched.message);
}

/** Waits until Flux has handled what was asked of it, and, of a bare repository, has applied the tip. */
async function settled(client: KubeClient, name: string, bareDir: string | undefined): Promise<void> {
  let last = '';
  await until(
    `${name} is applied`,
    async () => {
      const [kustomization, source] = await Promise.all(
        [kustomizations, gitRepositories].map((resource) =>
          client.get({ ...resource, namespace: name, name }),
        ),
      );
      if (kustomization?.kind !== 'ok' || source?.kind !== 'ok') return false;
      const ready = [kustomization.object, source.object].every(isDone);
      const revision = String(valueAt(kustomization.object, ['status', 'lastAppliedRevision']));
      const fetched = String(valueAt(source.object, ['status', 'artifact', 'revision']));
      last = JSON.stringify(valueAt(kustomization.object, ['status', 'conditions']));
      return (
        ready &&
        revision === fetched &&
        (bareDir === undefined || revision.endsWith((await tip(bareDir, 'main')) ?? '?'))
      );
    },
    patience,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${last}`);
  });
}

/** Ready, and nothing asked of it is open. */
function isDone(object: JsonObject): boolean {
  const asked = valueAt(object, ['metadata', 'annotations', 'reconcile.fluxcd.io/requestedAt']);
  const handled = valueAt(object, ['status', 'lastHandledReconcileAt']);
  const conditions = valueAt(object, ['status', 'conditions']);
  const all = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  const says = (type: string, status: string) =>
    all.some((one) => one.type === type && one.status === status);
  return (asked === undefined || asked === handled) && says('Ready', 'True') && !says('Reconciling', 'True');
}

if (import.meta.main) {
  const world = await startGuardedWorld();
  try {
    process.exitCode = await runSoak('flux', (options) => soak(world, options), process.argv.slice(2));
  } finally {
    await world.stop();
  }
}
