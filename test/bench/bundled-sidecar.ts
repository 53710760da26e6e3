/** The bundled process as users run it, with its memory and its metrics in view. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../cluster/port.ts';
import { type Program, ready, startProgram } from '../cluster/program.ts';
import { until } from '../cluster/wait.ts';
import type { World } from '../e2e/sidecar.ts';
import { samplingMs } from './idle-delay.ts';

/** Another build may be named, to compare two. */
const bundle = process.env.BENCH_BUNDLE ?? join(import.meta.dirname, '../../dist/gitops-reverser.mjs');

export interface BundledSidecar {
  readonly program: Program;
  /** When it was started, in the bench's own time. */
  readonly startedAt: number;
  /** Every sample of a metric whose name and labels begin like this. */
  metric(prefix: string): Promise<number[]>;
  /** The p99 of its event loop's delay in ms since it was last asked. Asking takes the process's own time. */
  loopDelay(): Promise<number>;
  /** MB of resident memory: the median of several looks. */
  residentMegabytes(): Promise<number[]>;
  stop(): Promise<void>;
}

const looks = 9;
const lookEveryMs = 400;

export interface SidecarOptions {
  /** Further options of Node itself, e.g. to profile it. */
  readonly node?: readonly string[];
  readonly flags?: readonly string[];
  readonly path?: string;
  /** False: return as soon as the process runs. */
  readonly waitReady?: boolean;
}

/** One at a time: it works on the world's data folder. */
export async function startBundled(world: World, options: SidecarOptions = {}): Promise<BundledSidecar> {
  if (!existsSync(bundle)) throw new Error('there is no bundle to measure: run "make build" first');
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  const data = join(world.folder.path, 'data');
  mkdirSync(data, { recursive: true });
  const nodeOptions = [...(process.env.BENCH_NODE_OPTIONS?.split(' ') ?? []), ...(options.node ?? [])];
  const args = [
    ...nodeOptions,
    bundle,
    'run',
    ...['--kubeconfig', world.cluster.kubeconfig, '--data-dir', data],
    ...['--health-bind-address', `127.0.0.1:${healthPort}`, '--artifact-bind-address', '0'],
    ...['--metrics-bind-address', `127.0.0.1:${metricsPort}`],
    ...['--insecure-allow-git-http', '--no-leader-elect'],
    ...(options.flags ?? []),
  ];
  const startedAt = performance.now();
  const env = { ...process.env, ...imageEnvironment() };
  const program = await startProgram('node', args, {
    logFile: join(world.folder.path, 'bundled-sidecar.log'),
    env: options.path === undefined ? env : { ...env, PATH: options.path },
  });
  if (options.waitReady !== false) {
    await ready(program, async () => (await answered(`http://127.0.0.1:${healthPort}/readyz`)) !== undefined);
  }
  async function metric(prefix: string): Promise<number[]> {
    const text = (await answered(`http://127.0.0.1:${metricsPort}/metrics`)) ?? '';
    const lines = text.split('\n').filter((line) => line.startsWith(prefix));
    return lines.map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  }

  return {
    program,
    startedAt,
    metric,
    async loopDelay() {
      const [p99 = 0] = await metric('nodejs_eventloop_lag_p99_seconds');
      return p99 * 1_000 - samplingMs;
    },
    async residentMegabytes() {
      const seen: number[] = [];
      for (let look = 0; look < looks; look++) {
        await pause(lookEveryMs);
        seen.push(resident(program.pid));
      }
      return seen;
    },
    stop: () => program.kill('SIGTERM'),
  };
}

/** What the image sets for the allocator: memory is measured as users have it. */
function imageEnvironment(): Record<string, string> {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../sidecar/Dockerfile'), 'utf8');
  return Object.fromEntries(
    [...dockerfile.matchAll(/\b(MALLOC_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** Waits until nothing is decided that the remote lacks, and a little longer for what follows a push. */
export async function quiet(sidecar: BundledSidecar, ms: number): Promise<void> {
  await until('nothing is pending', async () => {
    const depths = await sidecar.metric('gitopsreverser_git_queue_depth');
    return depths.every((depth) => depth === 0);
  });
  await pause(ms);
}

function resident(pid: number): number {
  const kilobytes = /^Rss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

async function answered(url: string): Promise<string | undefined> {
  const answer = await fetch(url).catch(() => undefined);
  if (answer === undefined) return undefined;
  const text = await answer.text();
  return answer.status === 200 ? text : undefined;
}
