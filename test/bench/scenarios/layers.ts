/**
 * Edits of overlays, planned by the function the sidecar calls, beside the least work for them: the builds themselves. Needs no
 * cluster.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readLocalTree } from '../../../src/cli/local-tree.ts';
import { createIndexCache } from '../../../src/core/folder/index.ts';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import { createRenderCache, type Render, type RenderCache } from '../../../src/core/kustomize/index.ts';
import { builtinResource, type Change, plan } from '../../../src/core/plan/index.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';
import { createKustomize } from '../../../src/render/index.ts';
import { part } from '../../cluster/parts.ts';
import { runOk } from '../../cluster/run.ts';
import { absoluteFigure, type Figure, inTurns, type Rounds, ratioFigure } from '../measure.ts';

const folder = 'apps/prod';

export async function layersScenario(rounds: Rounds, progress: (text: string) => void): Promise<Figure[]> {
  // Half a minute a round on a busy machine.
  const few = { warmUps: 0, runs: Math.min(3, rounds.runs) };
  return [...(await overlay(200, rounds, progress)), ...(await overlay(1_000, few, progress))];
}

async function overlay(count: number, rounds: Rounds, progress: (text: string) => void): Promise<Figure[]> {
  const scenario = `overlay-${count}`;
  const root = await mkdtemp(join(tmpdir(), 'gitops-reverser-bench-'));
  try {
    progress(`writing an overlay of ${count} objects`);
    await writeOverlay(root, count);
    const built = await runOk(part('kustomize'), ['build', join(root, folder)]);
    const live = readDocuments(built).flatMap((one) =>
      one.kind === 'value' && isObject(one.value) ? [one.value] : [],
    );
    const cold: number[] = [];
    const warm: number[] = [];
    const coldTimes = await inTurns(rounds, {
      floor: async () => 2 * (await timed(() => runOk(part('kustomize'), ['build', join(root, folder)]))),
      async ours(round) {
        const kustomize = counting();
        const time = await timed(() => planAll(root, live, round, kustomize, createRenderCache(20_000)));
        cold.push(kustomize.builds());
        return time;
      },
    });
    const cache = createRenderCache(20_000);
    await planAll(root, live, -1, counting(), cache);
    const warmTimes = await inTurns(rounds, {
      floor: () => timed(() => runOk(part('kustomize'), ['build', join(root, folder)])),
      async ours(round) {
        const kustomize = counting();
        const time = await timed(() => planAll(root, live.slice(0, 1), round, kustomize, cache));
        warm.push(kustomize.builds());
        return time;
      },
    });
    return [
      ratioFigure(
        { scenario, measure: 'adopt all, one edited (two builds)' },
        coldTimes.floor,
        coldTimes.ours,
        2,
      ),
      ratioFigure({ scenario, measure: 'one-line edit (one build)' }, warmTimes.floor, warmTimes.ours, 2),
      absoluteFigure({ scenario, measure: 'builds of a first plan', unit: 'processes' }, cold, 2),
      absoluteFigure({ scenario, measure: 'builds of a one-line edit', unit: 'processes' }, warm, 1),
    ];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Half of the objects are the base's; one of the own ones has another value in every round. */
async function planAll(
  root: string,
  live: readonly JsonObject[],
  round: number,
  render: Render,
  cache: RenderCache,
): Promise<void> {
  const changes = live.map((object, at): Change => {
    const own = at === 0 ? { ...object, data: { level: `round-${round}` } } : object;
    return { kind: 'upsert', live: own, applierKnown: true };
  });
  const planned = await plan(await readLocalTree(root), changes, {
    folder,
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: () => false,
    resourceOf: builtinResource,
    bootstrap: false,
    cache: createIndexCache(100_000),
    kustomize: { render, cache },
  });
  if (planned.edits.length !== 1 || planned.refused.length !== 0)
    throw new Error(`planned ${planned.edits.length} edits, refused ${planned.refused[0]?.message}`);
}

async function writeOverlay(root: string, count: number): Promise<void> {
  const files = new Map<string, string>();
  const names = Array.from({ length: count }, (_, at) => `settings-${String(at).padStart(4, '0')}`);
  for (const [at, name] of names.entries()) {
    const path = at % 2 === 0 ? `${folder}/${name}.yaml` : `apps/base/${name}.yaml`;
    files.set(path, at < 10 ? configMap(name) : deployment(name));
  }
  const listed = (path: string) =>
    [...files.keys()]
      .filter((one) => one.startsWith(`${path}/`))
      .map((one) => `  - ${one.slice(path.length + 1)}\n`);
  files.set('apps/base/kustomization.yaml', `resources:\n${listed('apps/base').join('')}`);
  const own = listed(folder).join('');
  files.set(`${folder}/kustomization.yaml`, `namespace: prod\nresources:\n${own}  - ../base\n`);
  for (const [path, text] of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

const configMap = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  level: info # why\n`;

const deployment = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
        - name: main
          image: registry.example/${name}:1.0
          env:
            - {name: LEVEL, value: info}
`;

function counting(): Render & { builds(): number } {
  const kustomize = createKustomize({ program: part('kustomize') });
  let count = 0;
  return {
    builds: () => count,
    async build(request) {
      count += 1;
      return await kustomize.build(request);
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
