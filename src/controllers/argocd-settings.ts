/**
 * How the Argo CD of the control cluster marks what it applies: read from its ConfigMap argocd-cm now and then. Where that
 * cannot be read, tracking stays unknown and the marks themselves have to do.
 */
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { type ArgocdTracking, unknownTracking } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';

export interface ArgocdSettingsOptions {
  readonly client: KubeClient;
  readonly argocdNamespace: string;
  readonly clock: Clock;
  readonly log: Log;
  /** After the first look, and whenever tracking is another one. */
  readonly onChange: () => void;
}

const configMap = { group: '', version: 'v1', resource: 'configmaps', name: 'argocd-cm' } as const;
const deadlineMs = 5_000;
const lookEveryMs = 60_000;
/** Where there is none, or no right to read it. */
const lookRarelyMs = 600_000;
const lookSoonMs = 5_000;

const methods: readonly Json[] = ['annotation', 'label', 'annotation+label'];

export class ArgocdSettings {
  readonly #options: ArgocdSettingsOptions;
  #tracking: ArgocdTracking;
  #looked = false;
  #stopped = false;
  #cancel: () => void = () => undefined;

  constructor(options: ArgocdSettingsOptions) {
    this.#options = options;
    this.#tracking = { ...unknownTracking, namespace: options.argocdNamespace };
  }

  get tracking(): ArgocdTracking {
    return this.#tracking;
  }

  /** It was looked at once, whatever came of it. */
  get isKnown(): boolean {
    return this.#looked;
  }

  start(): void {
    this.#look().catch((error: unknown) =>
      this.#options.log.error({ err: error }, 'reading the settings of Argo CD broke'),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #look(): Promise<void> {
    const { client, argocdNamespace: namespace, clock, log } = this.#options;
    const read = await client.get({ ...configMap, namespace }, { deadlineMs });
    if (this.#stopped) return;
    if (read.kind === 'ok') this.#take(trackingOf(read.object, namespace));
    else {
      const { message } = read;
      log.debug({ namespace, problem: message }, 'argocd-cm cannot be read; how Argo CD tracks is not known');
      if (read.kind === 'not-found') this.#take({ ...unknownTracking, namespace });
      else this.#take(this.#tracking);
    }
    this.#cancel = clock.after(pauseAfter(read.kind), () => this.start());
  }

  #take(tracking: ArgocdTracking): void {
    const isNew = !this.#looked || JSON.stringify(tracking) !== JSON.stringify(this.#tracking);
    this.#looked = true;
    this.#tracking = tracking;
    if (isNew) this.#options.onChange();
  }
}

function pauseAfter(read: string): number {
  if (read === 'ok') return lookEveryMs;
  return read === 'not-found' || read === 'forbidden' || read === 'unauthorized' ? lookRarelyMs : lookSoonMs;
}

/** What Argo CD does with a value it does not know, it does without one. */
function trackingOf({ data }: JsonObject, namespace: string): ArgocdTracking {
  const settings = isObject(data) ? data : {};
  const method = settings['application.resourceTrackingMethod'];
  const label = settings['application.instanceLabelKey'];
  const installation = settings.installationID;
  return {
    namespace,
    method: isMethod(method) ? method : undefined,
    label: typeof label === 'string' && label !== '' ? label : unknownTracking.label,
    installation: typeof installation === 'string' ? installation : '',
  };
}

function isMethod(method: Json | undefined): method is 'annotation' | 'label' | 'annotation+label' {
  return method !== undefined && methods.includes(method);
}
