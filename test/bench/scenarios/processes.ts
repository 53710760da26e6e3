/** How many git processes one edit costs, until everything that follows its push is done. */
import { quiet, startBundled } from '../bundled-sidecar.ts';
import { gitCounter } from '../git-counter.ts';
import { absoluteFigure, type Figure } from '../measure.ts';
import { createConfigMaps, createRule, createTarget, mirrored, patchConfigMap } from '../objects.ts';
import { watchRef } from '../remote-ref.ts';
import type { Bench } from './scenario.ts';

/** fast-import for the commit, the push, and fast-import for the handled state. */
const least = 3;
const calmMs = 1_000;

export async function processesScenario(bench: Bench): Promise<Figure[]> {
  const { world, api } = bench;
  const namespace = bench.fresh('objects');
  await createConfigMaps(api, namespace, 10);
  const counter = await gitCounter();
  const sidecar = await startBundled(world, { path: counter.path });
  try {
    const target = await createTarget(world, api, namespace, bench.fresh('target'));
    await createRule(api, target);
    await mirrored(api, target);
    const remote = watchRef(target.bareDir, 'main');
    const counts: number[] = [];
    for (let round = 0; round < bench.rounds.warmUps + bench.rounds.runs; round++) {
      await quiet(sidecar, calmMs);
      counter.taken();
      const before = remote.tip();
      await patchConfigMap(api, namespace, 0, `edit ${round}`);
      await remote.moved(before, 60_000);
      await quiet(sidecar, calmMs);
      const calls = counter.taken();
      if (round === bench.rounds.warmUps) bench.progress(`one edit runs git ${calls.join(', ')}`);
      if (round >= bench.rounds.warmUps) counts.push(calls.length);
    }
    remote.close();
    const name = { scenario: 'processes', measure: 'git processes per edit', unit: 'processes' as const };
    return [absoluteFigure(name, counts, least)];
  } finally {
    await sidecar.stop();
    await counter.remove();
  }
}
