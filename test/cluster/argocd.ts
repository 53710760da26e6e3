/**
 * Argo CD for tests: redis, repo-server, application-controller, API server and config management plugins as processes, and
 * the CLI. The control plane needs its usual controllers: without the garbage collector no hook is ever deleted.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { baseObjects } from './argocd-objects.ts';
import type { ControlPlane } from './control-plane.ts';
import { served } from './crds.ts';
import { temporaryFolder } from './folder.ts';
import { gitEnvironment } from './git.ts';
import { kubectl } from './kubectl.ts';
import { part } from './parts.ts';
import { freePort } from './port.ts';
import { type Program, ready, startProgram } from './program.ts';
import { type RunResult, run } from './run.ts';
import { until } from './wait.ts';

export interface ArgocdOptions {
  /** Further data of the ConfigMap argocd-cm: health checks, actions, links. */
  readonly config?: Readonly<Record<string, string>>;
  /** Each gets a cmp-server of its own, as each has a container of its own in a pod. */
  readonly plugins?: readonly Plugin[];
  /** Environment of the repo-server, for example ARGOCD_PAUSE_GEN_AFTER_FAILED_ATTEMPTS. */
  readonly repoServerEnv?: NodeJS.ProcessEnv;
  /** Further flags of the application-controller. */
  readonly controllerFlags?: readonly string[];
}

export interface Plugin {
  readonly name: string;
  /** The text of plugin.yaml; its metadata.name must be `name`, without a version. */
  readonly config: string;
  /** Environment of its commands, besides what Argo CD sets. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface ArgocdProcess {
  readonly logFile: string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that does not end it: SIGSTOP, SIGCONT. */
  send(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Starts it again on its port with its data; ends it first when it runs. */
  restart(): Promise<void>;
}

export interface Argocd {
  readonly namespace: 'argocd';
  /** host:port of the API server; plain text, nobody logs in. */
  readonly address: string;
  readonly dir: string;
  readonly redis: ArgocdProcess;
  readonly repoServer: ArgocdProcess;
  readonly controller: ArgocdProcess;
  readonly server: ArgocdProcess;
  /** By the name of the plugin. */
  readonly plugins: ReadonlyMap<string, ArgocdProcess>;
  /** Runs `argocd` against the API server. A non-zero exit code is a value. */
  cli(...args: string[]): Promise<RunResult>;
  stop(): Promise<void>;
}

const namespace = 'argocd';
const module = 'github.com/argoproj/argo-cd/v3';

/** Folder of Argo CD's Go module, with its `manifests` in it. */
export function argocdModule(): string {
  const cwd = join(import.meta.dirname, 'argocd');
  execFileSync('go', ['mod', 'download', module], { cwd });
  return execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd, encoding: 'utf8' }).trim();
}

export async function startArgocd(cluster: ControlPlane, options: ArgocdOptions = {}): Promise<Argocd> {
  const folder = temporaryFolder('argocd');
  const dir = folder.path;
  const programs = new Map<string, Program>();
  const redisPort = await freePort();
  const repoPort = await freePort();
  const serverPort = await freePort();
  const redisAddress = `127.0.0.1:${redisPort}`;
  const address = `127.0.0.1:${serverPort}`;
  const env = environment(dir, cluster.kubeconfig);

  async function service(
    name: string,
    [command, ...flags]: readonly [string, ...string[]],
    probe: () => boolean | Promise<boolean>,
    further: NodeJS.ProcessEnv = {},
  ): Promise<ArgocdProcess> {
    const logFile = join(dir, `${name}.log`);
    const start = async () => {
      const started = await startProgram(command, flags, { logFile, cwd: dir, env: { ...env, ...further } });
      programs.set(name, started);
      await ready(started, probe);
    };
    await start();
    return {
      logFile,
      kill: async (signal = 'SIGKILL') => programs.get(name)?.kill(signal),
      send(signal) {
        const pid = programs.get(name)?.pid;
        if (pid !== undefined) process.kill(pid, signal);
      },
      async restart() {
        await programs.get(name)?.kill('SIGKILL');
        await start();
      },
    };
  }

  async function repoServer(): Promise<ArgocdProcess> {
    const metrics = await freePort();
    const flags = ['--address=127.0.0.1', `--port=${repoPort}`, `--redis=${redisAddress}`];
    const more = ['--disable-tls', '--client-ca-path=', ...metricsAt(metrics), ...logs];
    return service(
      'repo-server',
      [part('argocd-repo-server'), ...flags, ...more],
      () => healthy(metrics),
      options.repoServerEnv,
    );
  }

  async function controller(): Promise<ArgocdProcess> {
    const metrics = await freePort();
    const flags = [...backends, `--namespace=${namespace}`, `--metrics-port=${metrics}`, ...logs];
    // The usual three minutes before a failed render is shown are no help to anyone here.
    const quick = ['--repo-error-grace-period-seconds=0', '--app-resync-jitter=0'];
    return service(
      'application-controller',
      [part('argocd-application-controller'), ...flags, ...quick, ...(options.controllerFlags ?? [])],
      () => healthy(metrics),
    );
  }

  async function server(): Promise<ArgocdProcess> {
    const metrics = await freePort();
    const flags = [...backends, `--namespace=${namespace}`, '--address=127.0.0.1', `--port=${serverPort}`];
    const more = ['--insecure', '--disable-auth', ...metricsAt(metrics), ...logs];
    return service('server', [part('argocd-server'), ...flags, ...more], () => healthy(serverPort));
  }

  function cmpServer(plugin: Plugin): Promise<ArgocdProcess> {
    const own = join(dir, `plugin-${plugin.name}`);
    const work = join(own, 'work');
    mkdirSync(work, { recursive: true });
    writeFileSync(join(own, 'plugin.yaml'), plugin.config);
    const socket = join(dir, 'plugins', `${plugin.name}.sock`);
    return service(
      `plugin-${plugin.name}`,
      [part('argocd-cmp-server'), `--config-dir-path=${own}`, ...logs],
      () => accepts(socket),
      { ...plugin.env, ARGOCD_CMP_WORKDIR: work, TMPDIR: work },
    );
  }

  const backends = [
    ...['--kubeconfig', cluster.kubeconfig, '--redis', redisAddress],
    ...['--repo-server', `127.0.0.1:${repoPort}`, '--repo-server-plaintext'],
  ];
  try {
    const redisFlags = ['--bind', '127.0.0.1', '--port', `${redisPort}`, '--save', '', '--appendonly', 'no'];
    const [redis] = await Promise.all([
      service('redis', ['redis-server', ...redisFlags, '--dir', dir], () => accepts(redisPort)),
      installArgocd(cluster, options.config ?? {}),
    ]);
    const [repo, application, api, cmp] = await Promise.all([
      repoServer(),
      controller(),
      server(),
      Promise.all(
        (options.plugins ?? []).map(async (plugin) => [plugin.name, await cmpServer(plugin)] as const),
      ),
    ]);
    await until(
      'the AppProject default is there',
      async () => (await kubectl(cluster, ['get', 'appproject', 'default', '-n', namespace])).code === 0,
      { timeoutMs: 60_000 },
    );
    return {
      namespace,
      address,
      dir,
      redis,
      repoServer: repo,
      controller: application,
      server: api,
      plugins: new Map(cmp),
      cli: (...args) =>
        run(part('argocd'), [...args, '--server', address, '--plaintext'], {
          env: { ...env, ARGOCD_CONFIG_DIR: join(dir, 'cli'), HOME: dir },
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
    // The repo-server leaves its clones without any permission, and only root can remove those.
    await run('chmod', ['-R', 'u+rwX', dir]);
    await folder.remove();
  }
}

const crdNames = ['applications', 'applicationsets', 'appprojects'].map(
  (plural) => `crd/${plural}.argoproj.io`,
);
const logs = ['--loglevel=info', '--logformat=text'];

function metricsAt(port: number): string[] {
  return ['--metrics-address=127.0.0.1', `--metrics-port=${port}`];
}

/** CRDs, namespace, ConfigMaps and the Secret: what the programs look for at their start. */
async function installArgocd(cluster: ControlPlane, config: Readonly<Record<string, string>>): Promise<void> {
  const crds = join(argocdModule(), 'manifests/crds');
  const objects = baseObjects(namespace, config, randomBytes(16).toString('hex'));
  const stdin = objects.map((one) => JSON.stringify(one)).join('\n---\n');
  const must = async (...args: string[]) => {
    const { code, stderr } = await kubectl(cluster, args, { stdin });
    if (code !== 0) throw new Error(`Argo CD cannot be installed: kubectl ${args.join(' ')}: ${stderr}`);
  };
  await must('apply', '--server-side', '-k', crds);
  await served(cluster, 'the CRDs of Argo CD', ...crdNames);
  await must('apply', '-f', '-');
}

/** What every component gets; the folders are made, and so is the script that stands for Argo CD's gpg wrapper. */
function environment(dir: string, kubeconfig: string): NodeJS.ProcessEnv {
  for (const name of ['plugins', 'tls', 'ssh', 'tmp', 'bin', 'cli']) mkdirSync(join(dir, name));
  const wrapper = join(dir, 'bin', 'git-verify-wrapper.sh');
  writeFileSync(wrapper, '#!/bin/sh\nexit 0\n');
  chmodSync(wrapper, 0o755);
  return {
    ...gitEnvironment(),
    HOME: dir,
    PATH: `${join(dir, 'bin')}:${process.env.PATH ?? ''}`,
    KUBECONFIG: kubeconfig,
    // https://kubernetes.default.svc means the cluster of the kubeconfig.
    ARGOCD_FAKE_IN_CLUSTER: 'true',
    ARGOCD_GPG_ENABLED: 'false',
    ARGOCD_PLUGINSOCKFILEPATH: join(dir, 'plugins'),
    ARGOCD_TLS_DATA_PATH: join(dir, 'tls'),
    ARGOCD_SSH_DATA_PATH: join(dir, 'ssh'),
    TMPDIR: join(dir, 'tmp'),
    // The controller takes its shard from the name of its pod.
    HOSTNAME: 'argo-0',
  };
}

async function healthy(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
}

/** Whether something listens on a port or a unix socket. */
function accepts(target: number | string): Promise<boolean> {
  if (typeof target === 'string' && !existsSync(target)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket =
      typeof target === 'string' ? createConnection(target) : createConnection(target, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
