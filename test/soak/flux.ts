/**
 * Edits at random moments around applies of the real Flux, again and again, with and without us.
 *
 * One try: an apply starts (a drift correction, or a foreign push), and an object is edited between two seconds before its
 * start and shortly after its end. With us the edit must be in Git and live after one further apply, and the foreign change
 * too. `node test/soak/flux.ts [TRIES] [SEED]` runs both sides and prints what came out; `make soak` does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { controlCluster } from '../../src/cli/control-cluster.ts';
import { isObject, type JsonObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { commitTo, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { applyFolder, type GuardedWorld, startGuardedWorld } from '../e2e/flux/guarded.ts';
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
  readonly seconds: number;
}

const kustomizations = { group: 'kustomize.toolkit.fluxcd.io', version: 'v1', resource: 'kustomizations' };
const gitRepositories = { group: 'source.toolkit.fluxcd.io', version: 'v1', resource: 'gitrepositories' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const patience = { timeoutMs: 120_000, intervalMs: 100 };

export async function soak(world: GuardedWorld, options: SoakOptions): Promise<SoakResult> {
  const { tries, folders, door, seed, log = () => undefined } = options;
  const connected = controlCluster(world.cluster.kubeconfig, 'soak', systemClock);
  if (!connected.ok) throw new Error(connected.message);
  const { client } = connected;
  const startedAt = performance.now();
  const lost: string[] = [];
  let next = 0;
  async function work(index: number): Promise<void> {
    const name = `${door === 'guarded' ? 'soak' : 'bare'}-${index}`;
    const files = {
      'apps/shop/web.yaml': deployment('web'),
      'apps/shop/queue.yaml': deployment('queue'),
      'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1' }),
    };
    const bareDir = await applyFolder(world, { name, files, door });
    for (let number = next++; number < tries; number = next++) {
      const random = generator(seed * 100_003 + number);
      const problem = await oneTry({ client, name, bareDir, number, random, door });
      if (problem !== undefined) lost.push(problem);
      log(`${door} ${number + 1}/${tries}${problem === undefined ? '' : ` LOST: ${problem}`}`);
    }
  }
  try {
    await Promise.all(Array.from({ length: folders }, (_one, index) => work(index)));
  } finally {
    await client.close();
  }
  return { tries, lost, seconds: Math.round((performance.now() - startedAt) / 1000) };
}

interface Try {
  readonly client: KubeClient;
  readonly name: string;
  readonly bareDir: string;
  readonly number: number;
  readonly random: () => number;
  readonly door: 'guarded' | 'none';
}

/** Returns what was lost. */
async function oneTry({ client, name, bareDir, number, random, door }: Try): Promise<string | undefined> {
  const foreign = random() < 0.5;
  const offsetMs = Math.round(random() * 3_500 - 2_000);
  const edit = random() < 0.5 ? replicasEdit(number) : rateEdit(number);
  const image = `nginx:f${number}`;
  const what = `try ${number} in ${name}: ${foreign ? 'foreign push' : 'drift correction'}, ${edit.what} ${offsetMs} ms after it began`;

  const startApply = async () => {
    if (!foreign) return void (await request(client, kustomizations, name));
    await push(bareDir, { 'apps/shop/queue.yaml': deployment('queue', { image }) });
    await request(client, gitRepositories, name);
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
    await startApply();
  } else {
    await startApply();
    await sleep(offsetMs);
    await makeEdit();
  }

  const live = async (): Promise<unknown> => {
    const read = await client.get({ ...edit.resource, namespace: name, name: edit.object });
    return read.kind === 'ok' ? valueAt(read.object, edit.path) : undefined;
  };
  if (door === 'none') {
    await settled(client, name, bareDir, false);
    return (await live()) === edit.value ? undefined : what;
  }
  await settled(client, name, bareDir, true);
  await request(client, kustomizations, name);
  await settled(client, name, bareDir, true);
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
  return wrong.length === 0 ? undefined : `${what}: ${wrong.join(', ')}`;
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

let requests = 0;

async function request(client: KubeClient, resource: typeof kustomizations, name: string): Promise<void> {
  const value = `${new Date().toISOString()}-${requests++}`;
  const body = { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': value } } };
  const patched = await client.patch({ ...resource, namespace: name, name }, { type: 'merge', body });
  if (patched.kind !== 'ok') throw new Error(patched.message);
}

/** Waits until Flux has handled what was asked of it, and, if told to, has applied the tip. */
async function settled(client: KubeClient, name: string, bareDir: string, atTip: boolean): Promise<void> {
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
        ready && revision === fetched && (!atTip || revision.endsWith((await tip(bareDir, 'main')) ?? '?'))
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
  const world = await startGuardedWorld();
  const log = (line: string) => console.log(line);
  console.log(`flux: ${tries} tries with and without us, seed ${seed}`);
  try {
    const guarded = await soak(world, { tries, seed, folders: 6, door: 'guarded', log });
    const bare = await soak(world, { tries: Math.min(tries, 60), seed, folders: 6, door: 'none' });
    for (const line of guarded.lost) console.log(line);
    console.log(`with us: ${guarded.lost.length} of ${guarded.tries} edits lost (${guarded.seconds} s)`);
    console.log(`without us: ${bare.lost.length} of ${bare.tries} edits lost (${bare.seconds} s)`);
    process.exitCode = guarded.lost.length === 0 ? 0 : 1;
  } finally {
    await world.stop();
  }
}
