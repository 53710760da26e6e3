/** The sidecar as users run it: the real process against a real API server and a real git server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { served } from '../cluster/crds.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { type GitServer, type GitServerOptions, startGitServer } from '../cluster/git-server.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { freePort } from '../cluster/port.ts';
import { until } from '../cluster/wait.ts';

const root = join(import.meta.dirname, '../..');

export interface Sidecar {
  readonly pid: number;
  readonly healthPort: number;
  readonly metricsPort: number;
  log(): string;
  /** Ends it; SIGKILL leaves everything as it is, SIGTERM lets it publish. Resolves with the exit code. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export interface World {
  readonly cluster: ControlPlane;
  readonly git: GitServer;
  readonly folder: Folder;
  /** Starts a sidecar on the world's data folder; only one at a time. With `elect` it takes part in the election. */
  start(flags?: readonly string[], options?: { readonly elect?: boolean }): Promise<Sidecar>;
  /** Applies manifests, given as text or objects; fails with kubectl's words. */
  apply(manifests: string | readonly object[], args?: readonly string[]): Promise<void>;
  kubectl(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** A control plane with our CRDs, a git server, a KubeProvider that lends everything; no sidecar yet. */
export async function startWorld(options: { readonly git?: GitServerOptions } = {}): Promise<World> {
  const folder = temporaryFolder('sidecar');
  const [cluster, git] = await Promise.all([startControlPlane(), startGitServer(options.git ?? {})]);
  const running = new Set<ChildProcess>();
  let starts = 0;

  async function apply(manifests: string | readonly object[], args: readonly string[] = []): Promise<void> {
    const stdin =
      typeof manifests === 'string' ? manifests : manifests.map((one) => JSON.stringify(one)).join('\n---\n');
    const applied = await kubectl(cluster, ['apply', '-f', '-', ...args], { stdin });
    if (applied.code !== 0) throw new Error(`kubectl apply: ${applied.stderr}`);
  }

  async function start(flags: readonly string[] = [], { elect = false } = {}): Promise<Sidecar> {
    const [healthPort, metricsPort] = [await freePort(), await freePort()];
    const logFile = join(folder.path, `sidecar-${starts++}.log`);
    mkdirSync(join(folder.path, 'data'), { recursive: true });
    const child = spawn(
      'node',
      [
        join(root, 'src/main.ts'),
        'run',
        ...['--kubeconfig', cluster.kubeconfig, '--data-dir', join(folder.path, 'data')],
        ...[
          '--health-bind-address',
          `127.0.0.1:${healthPort}`,
          '--metrics-bind-address',
          `127.0.0.1:${metricsPort}`,
        ],
        ...[
          '--insecure-allow-git-http',
          ...(elect ? [] : ['--no-leader-elect']),
          '--artifact-bind-address',
          '0',
        ],
        ...flags,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    running.add(child);
    child.stderr?.pipe(createWriteStream(logFile));
    const ended = once(child, 'exit').then(([code]) => {
      running.delete(child);
      return code as number | null;
    });
    const log = () => readFileSync(logFile, 'utf8');
    await until(
      'the sidecar is ready',
      async () => {
        if (child.exitCode !== null) throw new Error(`the sidecar ended with ${child.exitCode}: ${log()}`);
        const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
        return answer?.status === 200;
      },
      { timeoutMs: 30_000 },
    );
    return {
      pid: child.pid ?? 0,
      healthPort,
      metricsPort,
      log,
      async kill(signal) {
        child.kill(signal);
        return ended;
      },
    };
  }

  try {
    const crds = join(root, 'manifests/crds');
    await kubectl(cluster, ['apply', '--server-side', '-f', crds]).then(failed);
    await served(cluster, 'our kinds', '-f', crds);
    await apply([kubeProvider]);
  } catch (error) {
    await Promise.all([cluster.stop(), git.stop()]);
    throw error;
  }
  return {
    cluster,
    git,
    folder,
    start,
    apply,
    async kubectl(...args) {
      const result = await kubectl(cluster, args);
      if (result.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${result.stderr}`);
      return result.stdout;
    },
    async stop() {
      for (const child of running) child.kill('SIGKILL');
      await Promise.all([cluster.stop(), git.stop()]);
      await folder.remove();
    },
  };
}

export interface MirroredFolder {
  /** Namespace, GitProvider, GitTarget, WatchRule and repository all have this name. */
  readonly name: string;
  readonly path?: string;
  readonly branch?: string;
  /** Of another repository than its own. */
  readonly url?: string;
  /** Further fields of GitTarget.spec. */
  readonly spec?: object;
  readonly rules?: readonly object[];
  readonly secretRef?: { readonly name: string };
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Applied to the cluster before the target is made, the way an applier does. */
  readonly live?: string;
}

/** Makes a repository, a namespace and everything that mirrors the one into the other, and waits for Ready. */
export async function mirror(
  world: World,
  folder: MirroredFolder,
  options: { ready?: boolean } = {},
): Promise<string> {
  const { name, path = 'apps/shop', branch = 'main' } = folder;
  const bareDir = await world.git.createRepository(name, {
    branch,
    files: { 'README.md': '# test\n', ...folder.files },
  });
  await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
  if (folder.live !== undefined) await world.apply(folder.live, ['-n', name]);
  await world.apply(mirrorObjects(world, { ...folder, path, branch }));
  if (options.ready !== false) await ready(world, name);
  return bareDir;
}

export function mirrorObjects(
  world: World,
  folder: MirroredFolder & { path: string; branch: string },
): object[] {
  const { name, path, branch, secretRef } = folder;
  const metadata = { name, namespace: name };
  const apiVersion = 'configbutler.ai/v1alpha3';
  const rules = folder.rules ?? [
    { apiGroups: ['apps'], resources: ['deployments'] },
    { apiGroups: [''], resources: ['configmaps', 'services'] },
  ];
  return [
    {
      apiVersion,
      kind: 'GitProvider',
      metadata,
      spec: {
        url: folder.url ?? world.git.url(name),
        allowedBranches: [branch],
        ...(secretRef && { secretRef }),
      },
    },
    {
      apiVersion,
      kind: 'GitTarget',
      metadata,
      spec: {
        gitProviderRef: { name },
        branch,
        path,
        commit: { window: { idleTimeout: '0s', maxDuration: '1m' } },
        ...folder.spec,
      },
    },
    { apiVersion, kind: 'WatchRule', metadata, spec: { gitTargetRef: { name }, rules } },
  ];
}

/** Waits until the GitTarget says that everything runs, and that there is something to run: a target may be seen before its rule. */
export async function ready(world: World, name: string, timeoutMs = 30_000): Promise<void> {
  await until(
    `GitTarget ${name} is Ready`,
    async () => {
      const target = JSON.parse(await world.kubectl('get', 'gittarget', name, '-n', name, '-o', 'json'));
      const condition = (type: string) =>
        target.status?.conditions?.find((one: { type: string }) => one.type === type) ?? {};
      const current = target.status?.observedGeneration === target.metadata.generation;
      const streaming = condition('StreamsRunning').reason === 'AllStreamsReady';
      if (current && condition('Ready').status === 'True' && streaming) return true;
      last = JSON.stringify(target.status?.conditions ?? []);
      return false;
    },
    { timeoutMs },
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${last}`);
  });
}
let last = '';

const kubeProvider = {
  apiVersion: 'configbutler.ai/v1alpha3',
  kind: 'KubeProvider',
  metadata: { name: 'default' },
  spec: { inCluster: {}, allowedGitTargets: [{ consumerNamespaces: { from: 'All' } }] },
};

function failed({ code, stderr }: { code: number | null; stderr: string }): void {
  if (code !== 0) throw new Error(stderr);
}
