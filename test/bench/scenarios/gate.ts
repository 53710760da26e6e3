/** Answers of the gate beside the lists that their freshness rests on. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlCluster } from '../../../src/cli/control-cluster.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { freePort } from '../../cluster/port.ts';
import { tip } from '../../cluster/repository.ts';
import { type BundledSidecar, quiet, startBundled } from '../bundled-sidecar.ts';
import { floorGit } from '../floor-git.ts';
import { type IdleDelay, startIdle } from '../idle-delay.ts';
import { absoluteFigure, type Figure, inTurns, ratioFigure, tailFigure } from '../measure.ts';
import {
  type BenchTarget,
  configMapName,
  createConfigMaps,
  createRule,
  createTarget,
  filesAt,
  mirrored,
  patchConfigMap,
  reading,
  requestResync,
} from '../objects.ts';
import type { Bench } from './scenario.ts';

const objects = 2_000;
const many = 10_000;
const questions = 200;
const token = 'measured';
const deadlineMs = 60_000;

interface Gate {
  readonly sidecar: BundledSidecar;
  readonly idle: IdleDelay;
  /** Of the objects that are asked about. */
  readonly target: BenchTarget;
  /** Of others. */
  readonly other: BenchTarget;
  /** Asks once; the status and how long it took. */
  ask(): Promise<{ readonly status: number; readonly ms: number }>;
  /** The list that a fresh answer cannot do without. */
  list(): Promise<number>;
}

export function gateScenario(bench: Bench): Promise<Figure[]> {
  return withGate(bench, async (gate) => [
    ...(await nothingPending(bench, gate)),
    await onePending(bench, gate),
  ]);
}

export function gateResyncScenario(bench: Bench): Promise<Figure[]> {
  return withGate(bench, (gate) => whileResyncing(bench, gate));
}

async function withGate(bench: Bench, measure: (gate: Gate) => Promise<Figure[]>): Promise<Figure[]> {
  const { world, api } = bench;
  const [small, large] = [bench.fresh('small'), bench.fresh('large')];
  bench.progress(`making ${objects} and ${many} ConfigMaps`);
  await createConfigMaps(api, small, objects);
  await createConfigMaps(api, large, many);
  const gateAddress = `127.0.0.1:${await freePort()}`;
  const tokenFile = join(world.folder.path, 'gate-token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const sidecar = await startBundled(world, {
    flags: ['--gate-bind-address', gateAddress, '--gate-token-file', tokenFile],
  });
  const connected = controlCluster(world.cluster.kubeconfig, 'bench', systemClock);
  if (!connected.ok) throw new Error(connected.message);
  const { client } = connected;
  const idle = startIdle();
  try {
    const target = await createTarget(world, api, small, bench.fresh('gated'));
    await createRule(api, target);
    await mirrored(api, target);
    const other = await createTarget(world, api, large, bench.fresh('big'));
    await createRule(api, other);
    await mirrored(api, other);
    await quiet(sidecar, 10_000);

    let asked = 0;
    const gate: Gate = {
      ...{ sidecar, idle, target, other },
      async ask() {
        const question = {
          applier: 'argocd',
          application: { namespace: small, name: `application-${asked++}` },
          repoURL: world.git.url(`${target.name}.git`),
          targetRevision: 'main',
          revision: (await tip(target.bareDir, 'main')) ?? '',
          path: '',
          phase: 'render',
          deadlineMs,
        };
        const since = performance.now();
        const answer = await fetch(`http://${gateAddress}/v1/gate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify(question),
        });
        await answer.text();
        return { status: answer.status, ms: performance.now() - since };
      },
      async list() {
        const since = performance.now();
        const collection = { group: '', version: 'v1', resource: 'configmaps', namespace: small };
        const listed = await client.listVersions(collection);
        if (listed.kind !== 'ok') throw new Error(listed.message);
        return performance.now() - since;
      },
    };
    return await measure(gate);
  } finally {
    idle.stop();
    await client.close();
    await sidecar.stop();
  }
}

/** List and question take turns, so that both meet the same machine. */
async function inQuestions(gate: Gate, more: (count: number) => boolean) {
  const times = { lists: [] as number[], answers: [] as number[] };
  while (more(times.answers.length)) {
    times.lists.push(await gate.list());
    const { status, ms } = await gate.ask();
    if (status !== 200) throw new Error(`the gate answered ${status}, not 200, with nothing pending`);
    times.answers.push(ms);
  }
  return times;
}

async function nothingPending(bench: Bench, gate: Gate): Promise<Figure[]> {
  bench.progress(`asking ${questions} times with nothing pending`);
  await inQuestions(gate, (count) => count < 10);
  await delays(gate);
  const { lists, answers } = await inQuestions(gate, (count) => count < questions);
  const { ours, idle } = await delays(gate);
  return figures('gate', lists, answers, [ours], [idle]);
}

async function whileResyncing(bench: Bench, gate: Gate): Promise<Figure[]> {
  bench.progress(`asking while ${many} objects are read again`);
  const all = { lists: [] as number[], answers: [] as number[], ours: [] as number[], idle: [] as number[] };
  while (all.answers.length < questions) {
    await quiet(gate.sidecar, 300);
    await delays(gate);
    await requestResync(bench.api, gate.other);
    await reading(bench.api, gate.other);
    let goesOn = true;
    const ended = mirrored(bench.api, gate.other).then(() => {
      goesOn = false;
    });
    const { lists, answers } = await inQuestions(gate, () => goesOn);
    await ended;
    const { ours, idle } = await delays(gate);
    all.ours.push(ours);
    all.idle.push(idle);
    all.lists.push(...lists);
    all.answers.push(...answers);
  }
  return figures(`gate, ${many} objects resync`, all.lists, all.answers, all.ours, all.idle);
}

/** The p99 since the last look, of the process and of one that only waits beside it. */
async function delays({ sidecar, idle }: Gate): Promise<{ ours: number; idle: number }> {
  return { ours: await sidecar.loopDelay(), idle: await idle.p99() };
}

function figures(
  scenario: string,
  lists: readonly number[],
  answers: readonly number[],
  ours: readonly number[],
  idle: readonly number[],
): Figure[] {
  const tail = { most: 1.3, plusMs: 10 };
  return [
    tailFigure({ scenario, measure: 'nothing pending, p99' }, lists, answers, tail),
    absoluteFigure({ scenario, measure: 'event loop p99', unit: 'ms' }, ours, 20, idle),
  ];
}

async function onePending(bench: Bench, gate: Gate): Promise<Figure> {
  bench.progress('asking with one edit pending');
  const { world, api, rounds } = bench;
  const { target } = gate;
  const path = `${target.path}/${target.namespace}/configmaps/${configMapName(0)}.yaml`;
  const files = await filesAt(target.bareDir, 'main');
  const content = files.find((file) => file.path === path)?.content ?? Buffer.alloc(1_000);
  const floor = await floorGit(world.git, `${bench.fresh('floor')}.git`, { files });
  const times = await inTurns(rounds, {
    async ours(round) {
      await quiet(gate.sidecar, 300);
      await patchConfigMap(api, target.namespace, 0, `question ${round}`);
      // With a window of 0s the edit is on its way already; the answer has to wait for it all the same.
      const { status, ms } = await gate.ask();
      if (status !== 409) throw new Error(`the gate answered ${status}, not 409, with an edit pending`);
      return ms;
    },
    async floor(round) {
      const edited = Buffer.concat([content, Buffer.from(`# ${round}\n`)]);
      const prepared = floor.prepare([{ files: [{ path, content: edited }] }]);
      const listed = await gate.list();
      return listed + (await floor.publishPrepared(prepared, performance.now()));
    },
  });
  await floor.stop();
  return ratioFigure({ scenario: 'gate', measure: 'one edit pending' }, times.floor, times.ours, 1.3);
}
