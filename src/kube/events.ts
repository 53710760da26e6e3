/**
 * Kubernetes Events about objects. Nobody waits for them: they are queued, the same words again only raise a count,
 * and what cannot be sent is counted, not thrown.
 */
import type { JsonObject } from '../core/json.ts';
import { fieldManager, type KubeClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  /** '' for cluster-scoped objects; their Events are kept in `default`. */
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

export interface EventFact {
  readonly about: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** One word in camel case. */
  readonly reason: string;
  /** For people. Holds no secret value. */
  readonly message: string;
}

export interface EventCounts {
  created: number;
  repeated: number;
  /** Not sent: the queue was full, or too many about one object. */
  dropped: number;
  failed: number;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** Which replica says it, for example the pod's name. */
  readonly instance: string;
  readonly clock?: Clock;
}

interface Sent {
  readonly name: string;
  readonly sentAt: number;
  readonly count: number;
}

interface Allowance {
  left: number;
  at: number;
}

const queueLimit = 256;
const messageLimit = 1024;
/** The same words within this time are one Event with a count. */
const repeatMs = 600_000;
/** Per object: so many at once, then one every five minutes, as client-go does. */
const burst = 25;
const refillMs = 300_000;
const remembered = 2048;

const events = { group: '', version: 'v1', resource: 'events' } as const;

export class EventRecorder {
  readonly counts: EventCounts = { created: 0, repeated: 0, dropped: 0, failed: 0 };
  readonly #client: KubeClient;
  readonly #instance: string;
  readonly #clock: Clock;
  readonly #queue: EventFact[] = [];
  readonly #sent = new Map<string, Sent>();
  readonly #allowances = new Map<string, Allowance>();
  #sending: Promise<void> | undefined;
  #number = 0;

  constructor({ client, instance, clock = systemClock }: EventRecorderOptions) {
    this.#client = client;
    this.#instance = instance;
    this.#clock = clock;
  }

  record(fact: EventFact): void {
    if (this.#queue.length >= queueLimit || !this.#mayAbout(fact.about)) {
      this.counts.dropped += 1;
      return;
    }
    this.#queue.push(fact);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Resolves when everything recorded so far was sent or given up. */
  async drain(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    for (let fact = this.#queue.shift(); fact !== undefined; fact = this.#queue.shift()) {
      const key = [...subjectKey(fact.about), fact.type, fact.reason, fact.message].join('\0');
      const before = this.#sent.get(key);
      const recent =
        before !== undefined && this.#clock.now() - before.sentAt < repeatMs ? before : undefined;
      const sent = (recent && (await this.#repeat(fact, recent))) ?? (await this.#create(fact));
      if (sent === undefined) this.counts.failed += 1;
      else remember(this.#sent, key, sent);
    }
  }

  async #create({ about, type, reason, message }: EventFact): Promise<Sent | undefined> {
    const date = this.#clock.date();
    this.#number += 1;
    const name = `${nameStart(about.name)}.${date.getTime().toString(16)}${this.#number.toString(16)}`;
    const namespace = eventNamespace(about);
    const time = seconds(date);
    const object: JsonObject = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: { ...about },
      type,
      reason,
      message: message.slice(0, messageLimit),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: fieldManager },
      reportingComponent: fieldManager,
      reportingInstance: this.#instance,
    };
    const answer = await this.#client.create({ ...events, namespace }, object);
    if (answer.kind !== 'ok') return undefined;
    this.counts.created += 1;
    return { name, sentAt: this.#clock.now(), count: 1 };
  }

  // Undefined: it is not there any more, the server forgets Events after an hour or so.
  async #repeat({ about }: EventFact, before: Sent): Promise<Sent | undefined> {
    const count = before.count + 1;
    const body: JsonObject = { count, lastTimestamp: seconds(this.#clock.date()) };
    const ref = { ...events, namespace: eventNamespace(about), name: before.name };
    const answer = await this.#client.patch(ref, { type: 'merge', body });
    if (answer.kind !== 'ok') return undefined;
    this.counts.repeated += 1;
    return { name: before.name, sentAt: this.#clock.now(), count };
  }

  #mayAbout(about: EventSubject): boolean {
    const key = subjectKey(about).join('\0');
    const now = this.#clock.now();
    const allowance = this.#allowances.get(key) ?? { left: burst, at: now };
    const refilled = Math.floor((now - allowance.at) / refillMs);
    allowance.left = Math.min(burst, allowance.left + refilled);
    allowance.at += refilled * refillMs;
    remember(this.#allowances, key, allowance);
    if (allowance.left === 0) return false;
    allowance.left -= 1;
    return true;
  }
}

// The oldest goes first: a Map keeps the order of insertion.
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > remembered ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}

function subjectKey({ apiVersion, kind, namespace, name, uid = '' }: EventSubject): string[] {
  return [apiVersion, kind, namespace, name, uid];
}

function eventNamespace({ namespace }: EventSubject): string {
  return namespace === '' ? 'default' : namespace;
}

// Names of RBAC objects may hold what names of Events may not.
function nameStart(name: string): string {
  const clean = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .slice(0, 200);
  return clean.replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '') || 'object';
}

function seconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
