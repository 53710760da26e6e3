/**
 * Edits at random moments around syncs of the real Argo CD, again and again, with and without us.
 *
 * One try: a sync is started by hand, of a commit whose manifests are cached or of a foreign push, and an object is edited
 * between two seconds before its start and its end. With us the edit must be in Git and live after one further sync, and the
 * foreign change too. `node test/soak/argocd.ts [TRIES] [SEED]` runs both sides and prints what came out; `make soak` does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { controlCluster } from '../../src/cli/control-cluster.ts';
import { isObject, type JsonObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { commitTo, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { type ArgocdWorld, startArgocdWorld, syncFolder } from '../e2e/argocd/guarded.ts';
import { configMap, deployment } from '../e2e/shop.ts';

export interface SoakOptions {
  readonly tries: number;
  readonly seed: number;
  /** Worked on at the same time. */
  readonly folders: number;
  readonly door: 'guarded' | 'none';
  readonly log?: (line: string) => void;
}

export interface SoakResult {
  readonly tries: number;
  /** A line per edit that was lost. */
  readonly lost: readonly string[];
  /** Tries in which the edit came while the sync was at work. */
  readonly during: number;
  readonly seconds: number;
}

const applications = { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const patience = { timeoutMs: 180_000, intervalMs: 150 };
/** How long a sync takes, roughly: without a gate there is no hook to make anew. */
const syncMs = { guarded: 6_000, none: 800 };

export async function soak(world: ArgocdWorld, options: SoakOptions): Promise<SoakResult> {
  const { tries, folders, door, seed, log = () => undefined } = options;
  const connected = controlCluster(world.cluster.kubeconfig, 'soak', systemClock);
  if (!connected.ok) throw new Error(connected.message);
  const { client } = connected;
  const startedAt = performance.now();
  const lost: string[] = [];
  let during = 0;
  let next = 0;
  async function work(index: number): Promise<void> {
    const name = `${door === 'guarded' ? 'soak' : 'bare'}-${index}`;
    const files = {
      'apps/shop/web.yaml': deployment('web'),
      'apps/shop/queue.yaml': deployment('queue'),
      'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
    };
    const bareDir = await syncFolder(world, { name, files, door });
    for (let number = next++; number < tries; number = next++) {
      const random = generator(seed * 100_003 + number);
      const result = await oneTry({ client, name, bareDir, number, random, door });
      if (result.problem !== undefined) lost.push(result.problem);
      if (result.during) during += 1;
      log(`${door} ${number + 1}/${tries}${result.problem === undefined ? '' : ` LOST: ${result.problem}`}`);
    }
  }
  try {
    await Promise.all(Array.from({ length: folders }, (_one, index) => work(index)));
  } finally {
    await client.close();
  }
  return { tries, lost, during, seconds: Math.round((performance.now() - startedAt) / 1000) };
}

interface Try {
  readonly client: KubeClient;
  readonly name: string;
  readonly bareDir: string;
  readonly number: number;
  readonly random: () => number;
  readonly door: 'guarded' | 'none';
}

interface TryResult {
  readonly problem: string | undefined;
  readonly during: boolean;
}

async function oneTry({ client, name, bareDir, number, random, door }: Try): Promise<TryResult> {
  const foreign = random() < 0.5;
  const offsetMs = Math.round(random() * (2_000 + syncMs[door]) - 2_000);
  const edit = random() < 0.5 ? replicasEdit(number) : rateEdit(number);
  const image = `nginx:f${number}`;
  const what = `try ${number} in ${name}: ${foreign ? 'foreign push' : 'cached manifests'}, ${edit.what} ${offsetMs} ms after it began`;
  let during = false;

  const startSync = async () => {
    if (foreign) await push(bareDir, { 'apps/shop/queue.yaml': deployment('queue', { image }) });
    await start(client, name);
  };
  const makeEdit = async () => {
    const patched = await client.patch(
      { ...edit.resource, namespace: name, name: edit.object },
      { type: 'merge', body: edit.body },
      { fieldManager: 'kubectl-edit' },
    );
    if (patched.kind !== 'ok') throw new Error(`${what}: the edit was refused: ${patched.message}`);
  };
  if (offsetMs < 0) {
    await makeEdit();
    await sleep(-offsetMs);
    await startSync();
  } else {
    await startSync();
    await sleep(offsetMs);
    during = (await stateOf(client, name)).busy;
    await makeEdit();
  }

  const live = async (): Promise<unknown> => {
    const read = await client.get({ ...edit.resource, namespace: name, name: edit.object });
    return read.kind === 'ok' ? valueAt(read.object, edit.path) : undefined;
  };
  await settled(client, name);
  if (door === 'none') return { problem: (await live()) === edit.value ? undefined : what, during };
  await start(client, name);
  await settled(client, name, bareDir);
  const [value, file = '', queue = ''] = await Promise.all([
    live(),
    readFile(bareDir, 'main', edit.file),
    readFile(bareDir, 'main', 'apps/shop/queue.yaml'),
  ]);
  const wrong = [
    ...(value === edit.value ? [] : [`live is ${value}`]),
    ...(edit.inGit.test(file) ? [] : ['Git does not hold it']),
    ...(!foreign || queue.includes(image) ? [] : ['the foreign change is not in Git']),
    ...(!foreign || (await imageOf(client, name)) === image ? [] : ['the foreign change is not live']),
  ];
  return { problem: wrong.length === 0 ? undefined : `${what}: ${wrong.join(', ')}`, during };
}

/** Somebody else pushes. When the sidecar was faster they do what people do: the same again on the new tip. */
async function push(bareDir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await commitTo(bareDir, 'main', files);
      return;
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

interface Edit {
  readonly what: string;
  readonly resource: typeof deployments;
  readonly object: string;
  readonly body: JsonObject;
  readonly path: readonly string[];
  readonly value: unknown;
  readonly file: string;
  readonly inGit: RegExp;
}

function replicasEdit(number: number): Edit {
  const replicas = 3 + number;
  return {
    what: `replicas ${replicas}`,
    resource: deployments,
    object: 'web',
    body: { spec: { replicas } },
    path: ['spec', 'replicas'],
    value: replicas,
    file: 'apps/shop/web.yaml',
    inGit: new RegExp(`^ {2}replicas: ${replicas} `, 'm'),
  };
}

function rateEdit(number: number): Edit {
  const eur = `${1_000 + number}`;
  return {
    what: `eur ${eur}`,
    resource: configMaps,
    object: 'rates',
    body: { data: { eur } },
    path: ['data', 'eur'],
    value: eur,
    file: 'apps/shop/rates.yaml',
    inGit: new RegExp(`eur: "${eur}"`),
  };
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
  const operation = { initiatedBy: { username: 'soak' }, sync: { syncStrategy: { hook: {} } } };
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
async function settled(client: KubeClient, name: string, bareDir?: string): Promise<void> {
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

async function imageOf(client: KubeClient, name: string): Promise<unknown> {
  const read = await client.get({ ...deployments, namespace: name, name: 'queue' });
  if (read.kind !== 'ok') return undefined;
  const containers = valueAt(read.object, ['spec', 'template', 'spec', 'containers']);
  const first = Array.isArray(containers) ? containers[0] : undefined;
  return isObject(first) ? first.image : undefined;
}

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

if (import.meta.main) {
  const tries = Number(process.argv[2] ?? 200);
  const seed = Number(process.argv[3] ?? Date.now() % 100_000);
  const world = await startArgocdWorld();
  const log = (line: string) => console.log(line);
  console.log(`argocd: ${tries} tries with and without us, seed ${seed}`);
  try {
    const guarded = await soak(world, { tries, seed, folders: 6, door: 'guarded', log });
    const bare = await soak(world, { tries: Math.min(tries, 60), seed, folders: 6, door: 'none' });
    for (const line of guarded.lost) console.log(line);
    for (const [who, { lost, tries: all, during, seconds }] of [
      ['with us', guarded],
      ['without us', bare],
    ] as const) {
      console.log(`${who}: ${lost.length} of ${all} edits lost, ${during} made during a sync (${seconds} s)`);
    }
    process.exitCode = guarded.lost.length === 0 ? 0 : 1;
  } finally {
    await world.stop();
  }
}
