/**
 * How long an answer of the gate takes, beside the lists that its freshness rests on: `node test/soak/gate.ts [OBJECTS]
 * [ROUNDS]`. Nothing pending, and one edit pending; list and question take turns, so that both meet the same machine.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlCluster } from '../../src/cli/control-cluster.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { freePort } from '../cluster/port.ts';
import { tip } from '../cluster/repository.ts';
import { configMap } from '../e2e/shop.ts';
import { mirror, startWorld } from '../e2e/sidecar.ts';

const objects = Number(process.argv[2] ?? 2_000);
const rounds = Number(process.argv[3] ?? 200);
const token = 'measured';

const world = await startWorld();
try {
  const gate = `127.0.0.1:${await freePort()}`;
  const tokenFile = join(world.folder.path, 'token');
  writeFileSync(tokenFile, token);
  await world.start(['--gate-bind-address', gate, '--gate-token-file', tokenFile]);
  const maps = Array.from({ length: objects }, (_one, n) =>
    configMap(`c${n}`, { key: `${n}`, other: 'value' }),
  );
  const files = Object.fromEntries(maps.map((map, n) => [`apps/shop/c${n}.yaml`, map]));
  const bareDir = await mirror(
    world,
    {
      name: 'measured',
      files,
      live: maps.join('---\n'),
      rules: [{ apiGroups: [''], resources: ['configmaps'] }],
      spec: { commit: { window: { idleTimeout: '10m', maxDuration: '1h' } } },
    },
    { ready: false },
  );
  const connected = controlCluster(world.cluster.kubeconfig, 'measure', systemClock);
  if (!connected.ok) throw new Error(connected.message);
  const { client } = connected;
  let asked = 0;

  async function ask(): Promise<{ status: number; ms: number }> {
    const question = {
      applier: 'argocd',
      application: { namespace: 'measured', name: `a${asked++}` },
      repoURL: world.git.url('measured'),
      targetRevision: 'main',
      revision: (await tip(bareDir, 'main')) ?? '',
      path: '',
      phase: 'render',
      deadlineMs: 60_000,
    };
    const startedAt = performance.now();
    const answer = await fetch(`http://${gate}/v1/gate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(question),
    });
    const { covered = true } = JSON.parse(await answer.text());
    return { status: covered ? answer.status : 0, ms: performance.now() - startedAt };
  }
  async function list(): Promise<number> {
    const startedAt = performance.now();
    const listed = await client.listAll(
      { group: '', version: 'v1', resource: 'configmaps', namespace: 'measured' },
      { metadataOnly: true },
    );
    if (listed.kind !== 'ok') throw new Error(listed.message);
    return performance.now() - startedAt;
  }

  for (let tries = 0; [0, 423].includes((await ask()).status) && tries < 600; tries++) await list();
  const lists: number[] = [];
  const open: number[] = [];
  for (let round = 0; round < rounds; round++) {
    lists.push(await list());
    const { status, ms } = await ask();
    if (status !== 200) throw new Error(`status ${status}`);
    open.push(ms);
  }
  const pending: number[] = [];
  for (let round = 0; round < Math.min(rounds, 40); round++) {
    const patched = await client.patch(
      { group: '', version: 'v1', resource: 'configmaps', namespace: 'measured', name: 'c7' },
      { type: 'merge', body: { data: { key: `round-${round}` } } },
      { fieldManager: 'kubectl-edit' },
    );
    if (patched.kind !== 'ok') throw new Error(patched.message);
    const { status, ms } = await ask();
    if (status !== 409) throw new Error(`status ${status}`);
    pending.push(ms);
  }
  await client.close();
  console.log(`${objects} objects, ${rounds} rounds`);
  for (const [what, figures] of [
    ['list, metadata only', lists],
    ['gate, nothing pending', open],
    ['gate, one edit pending', pending],
  ] as const)
    console.log(`${what}: p50 ${quantile(figures, 0.5)} ms, p99 ${quantile(figures, 0.99)} ms`);
} finally {
  await world.stop();
}

function quantile(figures: readonly number[], at: number): string {
  const sorted = figures.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(at * sorted.length))] ?? 0).toFixed(1);
}
