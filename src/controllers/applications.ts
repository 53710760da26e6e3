/**
 * The Applications of Argo CD in the control cluster, as far as gates and conditions must know them. A cluster without Argo
 * CD, or without the right to see them, has none.
 */
import { type Application, applicationOf, applications } from '../appliers/argocd-application.ts';
import { type Bypass, bypassesOf, compareBypasses, describeBypass } from '../core/apply/index.ts';
import { coverageOf, type GateTarget } from '../core/gate/index.ts';
import type { JsonObject } from '../core/json.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { StreamHandler } from '../kube/collection.ts';
import { CollectionStream } from '../kube/watch.ts';
import type { Log } from '../telemetry/log.ts';
import type { SyncGates } from './sync-gates.ts';

export interface ApplicationsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** @param name `namespace/name` */
  readonly onChange: (name: string) => void;
}

export interface GateFinding {
  readonly reason: Bypass | 'Succeeded';
  readonly message: string;
}

const namedAtMost = 5;

export class Applications {
  readonly #options: ApplicationsOptions;
  readonly #known = new Map<string, Application>();
  readonly #stream: CollectionStream;
  #complained = false;

  constructor(options: ApplicationsOptions) {
    this.#options = options;
    const { client, clock } = options;
    const collection = { ...applications, namespace: '', labelSelector: '' };
    this.#stream = new CollectionStream({ client, clock, collection, handler: this.#handler() });
  }

  start(): void {
    this.#stream
      .run()
      .catch((error: unknown) => this.#options.log.error({ err: error }, 'the stream of Applications broke'));
  }

  async stop(): Promise<void> {
    await this.#stream.stop();
  }

  /** CRDs changed: Argo CD may be there now. */
  retryBlocked(): void {
    if (this.#stream.state.phase === 'blocked') this.#stream.resync();
  }

  list(): readonly Application[] {
    return [...this.#known.values()];
  }

  get(name: string): Application | undefined {
    return this.#known.get(name);
  }

  #handler(): StreamHandler {
    return {
      upsert: (object) => this.#upsert(object),
      delete: (object) => this.#remove(nameOf(applicationOf(object))),
      settled: ({ keys }) => {
        for (const name of [...this.#known.keys()]) if (!keys.has(name)) this.#remove(name);
      },
      progress: () => undefined,
      state: (state) => {
        if (state.phase !== 'blocked' || state.reason === 'NotServed' || this.#complained) return;
        this.#complained = true;
        // The right is opt-in: where it is wanted and missing, the SyncGate itself says that its Application cannot be read.
        const level = state.reason === 'WatchNotPermitted' ? 'debug' : 'info';
        this.#options.log[level](
          { reason: state.reason, problem: state.message },
          'Applications of Argo CD cannot be read; what passes their gates by is not told',
        );
      },
    };
  }

  #upsert(object: JsonObject): void {
    const application = applicationOf(object);
    this.#known.set(nameOf(application), application);
    this.#options.onChange(nameOf(application));
  }

  #remove(name: string): void {
    if (this.#known.delete(name)) this.#options.onChange(name);
  }
}

export function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** Applications that apply the folder of a target, whether or not it may hold them back. */
export function applying(list: readonly Application[], target: GateTarget): Application[] {
  // Only where the folder is counts here.
  const anywhere = {
    ...target,
    validated: true,
    credentialVerified: true,
    writes: true,
    crossNamespace: true,
  };
  return list.filter(({ sources, namespace, name }) =>
    sources.some(({ repoURL, targetRevision, path }) => {
      const application = { namespace, name };
      const question = {
        applier: 'argocd',
        application,
        repoURL,
        targetRevision,
        path,
        revision: '',
        phase: 'presync',
      } as const;
      return coverageOf(question, [anywhere], undefined).kind !== 'none';
    }),
  );
}

export function isAdmitted({ namespace }: Application, target: GateTarget): boolean {
  return target.namespace === namespace || target.crossNamespace;
}

/** Whether every Application of the folder waits at its gate; undefined when nobody applies it. */
export function gateFinding(
  list: readonly Application[],
  target: GateTarget,
  gates: Pick<SyncGates, 'of' | 'reaches'>,
): GateFinding | undefined {
  const own = applying(list, target);
  if (own.length === 0) return undefined;
  const found = own.flatMap((application) => {
    const name = nameOf(application);
    const { selfHeal, doorOpen, lastSync, operation, destination } = application;
    const gate = gates.of(name);
    const oldGate =
      gate !== undefined && operation !== undefined && gate.createdAt < operation.startedAt - secondMs;
    const bypasses = bypassesOf({
      application: name,
      selfHeal,
      doorOpen,
      admitted: isAdmitted(application, target),
      reached: gate !== undefined || gates.reaches(destination),
      lastSync: lastSync === undefined ? undefined : { ...lastSync, oldGate },
    });
    return bypasses.map((bypass) => ({ bypass, message: describeBypass(name, bypass) }));
  });
  found.sort((a, b) => compareBypasses(a.bypass, b.bypass));
  const [first] = found;
  if (first === undefined) {
    const names = own.slice(0, namedAtMost).map(nameOf);
    return { reason: 'Succeeded', message: `${names.join(', ')} waits at the SyncGate before each sync` };
  }
  const more = found.length > namedAtMost ? [`and ${found.length - namedAtMost} more`] : [];
  const messages = [...found.slice(0, namedAtMost).map(({ message }) => message), ...more];
  return { reason: first.bypass, message: messages.join('; ') };
}

/** Kubernetes and Argo CD both cut their times to seconds. */
const secondMs = 1_000;
