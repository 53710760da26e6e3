/** From a rule to the first push of everything it watches, and then edits of one object and of many at once. */
import { git } from '../../cluster/git.ts';
import { many } from '../api-client.ts';
import { type BundledSidecar, quiet, startBundled } from '../bundled-sidecar.ts';
import { type Commit, floorGit } from '../floor-git.ts';
import { startIdle } from '../idle-delay.ts';
import { absoluteFigure, type Figure, inTurns, type Rounds, ratioFigure } from '../measure.ts';
import {
  type BenchTarget,
  configMapName,
  countFiles,
  createConfigMaps,
  createRule,
  createTarget,
  filesAt,
  mirrored,
  patchConfigMap,
  removeTarget,
} from '../objects.ts';
import { type RefWatch, watchRef } from '../remote-ref.ts';
import type { Bench } from './scenario.ts';

const publishMs = 120_000;
/** What a sidecar does after a push, status and records, is none of the next measurement. */
const calmMs = 400;
const burst = 200;
/** The gate answers from the same thread. */
const delayTargetMs = 20;

export interface MirrorOptions {
  readonly objects: number;
  readonly snapshotRounds: Rounds;
}

/** All measurements of one size of folder share its world, because filling it takes longer than measuring it. */
export async function mirrorScenario(bench: Bench, options: MirrorOptions): Promise<Figure[]> {
  const { world, api } = bench;
  const namespace = bench.fresh('objects');
  bench.progress(`making ${options.objects} ConfigMaps`);
  await createConfigMaps(api, namespace, options.objects);
  const sidecar = await startBundled(world);
  try {
    const { figures, target } = await snapshots(bench, sidecar, namespace, options);
    const files = await filesAt(target.bareDir, 'main');
    figures.push(await singleEdits(bench, sidecar, target, files));
    figures.push(await bursts(bench, sidecar, target, files));
    await removeTarget(api, target);
    return figures;
  } finally {
    await sidecar.stop();
  }
}

async function snapshots(
  bench: Bench,
  sidecar: BundledSidecar,
  namespace: string,
  { objects, snapshotRounds }: MirrorOptions,
): Promise<{ figures: Figure[]; target: BenchTarget }> {
  const { world, api } = bench;
  let target: BenchTarget | undefined;
  let files: Commit['files'] = [];
  const delays: number[] = [];
  const idleDelays: number[] = [];
  // What the machine does to anybody.
  const idle = startIdle();
  const times = await inTurns(snapshotRounds, {
    async ours(round) {
      if (target !== undefined) await removeTarget(api, target);
      target = await createTarget(world, api, namespace, bench.fresh('snapshot'));
      await quiet(sidecar, calmMs);
      await Promise.all([sidecar.loopDelay(), idle.p99()]);
      const took = await snapshot(bench, target, objects);
      const [ours, others] = await Promise.all([sidecar.loopDelay(), idle.p99()]);
      if (round >= snapshotRounds.warmUps) {
        delays.push(ours);
        idleDelays.push(others);
      }
      await mirrored(api, target);
      await quiet(sidecar, calmMs);
      bench.progress(`${objects} objects: pushed after ${took.toFixed(0)} ms`);
      if (files.length === 0) files = await filesAt(target.bareDir, 'main');
      return took;
    },
    async floor() {
      const floor = await floorGit(world.git, `${bench.fresh('floor')}.git`, readme);
      const since = performance.now();
      await pagedList(bench, namespace);
      const took = await floor.publish([{ files }], since);
      await floor.stop();
      bench.progress(`${objects} objects: floor ${took.toFixed(0)} ms`);
      return took;
    },
  });
  idle.stop();
  if (target === undefined) throw new Error('no snapshot was measured');
  const scenario = `snapshot-${objects}`;
  return {
    target,
    figures: [
      ratioFigure({ scenario, measure: 'rule to pushed' }, times.floor, times.ours, 2),
      absoluteFigure({ scenario, measure: 'event loop p99', unit: 'ms' }, delays, delayTargetMs, idleDelays),
    ],
  };
}

const readme: Commit = { files: [{ path: 'README.md', content: '# bench\n' }] };

async function snapshot({ api }: Bench, target: BenchTarget, objects: number): Promise<number> {
  const remote = watchRef(target.bareDir, 'main');
  let tip = remote.tip();
  const since = performance.now();
  await createRule(api, target);
  try {
    while (true) {
      const moved = await remote.moved(tip, publishMs);
      tip = moved.tip;
      if ((await countFiles(target.bareDir, tip)) > objects) return moved.at - since;
    }
  } finally {
    remote.close();
  }
}

async function pagedList({ api }: Bench, namespace: string): Promise<void> {
  for (let next: string | undefined = ''; next !== undefined; ) {
    const path = `/api/v1/namespaces/${namespace}/configmaps?limit=500&continue=${encodeURIComponent(next)}`;
    const page: { metadata: { continue?: string } } = JSON.parse(await api.send('GET', path));
    next = page.metadata.continue || undefined;
  }
}

/** From the API server's answer to the commit on the remote; the floor publishes the same bytes in as large a repository. */
async function singleEdits(
  bench: Bench,
  sidecar: BundledSidecar,
  target: BenchTarget,
  files: Commit['files'],
): Promise<Figure> {
  const floor = await floorGit(bench.world.git, `${bench.fresh('floor')}.git`, { files });
  const remote = watchRef(target.bareDir, 'main');
  const times = await inTurns(bench.rounds, {
    async ours(round) {
      await quiet(sidecar, calmMs);
      const before = remote.tip();
      await patchConfigMap(bench.api, target.namespace, round, `edit ${round}`);
      const since = performance.now();
      return (await remote.moved(before, publishMs)).at - since;
    },
    async floor(round) {
      await quiet(sidecar, calmMs);
      const prepared = floor.prepare([{ files: [await fileOf(target, files, round)] }]);
      return floor.publishPrepared(prepared, performance.now());
    },
  });
  remote.close();
  await floor.stop();
  bench.progress(`edits in ${files.length} files are measured`);
  return ratioFigure(
    { scenario: `edit-${files.length - 1}`, measure: 'edit to visible' },
    times.floor,
    times.ours,
    1.5,
  );
}

/** What stands on the remote of one object. */
async function fileOf(
  { bareDir }: BenchTarget,
  files: Commit['files'],
  index: number,
): Promise<{ path: string; content: string }> {
  const path = files.find((file) => file.path.endsWith(`/${configMapName(index)}.yaml`))?.path;
  if (path === undefined) throw new Error(`${configMapName(index)} was not mirrored`);
  return { path, content: await git(['cat-file', 'blob', `main:${path}`], { cwd: bareDir }) };
}

/** Many people at once: from the first request to the last of their commits on the remote. */
async function bursts(
  bench: Bench,
  sidecar: BundledSidecar,
  target: BenchTarget,
  files: Commit['files'],
): Promise<Figure> {
  const { api } = bench;
  const floor = await floorGit(bench.world.git, `${bench.fresh('floor')}.git`, { files });
  const bystander = bench.fresh('bystander');
  await createConfigMaps(api, bystander, burst);
  const remote = watchRef(target.bareDir, 'main');
  const times = await inTurns(
    { warmUps: 1, runs: bench.rounds.runs },
    {
      async ours(round) {
        await quiet(sidecar, calmMs);
        const before = remote.tip();
        const since = performance.now();
        const patched = many(burst, (index) =>
          patchConfigMap(api, target.namespace, index, `burst ${round}`),
        );
        const [at] = await Promise.all([lastCommit(target, remote, before), patched]);
        return at - since;
      },
      async floor(round) {
        await quiet(sidecar, calmMs);
        const changed = await Promise.all(
          Array.from({ length: burst }, (_unused, index) => fileOf(target, files, index)),
        );
        const prepared = floor.prepare(changed.map((file) => ({ files: [file] })));
        const since = performance.now();
        await many(burst, (index) => patchConfigMap(api, bystander, index, `burst ${round}`));
        return floor.publishPrepared(prepared, since);
      },
    },
  );
  remote.close();
  await floor.stop();
  bench.progress(`bursts of ${burst} edits are measured`);
  return ratioFigure(
    { scenario: `burst-${files.length - 1}`, measure: `${burst} edits at once` },
    times.floor,
    times.ours,
    2,
  );
}

async function lastCommit(target: BenchTarget, remote: RefWatch, before: string): Promise<number> {
  for (let tip = before; ; ) {
    const moved = await remote.moved(tip, publishMs);
    tip = moved.tip;
    const range = ['rev-list', '--count', `${before}..${tip}`];
    if (Number(await git(range, { cwd: target.bareDir })) >= burst) return moved.at;
  }
}
