/** The controllers against a real API server, under the rights of manifests/rbac/core.yaml and no more. */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseConfig } from '../../src/config.ts';
import { type Controllers, startControllers } from '../../src/controllers/manager.ts';
import { createKubeClient, type KubeClient } from '../../src/kube/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { createTransport, type HttpRequest, type Transport } from '../../src/kube/transport.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { served } from '../cluster/crds.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { until } from '../cluster/wait.ts';
import { configOf } from '../kube/fault-server.ts';
import { RecordingMirror } from './recording-mirror.ts';

const manifests = fileURLToPath(new URL('../../manifests/', import.meta.url));

/** The user whose rights the controllers have. */
export const sidecar = 'carol';

export interface Running {
  readonly cluster: ControlPlane;
  readonly mirror: RecordingMirror;
  readonly metrics: Metrics;
  /** Every request the controllers sent. */
  readonly requests: HttpRequest[];
  readonly controllers: Controllers;
  /** What was logged as a warning or an error, as JSON lines. */
  readonly problems: readonly string[];
  /** Takes manifests as objects; JSON is YAML. */
  apply(...objects: object[]): Promise<void>;
  remove(...args: string[]): Promise<void>;
  annotate(kind: string, name: string, annotation: string, value: string): Promise<void>;
  get(kind: string, name: string, namespace?: string): Promise<Observed>;
  /** Waits until a condition says this, as `Type=Status/Reason`. */
  condition(kind: string, name: string, wanted: string, namespace?: string): Promise<Observed>;
  /** `Type Reason` of every Event about an object, oldest first. */
  events(name: string): Promise<string[]>;
  /** Status writes the controllers have sent so far. */
  statusWrites(): number;
  /** Is called before a request of the controllers goes out: the moment for somebody else's write. */
  setBefore(before: ((request: HttpRequest) => Promise<void>) | undefined): void;
  kubectl(...args: string[]): Promise<string>;
  /** How often objects of a kind were looked at so far. */
  reconciles(kind: string): Promise<number>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface Observed {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly ownerReferences?: readonly object[];
  };
  readonly status: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
    readonly [field: string]: unknown;
  };
}

export interface RunningOptions {
  /** Without our CRDs at first. */
  readonly bare?: boolean;
  readonly flags?: Readonly<Record<string, unknown>>;
}

export async function startRunning({ bare = false, flags = {} }: RunningOptions = {}): Promise<Running> {
  const cluster = await startControlPlane();
  const folder = temporaryFolder('controllers');
  const mirror = new RecordingMirror();
  const metrics = createMetrics({ process: false });
  const requests: HttpRequest[] = [];
  const problems: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      problems.push(String(chunk));
      done();
    },
  });
  await must(['create', 'namespace', 'shop']);
  await must(['create', 'namespace', 'gitops-reverser']);
  await must(['apply', '-f', `${manifests}rbac/core.yaml`]);
  for (const role of ['core', 'watched']) {
    await must([
      'create',
      'clusterrolebinding',
      `test-${role}`,
      `--clusterrole=gitops-reverser-${role}`,
      `--user=${sidecar}`,
    ]);
  }
  if (!bare) await applyCrds(cluster);
  let before: ((request: HttpRequest) => Promise<void>) | undefined;
  const client = countingClient(cluster, async (request) => {
    requests.push(request);
    await before?.(request);
  });
  let controllers = start();

  function start(): Controllers {
    return startControllers({
      kube: client,
      config: configFor(folder, flags),
      mirror,
      log: createLog({ level: 'warn', destination }),
      metrics,
      clock: systemClock,
      version: '0.0.0-test',
    });
  }

  async function must(args: readonly string[], stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await kubectl(cluster, args, { stdin });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  async function get(kind: string, name: string, namespace = 'shop'): Promise<Observed> {
    const object = JSON.parse(await must(['get', kind, name, '-n', namespace, '-o', 'json']));
    return { ...object, status: object.status ?? {} };
  }

  return {
    cluster,
    mirror,
    metrics,
    requests,
    problems,
    get controllers() {
      return controllers;
    },
    async apply(...objects) {
      await must(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    },
    async remove(...args) {
      await must(['delete', ...args]);
    },
    async annotate(kind, name, annotation, value) {
      await must(['annotate', kind, name, '-n', 'shop', '--overwrite', `${annotation}=${value}`]);
    },
    get,
    async condition(kind, name, wanted, namespace = 'shop') {
      let last = '';
      try {
        return await until(`${kind} ${name} to be ${wanted}`, async () => {
          const object = await get(kind, name, namespace);
          const told = (object.status.conditions ?? []).map(
            ({ type, status, reason }) => `${type}=${status}/${reason}`,
          );
          last = JSON.stringify(object.status, undefined, 1);
          return told.includes(wanted) ? object : undefined;
        });
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : error}; its status: ${last}`);
      }
    },
    async events(name) {
      const { items } = JSON.parse(
        await must(['get', 'events', '-A', '-o', 'json', `--field-selector=involvedObject.name=${name}`]),
      );
      return items.map(({ type, reason }: { type: string; reason: string }) => `${type} ${reason}`);
    },
    statusWrites: () =>
      requests.filter(({ method, path }) => method === 'PATCH' && path.includes('/status')).length,
    setBefore(wanted) {
      before = wanted;
    },
    kubectl: (...args) => must(args),
    async reconciles(kind) {
      const { body } = await metrics.text();
      const counts = body.matchAll(
        new RegExp(`reconciles_total\\{kind="${kind}",outcome="\\w+"\\} (\\d+)`, 'g'),
      );
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    },
    async restart() {
      await controllers.stop();
      controllers = start();
    },
    async stop() {
      await controllers.stop();
      await client.close();
      await cluster.stop();
      await folder.remove();
    },
  };
}

export async function applyCrds(cluster: ControlPlane): Promise<void> {
  const { code, stderr } = await kubectl(cluster, ['apply', '-f', `${manifests}crds`]);
  if (code !== 0) throw new Error(stderr);
  await served(cluster, 'our kinds', 'crd', '--all');
}

function configFor(folder: Folder, flags: Readonly<Record<string, unknown>>) {
  const parsed = parseConfig({ dataDir: folder.path, namespace: 'gitops-reverser', ...flags });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.config;
}

function countingClient(
  cluster: ControlPlane,
  onRequest: (request: HttpRequest) => Promise<void>,
): KubeClient {
  const text = readFileSync(cluster.kubeconfigFor(sidecar), 'utf8');
  const real = createTransport(() => configOf({ from: 'text', text }), systemClock);
  const transport: Transport = {
    async send(request) {
      await onRequest(request);
      return await real.send(request);
    },
    close: () => real.close(),
  };
  return createKubeClient({ transport, version: '0.0.0-test' });
}
