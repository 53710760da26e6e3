/**
 * The source clusters of all KubeProviders: a client and a view of each. Those that are `inCluster` share one. A KubeProvider whose
 * connection changed gets a new client; the old one is closed once nobody can use it any more.
 */
import { createHash } from 'node:crypto';
import type { KubeProvider, KubeProviderSpec } from '../api/kube-provider.ts';
import type { Config } from '../config.ts';
import type { FollowPolicy } from '../core/catalog/index.ts';
import { isObject } from '../core/json.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { type KubeConfigPolicy, loadKubeConfig, strictPolicy } from '../kube/kubeconfig.ts';
import { type ApiServerConfig, createTransport } from '../kube/transport.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Connection } from './decide-kube-provider.ts';
import { SourceCluster } from './source-cluster.ts';

export interface ClustersOptions {
  readonly control: KubeClient;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  readonly policy: FollowPolicy;
  /** The view of the cluster of this KubeProvider changed. */
  readonly onChange: (kubeProvider: string) => void;
}

interface Remote {
  readonly fingerprint: string;
  /** URL of its API server. */
  readonly server: string;
  readonly cluster: SourceCluster;
}

type KubeConfigText =
  | { readonly kind: 'ok'; readonly text: string }
  | Extract<Connection, { kind: 'refused' }>
  /** The control cluster did not answer: nothing is known. */
  | { readonly kind: 'unknown'; readonly message: string };

const defaultKeys = ['value', 'value.yaml'] as const;
/** Longer than any call of a client that was replaced. */
const closeAfterMs = 60_000;

export class Clusters {
  readonly #options: ClustersOptions;
  readonly #local: SourceCluster;
  readonly #remotes = new Map<string, Remote>();
  readonly #connections = new Map<string, Connection>();
  #localStarted = false;

  constructor(options: ClustersOptions) {
    this.#options = options;
    this.#local = this.#view('in-cluster', options.control, true, () => {
      for (const [name, { kind }] of this.#connections) if (kind === 'in-cluster') options.onChange(name);
    });
  }

  /** What a KubeProvider's cluster is like; undefined when it cannot be connected to. */
  get(kubeProvider: string): SourceCluster | undefined {
    const kind = this.#connections.get(kubeProvider)?.kind;
    if (kind === 'in-cluster') return this.#local;
    return kind === 'kubeconfig' ? this.#remotes.get(kubeProvider)?.cluster : undefined;
  }

  /** Clusters other than the control cluster that can be connected to. */
  remotes(): { readonly name: string; readonly server: string; readonly client: KubeClient }[] {
    return [...this.#remotes].map(([name, { server, cluster }]) => ({
      name,
      server,
      client: cluster.client,
    }));
  }

  connection(kubeProvider: string): Connection | undefined {
    return this.#connections.get(kubeProvider);
  }

  /** Reads the connection settings anew. Undefined: they could not be read now, and nothing changed. */
  async connect({ metadata, spec }: KubeProvider): Promise<Connection | undefined> {
    const { name } = metadata;
    if (spec.inCluster !== undefined || spec.kubeConfig === undefined) {
      this.#connections.set(name, { kind: 'in-cluster' });
      if (!this.#localStarted) {
        this.#localStarted = true;
        this.#local.refresh();
      }
      return { kind: 'in-cluster' };
    }
    const content = await this.#readSecret(spec.kubeConfig.secretRef);
    if (content.kind === 'unknown') {
      this.#options.log.warn(
        { kubeProvider: name, problem: content.message },
        'a kubeconfig cannot be read at present',
      );
      return this.#connections.get(name);
    }
    const connection = content.kind === 'ok' ? this.#connectTo(name, content.text, spec) : content;
    if (connection.kind === 'refused') this.#drop(name);
    this.#connections.set(name, connection);
    return connection;
  }

  forget(kubeProvider: string): void {
    this.#drop(kubeProvider);
    this.#connections.delete(kubeProvider);
  }

  /** The types of the control cluster changed. */
  refreshLocal(): void {
    if (this.#localStarted) this.#local.refresh();
  }

  async stop(): Promise<void> {
    const clusters = [this.#local, ...[...this.#remotes.values()].map(({ cluster }) => cluster)];
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    await Promise.all([...this.#remotes.values()].map(({ cluster }) => cluster.client.close()));
  }

  #connectTo(name: string, text: string, { client: limit }: KubeProviderSpec): Connection {
    const { config, clock, version } = this.#options;
    const loaded = loadKubeConfig({ from: 'text', text }, policyOf(config));
    if (!loaded.ok) return { kind: 'refused', reason: loaded.reason, message: loaded.message };
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([text, limit]))
      .digest('hex');
    if (this.#remotes.get(name)?.fingerprint !== fingerprint) {
      this.#drop(name);
      const open = (): ApiServerConfig => loaded.config;
      const client = createKubeClient({
        transport: createTransport(open, clock),
        version,
        clock,
        rateLimit: limit,
      });
      const cluster = this.#view(name, client, false, () => this.#options.onChange(name));
      const server = loaded.config.getCurrentCluster()?.server ?? '';
      this.#remotes.set(name, { fingerprint, server, cluster });
      cluster.refresh();
    }
    return { kind: 'kubeconfig' };
  }

  async #readSecret({
    name,
    key,
  }: {
    readonly name: string;
    readonly key?: string | undefined;
  }): Promise<KubeConfigText> {
    const { control, config } = this.#options;
    const namespace = config.namespace;
    const answer = await control.get({ group: '', version: 'v1', resource: 'secrets', namespace, name });
    const where = `Secret ${namespace}/${name}`;
    if (answer.kind === 'not-found') {
      return { kind: 'refused', reason: 'KubeConfigSecretNotFound', message: `there is no ${where}` };
    }
    if (answer.kind === 'forbidden') {
      return {
        kind: 'refused',
        reason: 'KubeConfigSecretNotFound',
        message: `${where} may not be read: ${answer.message}`,
      };
    }
    if (answer.kind !== 'ok') return { kind: 'unknown', message: answer.message };
    const data = isObject(answer.object.data) ? answer.object.data : {};
    const keys = key === undefined || key === '' ? defaultKeys : [key];
    const found = keys.map((one) => data[one]).find((value) => typeof value === 'string');
    if (typeof found !== 'string') {
      return {
        kind: 'refused',
        reason: 'KubeConfigKeyNotFound',
        message: `${where} has no key ${keys.join(' or ')}`,
      };
    }
    return { kind: 'ok', text: Buffer.from(found, 'base64').toString('utf8') };
  }

  #view(name: string, client: KubeClient, local: boolean, onChange: () => void): SourceCluster {
    const { policy, clock, log, metrics } = this.#options;
    return new SourceCluster({ name, client, local, policy, clock, log, metrics, onChange });
  }

  #drop(name: string): void {
    const remote = this.#remotes.get(name);
    if (remote === undefined) return;
    this.#remotes.delete(name);
    const { clock, log } = this.#options;
    const failed = (error: unknown): void =>
      log.error({ err: error, kubeProvider: name }, 'a client could not be closed');
    remote.cluster.stop().catch(failed);
    clock.after(closeAfterMs, () => void remote.cluster.client.close().catch(failed));
  }
}

function policyOf({ insecureKubeconfigExec, insecureKubeconfigTls }: Config): KubeConfigPolicy {
  return { ...strictPolicy, allowExec: insecureKubeconfigExec, allowInsecureTLS: insecureKubeconfigTls };
}
