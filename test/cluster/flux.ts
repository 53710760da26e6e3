/**
 * Flux for tests: the real source-controller and kustomize-controller as processes, and the CLI.
 *
 * With a door, two kustomize-controllers run: one that fetches through it, for objects with the label `door: guarded`, and one
 * that fetches straight from source-controller, for `door: none`, so that both can be compared on one cluster.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from './control-plane.ts';
import { served } from './crds.ts';
import { temporaryFolder } from './folder.ts';
import { kubectl } from './kubectl.ts';
import { type PartName, part } from './parts.ts';
import { freePort } from './port.ts';
import { type Program, ready, startProgram } from './program.ts';
import { type RunResult, run } from './run.ts';

export interface FluxOptions {
  /** `host:port` that the guarded kustomize-controller fetches from. */
  readonly door?: string;
  /** Reconciles at once, per kustomize-controller. */
  readonly concurrent?: number;
}

export interface Flux {
  /** Where source-controller serves artifacts. */
  readonly artifactUrl: string;
  readonly sourceController: Controller;
  readonly guarded: Controller;
  cli(...args: string[]): Promise<RunResult>;
  stop(): Promise<void>;
}

export interface Controller {
  readonly logFile: string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again with its data; ends it first when it runs. */
  restart(): Promise<void>;
}

const modules = ['github.com/fluxcd/source-controller', 'github.com/fluxcd/kustomize-controller'] as const;

/** Folder of one of the controllers' Go modules, with its `config` in it. */
export function fluxModule(module: (typeof modules)[number]): string {
  const cwd = join(import.meta.dirname, 'flux');
  execFileSync('go', ['mod', 'download', module], { cwd });
  return execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd, encoding: 'utf8' }).trim();
}

export async function startFlux(cluster: ControlPlane, options: FluxOptions = {}): Promise<Flux> {
  const folder = temporaryFolder('flux');
  const storage = join(folder.path, 'storage');
  mkdirSync(storage);
  await installCrds(cluster);
  const storageAddress = `127.0.0.1:${await freePort()}`;
  const programs = new Map<string, Program>();

  async function controller(
    name: string,
    program: PartName,
    flags: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<Controller> {
    const logFile = join(folder.path, `${name}.log`);
    const health = await freePort();
    const metrics = await freePort();
    async function start(): Promise<void> {
      const started = await startProgram(
        part(program),
        [
          ...['--events-addr', '', '--enable-leader-election=false', '--log-level=info'],
          ...[`--health-addr=127.0.0.1:${health}`, `--metrics-addr=127.0.0.1:${metrics}`],
          ...flags,
        ],
        {
          logFile,
          cwd: folder.path,
          env: {
            ...process.env,
            KUBECONFIG: cluster.kubeconfig,
            RUNTIME_NAMESPACE: 'flux-system',
            TMPDIR: folder.path,
            ...env,
          },
        },
      );
      programs.set(name, started);
      await ready(started, async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok);
    }
    await start();
    return {
      logFile,
      kill: async (signal = 'SIGKILL') => programs.get(name)?.kill(signal),
      async restart() {
        await programs.get(name)?.kill('SIGKILL');
        await start();
      },
    };
  }

  const applierFlags = [
    '--requeue-dependency=2s',
    '--http-retry=1',
    '--interval-jitter-percentage=0',
    `--concurrent=${options.concurrent ?? 4}`,
  ];
  try {
    const sourceController = await controller('source-controller', 'source-controller', [
      `--storage-path=${storage}`,
      `--storage-addr=${storageAddress}`,
      `--storage-adv-addr=${storageAddress}`,
      '--requeue-dependency=2s',
    ]);
    const guarded = await controller(
      'guarded',
      'kustomize-controller',
      [...applierFlags, '--watch-label-selector=door=guarded'],
      options.door === undefined ? {} : { SOURCE_CONTROLLER_LOCALHOST: options.door },
    );
    await controller('unguarded', 'kustomize-controller', [
      ...applierFlags,
      '--watch-label-selector=door=none',
    ]);
    return {
      artifactUrl: `http://${storageAddress}`,
      sourceController,
      guarded,
      cli: (...args) =>
        run(part('flux'), args, {
          env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
          timeoutMs: 120_000,
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }

  async function stop(): Promise<void> {
    await Promise.all([...programs.values()].map((program) => program.kill('SIGKILL')));
    await folder.remove();
  }
}

export async function installCrds(cluster: ControlPlane): Promise<void> {
  for (const module of modules) {
    const crds = join(fluxModule(module), 'config/crd/bases');
    const { code, stderr } = await kubectl(cluster, ['apply', '--server-side', '-f', crds]);
    if (code !== 0) throw new Error(`the CRDs of ${module} cannot be installed: ${stderr}`);
    await served(cluster, `the CRDs of ${module}`, '-f', crds);
  }
}
