/**
 * Measures the sidecar beside the least work anybody could do for the same result. Run: make bench, or
 * `npx node test/bench/bench.ts [--output json] [--runs N] [SCENARIO…]`. Loopback only; everything it starts ends with it.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startWorld } from '../e2e/sidecar.ts';
import { apiClient } from './api-client.ts';
import type { Figure } from './measure.ts';
import { asJson, asTable, machine } from './report.ts';
import { artifactScenario } from './scenarios/artifact.ts';
import { gateResyncScenario, gateScenario } from './scenarios/gate.ts';
import { layersScenario } from './scenarios/layers.ts';
import { memoryScenario } from './scenarios/memory.ts';
import { mirrorScenario } from './scenarios/mirror.ts';
import { processesScenario } from './scenarios/processes.ts';
import type { Bench, Scenario } from './scenarios/scenario.ts';
import { tightness } from './scenarios/tightness.ts';

const scenarios: Readonly<Record<string, Scenario>> = {
  'mirror-2000': (bench) =>
    mirrorScenario(bench, { objects: 2_000, snapshotRounds: { warmUps: 3, runs: 9 } }),
  'mirror-10000': (bench) =>
    mirrorScenario(bench, { objects: 10_000, snapshotRounds: { warmUps: 1, runs: 3 } }),
  processes: processesScenario,
  memory: memoryScenario,
  gate: gateScenario,
  'gate-resync': gateResyncScenario,
  artifact: artifactScenario,
};
/** Those that need no cluster. */
const plain: Readonly<
  Record<string, (progress: (text: string) => void) => readonly Figure[] | Promise<readonly Figure[]>>
> = {
  tightness,
  layers: (progress) => layersScenario({ warmUps: 1, runs: 5 }, progress),
};

const { values, positionals } = parseArgs({
  options: { output: { type: 'string', default: 'table' }, runs: { type: 'string', default: '9' } },
  allowPositionals: true,
});
const all = [...Object.keys(plain), ...Object.keys(scenarios)];
const names = positionals.length === 0 ? all : positionals;
const runs = Number(values.runs);
if (
  !names.every((name) => all.includes(name)) ||
  !['table', 'json'].includes(values.output) ||
  !(runs >= 1 && runs <= 100)
) {
  console.error('usage: npx node test/bench/bench.ts [--output table|json] [--runs 1..100] [SCENARIO…]');
  console.error(`scenarios: ${all.join(' ')}`);
  process.exit(2);
}

const loadBefore = loadavg()[0] ?? 0;
const figures: Figure[] = [];
for (const name of names) figures.push(...(await measure(name)));
const about = machine(loadBefore);
process.stdout.write(values.output === 'json' ? asJson(figures, about) : asTable(figures, about));

/** Each scenario has a world of its own: what one leaves behind must not slow the next. */
async function measure(name: string): Promise<readonly Figure[]> {
  const progress = (text: string) => console.error(`${name}: ${text}`);
  const scenario = scenarios[name];
  const alone = plain[name];
  if (alone !== undefined) return alone(progress);
  if (scenario === undefined) throw new Error(`${name} is no scenario`);
  progress('starting a control plane and a git server');
  const world = await startWorld();
  const api = apiClient(world.cluster);
  let count = 0;
  const bench: Bench = {
    world,
    api,
    rounds: { warmUps: 3, runs },
    progress,
    fresh: (what) => `${what}-${count++}`,
  };
  try {
    return await scenario(bench);
  } finally {
    api.close();
    await world.stop();
  }
}
