/**
 * Leader election by a Lease. Whether the holder is still alive is judged by when we last saw its record change, never
 * by the times written in it: clocks of machines differ. Timings are those of client-go.
 */
import { isObject, type JsonObject } from '../core/json.ts';
import { type KubeClient, resourceVersionOf } from './client.ts';
import { type Clock, pause, systemClock } from './clock.ts';
import { text } from './loose.ts';

export interface LeaseOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Who we are; unique among the replicas. Followers read it to find the leader. */
  readonly identity: string;
  /** What the Lease says of us while we hold it, such as where we can be reached. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** We lead from now on. */
  onGained(): void;
  /** We do not lead any more. Called before anyone else can: stop writing at once. */
  onLost(): void;
  /** Who leads; '' when nobody does. Told on change. */
  onLeader?(identity: string): void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface LeaseHolder {
  readonly identity: string;
  annotation(name: string): string | undefined;
}

/** How long a record that does not change still counts. */
export const leaseDurationMs = 15_000;
/** A leader that could not renew for this long gives up, well before others may take over. */
export const renewDeadlineMs = 10_000;
export const retryPeriodMs = 2_000;

interface Seen {
  readonly object: JsonObject;
  readonly holder: string;
  readonly version: string;
  readonly at: number;
}

export class LeaseElection {
  readonly #options: LeaseOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #seen: Seen | undefined;
  #leader = '';
  #leading = false;
  #renewedAt = 0;
  #cancelDeadline: (() => void) | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** The identity of the leader as last seen; '' when nobody leads. */
  get leader(): string {
    return this.#leader;
  }

  /** Who holds the Lease and still renews it, as last seen; undefined when nobody does. */
  get holder(): LeaseHolder | undefined {
    const seen = this.#seen;
    if (seen === undefined || seen.holder === '') return undefined;
    if (this.#clock.now() - seen.at >= leaseDurationMs) return undefined;
    const { metadata } = seen.object;
    const annotations = isObject(metadata) && isObject(metadata.annotations) ? metadata.annotations : {};
    return { identity: seen.holder, annotation: (name) => text(annotations[name]) || undefined };
  }

  /** Takes part until `stop`. */
  run(): Promise<void> {
    this.#running ??= this.#loop();
    return this.#running;
  }

  /** Steps down and gives the Lease back, so that another need not wait. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    if (this.#leading) this.#lose();
    if (this.#seen?.holder === this.#options.identity) await this.#release();
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#step();
      // Followers spread out, so that they do not all try at the same moment.
      const wait = this.#leading ? retryPeriodMs : retryPeriodMs * (1 + 0.2 * this.#random());
      await pause(this.#clock, wait, signal);
    }
  }

  async #step(): Promise<void> {
    const started = this.#clock.now();
    const held = await this.#tryHold();
    if (this.#stopped.signal.aborted) return;
    if (held) {
      this.#renewedAt = started;
      if (!this.#leading && this.#clock.now() - started < renewDeadlineMs) this.#gain();
      if (this.#leading) this.#armDeadline();
    } else if (this.#leading && this.#seen?.holder !== this.#options.identity) {
      // Someone else holds it: the deadline need not be waited for.
      this.#lose();
    }
    this.#tellLeader();
  }

  // Creates, takes over or renews the Lease. False when another holds it or nothing could be done.
  async #tryHold(): Promise<boolean> {
    const { client, identity } = this.#options;
    // Not called off by `stop`: what we hold must be known to be given back.
    const call = { deadlineMs: renewDeadlineMs / 2 };
    const answer = await client.get(this.#ref(), call);
    if (answer.kind === 'not-found') {
      const created = await client.create(this.#ref(), this.#record(undefined), call);
      if (created.kind === 'ok') this.#see(created.object);
      return created.kind === 'ok';
    }
    if (answer.kind !== 'ok') return false;
    const seen = this.#see(answer.object);
    const expired = this.#clock.now() - seen.at >= leaseDurationMs;
    if (seen.holder !== identity && seen.holder !== '' && !expired) return false;
    const written = await client.replace(this.#ref(), this.#record(seen), call);
    if (written.kind === 'ok') this.#see(written.object);
    return written.kind === 'ok';
  }

  #see(object: JsonObject): Seen {
    const version = resourceVersionOf(object);
    if (this.#seen?.version !== version) {
      this.#seen = { object, version, holder: holderOf(object), at: this.#clock.now() };
    }
    return this.#seen;
  }

  #record(seen: Seen | undefined): JsonObject {
    const { identity, name, namespace, annotations } = this.#options;
    const metadata = seen !== undefined && isObject(seen.object.metadata) ? seen.object.metadata : undefined;
    const before = isObject(metadata?.annotations) ? metadata.annotations : {};
    const spec = seen !== undefined && isObject(seen.object.spec) ? seen.object.spec : {};
    const now = microTime(this.#clock.date());
    const kept = seen?.holder === identity;
    const transitions = typeof spec.leaseTransitions === 'number' ? spec.leaseTransitions : 0;
    return {
      ...seen?.object,
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        ...(metadata ?? { name, namespace }),
        ...(annotations !== undefined && { annotations: { ...before, ...annotations } }),
      },
      spec: {
        ...spec,
        holderIdentity: identity,
        leaseDurationSeconds: leaseDurationMs / 1000,
        acquireTime: kept ? (spec.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: kept || seen === undefined ? transitions : transitions + 1,
      },
    };
  }

  async #release(): Promise<void> {
    const seen = this.#seen;
    if (seen === undefined || !isObject(seen.object.spec)) return;
    const released = {
      ...seen.object,
      spec: { ...seen.object.spec, holderIdentity: '', leaseDurationSeconds: 1 },
    };
    // Should it fail, the others wait for the record to expire.
    await this.#options.client.replace(this.#ref(), released, { deadlineMs: retryPeriodMs });
  }

  #gain(): void {
    this.#leading = true;
    this.#options.onGained();
  }

  #lose(): void {
    this.#cancelDeadline?.();
    this.#leading = false;
    this.#options.onLost();
  }

  // Counted from before the renewal was sent: the server may have stored it that early.
  #armDeadline(): void {
    this.#cancelDeadline?.();
    const left = this.#renewedAt + renewDeadlineMs - this.#clock.now();
    this.#cancelDeadline = this.#clock.after(Math.max(0, left), () => {
      if (this.#leading) this.#lose();
    });
  }

  #tellLeader(): void {
    const holder = this.#seen?.holder ?? '';
    if (holder === this.#leader) return;
    this.#leader = holder;
    this.#options.onLeader?.(holder);
  }

  #ref() {
    const { namespace, name } = this.#options;
    return { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace, name };
  }
}

function holderOf({ spec }: JsonObject): string {
  return isObject(spec) ? text(spec.holderIdentity) : '';
}

// The API keeps microseconds; ours end in zeros.
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
