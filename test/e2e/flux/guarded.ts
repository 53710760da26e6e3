/** A sidecar with its artifact door, beside the real controllers of Flux, and folders that both of them work on. */
import { once } from 'node:events';
import { request as ask, createServer, type Server } from 'node:http';
import { type Flux, startFlux } from '../../cluster/flux.ts';
import { freePort } from '../../cluster/port.ts';
import { until } from '../../cluster/wait.ts';
import { installedAccount, unmirrored } from '../deeds.ts';
import { mirror, type Sidecar, startWorld, type World } from '../sidecar.ts';

export interface GuardedWorld extends World {
  readonly flux: Flux;
  readonly doorUrl: string;
  /**
   * Called when the door has let an artifact of a source through, before kustomize-controller gets it: the moment after the
   * answer and before the apply. Undefined ends it.
   */
  between(act: ((source: string) => Promise<unknown>) | undefined): void;
  sidecar(): Sidecar;
  /** Starts the sidecar again, on the same door and data. */
  startSidecar(): Promise<Sidecar>;
}

export async function startGuardedWorld(
  options: { concurrent?: number; flags?: readonly string[] } = {},
): Promise<GuardedWorld> {
  const world = await startWorld();
  const door = `127.0.0.1:${await freePort()}`;
  const fetchedAt = `127.0.0.1:${await freePort()}`;
  let sidecar: Sidecar;
  let flux: Flux;
  let act: ((source: string) => Promise<unknown>) | undefined;
  const passage = await openPassage(fetchedAt, door, (source) => act?.(source));
  try {
    flux = await startFlux(world.cluster, { door: fetchedAt, ...options });
  } catch (error) {
    await world.stop();
    throw error;
  }
  const kubeconfig = await ownAccount(world);
  async function startSidecar(): Promise<Sidecar> {
    sidecar = await world.start([
      ...['--kubeconfig', kubeconfig],
      ...['--artifact-bind-address', door, '--source-controller-url', flux.artifactUrl],
      ...['--git-timeout', '10s', '--log-level', 'debug'],
      ...(options.flags ?? []),
    ]);
    return sidecar;
  }
  try {
    await startSidecar();
  } catch (error) {
    await Promise.all([flux.stop(), world.stop()]);
    throw error;
  }
  return {
    ...world,
    flux,
    doorUrl: `http://${door}`,
    between(wanted) {
      act = wanted;
    },
    sidecar: () => sidecar,
    startSidecar,
    async stop() {
      passage.close();
      passage.closeAllConnections();
      await flux.stop();
      await world.stop();
    },
  };
}

/** The rights of the installation, and a kubeconfig with nothing else. */
async function ownAccount(world: World): Promise<string> {
  await world.kubectl('create', 'namespace', 'flux-system');
  return installedAccount(world, {
    namespace: 'flux-system',
    name: 'gitops-reverser',
    files: ['rbac/core.yaml', 'rbac/flux-door.yaml', 'flux/service-account.yaml', 'flux/role.yaml'],
  });
}

/** Carries requests to the door and answers back, with a moment between the door's yes and its arrival. */
async function openPassage(
  address: string,
  door: string,
  between: (source: string) => Promise<unknown> | undefined,
): Promise<Server> {
  const server = createServer((message, answer) => {
    const path = message.url ?? '/';
    const asked = ask(`http://${door}${path}`, { method: message.method, agent: false }, (answered) => {
      const chunks: Buffer[] = [];
      answered.on('data', (chunk) => chunks.push(chunk));
      answered.on('end', async () => {
        if (answered.statusCode === 200) await between(path.split('/')[3] ?? '');
        answer.writeHead(answered.statusCode ?? 502, answered.statusMessage, answered.headers);
        answer.end(Buffer.concat(chunks));
      });
    });
    asked.on('error', () => message.socket.destroy());
    asked.end();
  });
  const [host = '', port = ''] = address.split(':');
  server.listen(Number(port), host);
  await once(server, 'listening');
  return server;
}

export interface AppliedFolder {
  /** Namespace, repository, GitTarget, GitRepository and Kustomization all have this name. */
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** `none`: a kustomize-controller without a door applies it, and nothing mirrors it. */
  readonly door?: 'guarded' | 'none';
  readonly spec?: object;
}

const apiSource = 'source.toolkit.fluxcd.io/v1';
const apiKustomize = 'kustomize.toolkit.fluxcd.io/v1';

/** Lets Flux apply a folder, mirrors it, and waits until both are done. Returns the bare repository. */
export async function applyFolder(world: GuardedWorld, folder: AppliedFolder): Promise<string> {
  const { name, files, door = 'guarded' } = folder;
  const window = { commit: { window: { idleTimeout: '30s', maxDuration: '1m' } } };
  const bareDir =
    door === 'guarded'
      ? await mirror(world, { name, files, spec: { ...window, ...folder.spec } })
      : await unmirrored(world, name, files);
  const metadata = { name, namespace: name, labels: { door } };
  await world.apply([
    {
      apiVersion: apiSource,
      kind: 'GitRepository',
      metadata,
      spec: { url: world.git.url(name), interval: '1h', timeout: '20s', ref: { branch: 'main' } },
    },
    {
      apiVersion: apiKustomize,
      kind: 'Kustomization',
      metadata,
      spec: {
        interval: '1h',
        timeout: '30s',
        path: './apps/shop',
        prune: true,
        force: false,
        targetNamespace: name,
        sourceRef: { kind: 'GitRepository', name },
      },
    },
  ]);
  await applied(world, name);
  return bareDir;
}

export interface KustomizationStatus {
  readonly ready: string;
  readonly message: string;
  /** The commit last applied. */
  readonly applied: string;
  /** Handled value of reconcile.fluxcd.io/requestedAt. */
  readonly handled: string;
}

export async function kustomization(world: World, name: string): Promise<KustomizationStatus> {
  const { status = {} } = JSON.parse(
    await world.kubectl('get', 'kustomization', name, '-n', name, '-o', 'json'),
  );
  const ready = status.conditions?.find((one: { type: string }) => one.type === 'Ready') ?? {};
  return {
    ready: ready.status ?? 'Unknown',
    message: ready.message ?? '',
    applied: /[0-9a-f]{40}$/.exec(status.lastAppliedRevision ?? '')?.[0] ?? '',
    handled: status.lastHandledReconcileAt ?? '',
  };
}

/** Waits until a Kustomization is Ready, at a commit if one is given. */
export async function applied(world: World, name: string, commit?: string): Promise<void> {
  let last: KustomizationStatus | undefined;
  await until(
    `Kustomization ${name} is applied${commit === undefined ? '' : ` at ${commit}`}`,
    async () => {
      last = await kustomization(world, name);
      return last.ready === 'True' && last.applied !== '' && (commit ?? last.applied) === last.applied;
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${JSON.stringify(last)}`);
  });
}

let requests = 0;

/** Asks Flux to reconcile, as `flux reconcile` does; does not wait. Returns the value it will be handled under. */
export async function request(
  world: World,
  kind: 'kustomization' | 'gitrepository',
  name: string,
): Promise<string> {
  const value = `${new Date().toISOString()}-${requests++}`;
  const text = `reconcile.fluxcd.io/requestedAt=${value}`;
  await world.kubectl('annotate', kind, name, '-n', name, '--overwrite', text);
  return value;
}

/** Waits until Flux has handled a request, however it ended. */
export async function handled(world: World, name: string, value: string): Promise<KustomizationStatus> {
  return until(
    `Kustomization ${name} handled ${value}`,
    async () => {
      const status = await kustomization(world, name);
      return status.handled === value && status.ready !== 'Unknown' ? status : undefined;
    },
    { timeoutMs: 60_000, intervalMs: 50 },
  );
}
