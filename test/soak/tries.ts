/**
 * Edits at random moments around applies, again and again: what a try is, whichever applier applies. The files beside this
 * one say how an apply is started and when it has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { controlCluster } from '../../src/cli/control-cluster.ts';
import { isObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { commitTo, readFile } from '../cluster/repository.ts';
import { deployment } from '../e2e/shop.ts';
import { deployments, type EditedFolder, editedFolder, filesOf, someEdit } from './edits.ts';

/** `guarded`: with us. `none`: the same applier without a door, and nobody who mirrors. */
export type DoorKind = 'guarded' | 'none';

export interface SoakOptions {
  readonly tries: number;
  readonly seed: number;
  /** Worked on at the same time. */
  readonly folders: number;
  readonly door: DoorKind;
  readonly log?: (line: string) => void;
}

export interface SoakResult {
  readonly tries: number;
  /** A line per edit that was lost. */
  readonly lost: readonly string[];
  /** Tries in which the edit came while the apply was at work. */
  readonly during: number;
  readonly seconds: number;
}

/** One applier, as far as a try must know it. */
export interface SoakApplier {
  /** What an apply without a foreign push is. */
  readonly quiet: string;
  /** How long an apply takes, roughly. */
  readonly applyMs: Readonly<Record<DoorKind, number>>;
  /** Makes the folder and lets it be applied once. Returns the bare repository. */
  prepare(name: string, files: Readonly<Record<string, string>>, door: DoorKind): Promise<string>;
  /** Asks for an apply; `foreign` after somebody has pushed. */
  start(client: KubeClient, name: string, foreign: boolean): Promise<void>;
  busy(client: KubeClient, name: string): Promise<boolean>;
  /** Waits until nothing is being applied any more; of the tip when a bare repository is given. */
  settled(client: KubeClient, name: string, bareDir: string | undefined): Promise<void>;
}

/** An edit is made this long before the start of an apply at the earliest. */
const beforeMs = 2_000;

export async function soakWith(
  applier: SoakApplier,
  kubeconfig: string,
  { tries, folders, door, seed, log = () => undefined }: SoakOptions,
): Promise<SoakResult> {
  const connected = controlCluster(kubeconfig, 'soak', systemClock);
  if (!connected.ok) throw new Error(connected.message);
  const { client } = connected;
  const startedAt = performance.now();
  const lost: string[] = [];
  let during = 0;
  let next = 0;
  async function work(index: number): Promise<void> {
    const name = `${door === 'guarded' ? 'soak' : 'bare'}-${index}`;
    const folder = editedFolder(name);
    const bareDir = await applier.prepare(name, filesOf(folder), door);
    for (let number = next++; number < tries; number = next++) {
      const random = generator(seed * 100_003 + number);
      const result = await oneTry({ applier, client, folder, bareDir, number, random, door });
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

/** Both sides, printed; for the command line. Returns the exit code. */
export async function runSoak(
  name: string,
  soak: (options: SoakOptions) => Promise<SoakResult>,
  [triesText = '200', seedText = `${Date.now() % 100_000}`]: readonly string[],
): Promise<number> {
  const [tries, seed] = [Number(triesText), Number(seedText)];
  console.log(`${name}: ${tries} tries with and without us, seed ${seed}`);
  const log = (line: string) => console.log(line);
  const guarded = await soak({ tries, seed, folders: 6, door: 'guarded', log });
  const bare = await soak({ tries: Math.min(tries, 60), seed, folders: 6, door: 'none' });
  for (const line of guarded.lost) console.log(line);
  for (const [who, { lost, tries: all, during, seconds }] of [
    ['with us', guarded],
    ['without us', bare],
  ] as const) {
    console.log(`${who}: ${lost.length} of ${all} edits lost, ${during} made during an apply (${seconds} s)`);
  }
  return guarded.lost.length === 0 ? 0 : 1;
}

interface Try {
  readonly applier: SoakApplier;
  readonly client: KubeClient;
  readonly folder: EditedFolder;
  readonly bareDir: string;
  readonly number: number;
  readonly random: () => number;
  readonly door: DoorKind;
}

interface TryResult {
  readonly problem: string | undefined;
  readonly during: boolean;
}

async function oneTry({ applier, client, folder, bareDir, number, random, door }: Try): Promise<TryResult> {
  const { name } = folder;
  const foreign = random() < 0.5;
  const offsetMs = Math.round(random() * (beforeMs + applier.applyMs[door]) - beforeMs);
  const edit = someEdit(folder, number, random);
  const image = `nginx:f${number}`;
  const what = `try ${number} in ${name}: ${foreign ? 'foreign push' : applier.quiet}, ${edit.what} ${offsetMs} ms after it began`;
  let during = false;

  const startApply = async () => {
    if (foreign) await push(bareDir, { 'apps/shop/queue.yaml': deployment('queue', { image }) });
    await applier.start(client, name, foreign);
  };
  const makeEdit = async () => {
    const made = await edit.make(client);
    if (made.kind !== 'ok') throw new Error(`${what}: the edit was refused: ${made.message}`);
  };
  if (offsetMs < 0) {
    await makeEdit();
    await sleep(-offsetMs);
    await startApply();
  } else {
    await startApply();
    await sleep(offsetMs);
    during = await applier.busy(client, name);
    await makeEdit();
  }

  await applier.settled(client, name, undefined);
  if (door === 'none') return { problem: (await edit.isLive(client)) ? undefined : what, during };
  await applier.start(client, name, false);
  await applier.settled(client, name, bareDir);
  const [isLive, isInGit, queue = ''] = await Promise.all([
    edit.isLive(client),
    edit.isInGit(bareDir),
    readFile(bareDir, 'main', 'apps/shop/queue.yaml'),
  ]);
  const wrong = [
    ...(isLive ? [] : ['it is not live']),
    ...(isInGit ? [] : ['Git does not hold it']),
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
