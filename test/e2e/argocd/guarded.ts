/** A sidecar beside the real Argo CD, and folders that both of them work on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { argocdConfig } from '../../../src/api/lua.ts';
import { type Argocd, startArgocd } from '../../cluster/argocd.ts';
import {
  type ApplicationState,
  application,
  readApplication,
  untilApplication,
} from '../../cluster/argocd-objects.ts';
import type { RunResult } from '../../cluster/run.ts';
import { until } from '../../cluster/wait.ts';
import { installedAccount, manifests, unmirrored } from '../deeds.ts';
import { mirror, type Sidecar, startWorld, type World } from '../sidecar.ts';

export interface ArgocdWorld extends World {
  readonly argocd: Argocd;
  sidecar(): Sidecar;
  /** Starts the sidecar again, on the same data. */
  startSidecar(): Promise<Sidecar>;
}

/** @param config further data of argocd-cm */
export async function startArgocdWorld(config: Readonly<Record<string, string>> = {}): Promise<ArgocdWorld> {
  const world = await startWorld();
  let sidecar: Sidecar;
  let argocd: Argocd | undefined;
  try {
    argocd = await startArgocd(world.cluster, { config: { ...argocdConfig(), ...config } });
    // Applications live in one namespace, what they apply and who mirrors it in others.
    await world.kubectl(
      ...['patch', 'kubeprovider', 'default', '--type=merge', '-p'],
      JSON.stringify({ spec: { allowCrossNamespace: { appliers: true } } }),
    );
    const kubeconfig = await ownAccount(world);
    const startSidecar = async () => {
      sidecar = await world.start([
        '--kubeconfig',
        kubeconfig,
        '--git-timeout',
        '10s',
        '--log-level',
        'debug',
      ]);
      return sidecar;
    };
    sidecar = await startSidecar();
    const running = argocd;
    return {
      ...world,
      argocd,
      sidecar: () => sidecar,
      startSidecar,
      async stop() {
        await running.stop();
        await world.stop();
      },
    };
  } catch (error) {
    await argocd?.stop();
    await world.stop();
    throw error;
  }
}

/** The rights of the installation, and a kubeconfig with nothing else. */
export async function ownAccount(world: World): Promise<string> {
  await world.kubectl('create', 'serviceaccount', 'argocd-repo-server', '-n', 'argocd');
  return installedAccount(world, {
    namespace: 'argocd',
    name: 'argocd-repo-server',
    files: ['rbac/core.yaml', 'rbac/argocd-door.yaml', 'argocd/role.yaml'],
  });
}

/** As `gitops-reverser gate init` writes it. */
export const syncGateFile = readFileSync(join(manifests, 'samples/syncgate.yaml'), 'utf8');

export interface SyncedFolder {
  /** Namespace, repository, GitTarget and Application all have this name. */
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** `none`: without a SyncGate, and nothing mirrors it. */
  readonly door?: 'guarded' | 'none';
  readonly spec?: object;
  readonly syncPolicy?: object;
}

/** Lets Argo CD apply a folder, mirrors it, and waits until both are done. Returns the bare repository. */
export async function syncFolder(world: ArgocdWorld, folder: SyncedFolder): Promise<string> {
  const { name, files, door = 'guarded', syncPolicy } = folder;
  const window = { commit: { window: { idleTimeout: '30s', maxDuration: '1m' } } };
  const gate = { 'apps/shop/gate.yaml': syncGateFile };
  const bareDir =
    door === 'guarded'
      ? await mirror(world, { name, files: { ...gate, ...files }, spec: { ...window, ...folder.spec } })
      : await unmirrored(world, name, files);
  await world.apply([
    application({ name, repoURL: world.git.url(name), path: 'apps/shop', ...(syncPolicy && { syncPolicy }) }),
  ]);
  if (syncPolicy === undefined) {
    await sync(world, name);
  }
  await synced(world, name);
  return bareDir;
}

/** `argocd app sync` by hand, which waits for the end. */
export function sync(world: ArgocdWorld, name: string, ...args: string[]): Promise<RunResult> {
  return appCommand(world, 'sync', name, ...args);
}

/**
 * `argocd app COMMAND` that waits for the end of a sync. Sometimes it does not hear of that end, with and without us; then
 * somebody presses Refresh.
 */
export async function appCommand(
  world: ArgocdWorld,
  command: 'sync' | 'rollback',
  name: string,
  ...args: string[]
): Promise<RunResult> {
  let running = true;
  const pressing = (async () => {
    let idle = 0;
    while (running) {
      await sleep(2_000);
      const { operation, status = {} } = JSON.parse(
        await world.kubectl('get', 'application', name, '-n', 'argocd', '-o', 'json'),
      );
      idle = operation === undefined && status.operationState?.finishedAt !== undefined ? idle + 1 : 0;
      if (running && idle > 1)
        await world.kubectl(
          ...['annotate', 'application', name, '-n', 'argocd', '--overwrite'],
          'argocd.argoproj.io/refresh=normal',
        );
    }
  })().catch(() => undefined);
  try {
    return await world.argocd.cli('app', command, name, ...args, '--timeout', '110');
  } finally {
    running = false;
    await pressing;
  }
}

/** Waits until the newest sync has succeeded, of a commit if one is given. */
export async function synced(world: ArgocdWorld, name: string, commit?: string): Promise<ApplicationState> {
  const what = commit === undefined ? 'is synced' : `is synced to ${commit}`;
  return untilApplication(world.cluster, name, what, ({ operation, status }) => {
    const state = status?.operationState;
    const revision = state?.syncResult?.revision;
    return operation === undefined && state?.phase === 'Succeeded' && (commit ?? revision) === revision;
  });
}

/** Waits until no sync is running any more, however the last one ended. */
export async function ended(world: ArgocdWorld, name: string): Promise<ApplicationState> {
  return untilApplication(world.cluster, name, 'has ended', ({ operation, status }) => {
    return operation === undefined && /^(Succeeded|Failed|Error)$/.test(status?.operationState?.phase ?? '');
  });
}

/** What the sync result says of the gate. */
export function gateResult(state: ApplicationState): { readonly phase: string; readonly message: string } {
  const resources = state.status?.operationState?.syncResult?.resources ?? [];
  const gate = resources.find(({ kind }) => kind === 'SyncGate');
  return { phase: gate?.hookPhase ?? '', message: gate?.message ?? '' };
}

export interface GateStatus {
  readonly phase?: string;
  readonly message?: string;
  readonly tip?: string;
  readonly degraded?: boolean;
  readonly answeredUID?: string;
  readonly edits?: readonly { readonly object: string; readonly fields: readonly string[] }[];
  readonly refused?: readonly { readonly object: string; readonly fields: readonly string[] }[];
}

/** Waits until the SyncGate of a folder says what is wanted. */
export async function gateSays(
  world: ArgocdWorld,
  name: string,
  phase: string,
  message = /./,
): Promise<GateStatus> {
  let last: GateStatus = {};
  return until(
    `the SyncGate of ${name} is ${phase} (${message})`,
    async () => {
      const text = await world
        .kubectl('get', 'syncgate', '-n', name, '-o', 'json', 'gitops-reverser')
        .catch(() => '{}');
      last = JSON.parse(text).status ?? {};
      return last.phase === phase && message.test(last.message ?? '') ? last : undefined;
    },
    { timeoutMs: 100_000, intervalMs: 100 },
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${JSON.stringify(last)}`);
  });
}

/** The part of an operation that says why it was started. */
export async function infoOf(world: ArgocdWorld, name: string): Promise<string> {
  const state = JSON.parse(await world.kubectl('get', 'application', name, '-n', 'argocd', '-o', 'json'));
  const info = state.status?.operationState?.operation?.info ?? [];
  return info.map((one: { name: string; value: string }) => `${one.name}: ${one.value}`).join('\n');
}

export { readApplication };
