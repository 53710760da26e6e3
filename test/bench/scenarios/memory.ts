/** Memory of the bundled process, and what a restart costs when nothing changed. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { git } from '../../cluster/git.ts';
import { runOk } from '../../cluster/run.ts';
import { until } from '../../cluster/wait.ts';
import { type BundledSidecar, quiet, startBundled } from '../bundled-sidecar.ts';
import { absoluteFigure, type Figure, inTurns, ratioFigure, spread } from '../measure.ts';
import {
  type BenchTarget,
  countFiles,
  createConfigMaps,
  createRule,
  createTarget,
  mirrored,
} from '../objects.ts';
import type { Bench } from './scenario.ts';

const few = 10;
const many = 10_000;
/** V8 gives memory back only some time after it was needed last. */
const settleMs = 30_000;
const restarts = { warmUps: 1, runs: 5 };
const restartFloor = join(import.meta.dirname, '../floor-restart.ts');

export async function memoryScenario(bench: Bench): Promise<Figure[]> {
  const { world, api } = bench;
  const [small, large] = [bench.fresh('small'), bench.fresh('large')];
  bench.progress(`making ${many} ConfigMaps`);
  await createConfigMaps(api, small, few);
  await createConfigMaps(api, large, many);
  let sidecar = await startBundled(world);
  try {
    await mirror(bench, small, few);
    const idle = await settled(bench, sidecar, 'with one small target');
    const target = await mirror(bench, large, many);
    const once = await settled(bench, sidecar, `with ${many} more objects`);
    await mirror(bench, large, many);
    const twice = await settled(bench, sidecar, `with ${2 * many} more objects`);
    const further = twice.map((value) => value - spread(once).median);
    const first = once.map((value) => value - spread(idle).median);
    const scenario = 'memory';
    const figures = [
      absoluteFigure({ scenario, measure: 'idle, one small target', unit: 'MB' }, idle, 110),
      absoluteFigure({ scenario, measure: `first ${many} objects`, unit: 'MB' }, first, 12),
      absoluteFigure({ scenario, measure: `further ${many} objects`, unit: 'MB' }, further, 12),
    ];

    const heads = await commitsOf(target);
    const times = await inTurns(restarts, {
      async ours() {
        await sidecar.stop();
        sidecar = await startBundled(world, { waitReady: false });
        const took = await streamsSettled(sidecar);
        await quiet(sidecar, 1_000);
        return took;
      },
      async floor() {
        const since = performance.now();
        const url = `${world.cluster.url}/api/v1/namespaces/${large}/configmaps`;
        const { caFile } = world.cluster;
        // Both targets watch all objects, so the floor reads them twice, too.
        const args = [restartFloor, url, caFile, target.bareDir, '2'];
        await runOk('node', args, { env: { ...process.env, BENCH_TOKEN: world.cluster.token('admin') } });
        return performance.now() - since;
      },
    });
    if ((await commitsOf(target)) !== heads) throw new Error('a restart with nothing changed made a commit');
    bench.progress('restarts made no commit');
    figures.push(
      ratioFigure(
        { scenario: 'restart', measure: `${2 * many} objects to settled` },
        times.floor,
        times.ours,
        3,
      ),
    );
    return figures;
  } finally {
    await sidecar.stop();
  }
}

/** Until all is on the remote: on a busy machine that is long after the streams run. */
async function mirror(bench: Bench, namespace: string, objects: number): Promise<BenchTarget> {
  const target = await createTarget(bench.world, bench.api, namespace, bench.fresh('target'));
  await createRule(bench.api, target);
  await mirrored(bench.api, target);
  // One more file is there from the start.
  const isPublished = async () => (await countFiles(target.bareDir, 'refs/heads/main')) > objects;
  await until('all objects are on the remote', isPublished, { timeoutMs: 120_000, intervalMs: 200 });
  return target;
}

async function settled(bench: Bench, sidecar: BundledSidecar, what: string): Promise<number[]> {
  await quiet(sidecar, settleMs);
  const seen = await sidecar.residentMegabytes();
  bench.progress(`${spread(seen).median.toFixed(0)} MB resident ${what}`);
  return seen;
}

async function commitsOf({ bareDir }: BenchTarget): Promise<string> {
  return git(['rev-parse', 'refs/heads/main'], { cwd: bareDir });
}

/** From the start of the process until the snapshots of all three targets are whole. */
async function streamsSettled(sidecar: BundledSidecar): Promise<number> {
  await until(
    'every snapshot is whole',
    async () => {
      const counts = await sidecar.metric('gitopsreverser_watch_replay_duration_seconds_count');
      return counts.reduce((sum, count) => sum + count, 0) >= 3;
    },
    { timeoutMs: 120_000, intervalMs: 20 },
  );
  const took = performance.now() - sidecar.startedAt;
  await pause(0);
  return took;
}
