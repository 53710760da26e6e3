/**
 * How a GitTarget seals sensitive objects: what its spec and its Secret say. The Secret is read by name, never listed or watched;
 * a key is made in it only when the spec asks for one. No message holds a value.
 */
import { randomBytes } from 'node:crypto';
import type { GitTarget } from '../api/git-target.ts';
import { annotations } from '../api/group.ts';
import { type Catalog, type FollowPolicy, withoutSensitive } from '../core/catalog/index.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { agePair, isRecipient, readAgeKeys } from '../core/sealed/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Sealing } from '../worker/mirror-spec.ts';
import { keyOf } from './object-key.ts';

export type SealingState =
  /** Encryption is not asked for. */
  | { readonly kind: 'off' }
  | { readonly kind: 'ok'; readonly sealing: Sealing; readonly message: string }
  | {
      readonly kind: 'unusable';
      readonly reason: 'MissingSecret' | 'SecretCreateDisabled' | 'InvalidConfig';
      readonly message: string;
    }
  /** Not read yet, or the API server did not answer. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface EncryptionOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly isSensitive: FollowPolicy['isSensitive'];
}

interface Reading {
  readonly uid: string;
  /** What was read for: another spec, or a request by hand, reads again. */
  readonly intent: string;
  readonly state: SealingState;
  readonly nextAt: number;
}

const steadyMs = 300_000;
const retryMs = 10_000;
/** A key that nobody keeps elsewhere is lost with the Secret. */
const backupWarning = 'REMOVE_AFTER_BACKUP';

export class EncryptionReads {
  readonly #options: EncryptionOptions;
  readonly #readings = new Map<string, Reading>();
  readonly #catalogs = new WeakMap<Catalog, Catalog>();

  constructor(options: EncryptionOptions) {
    this.#options = options;
  }

  /** The newest reading; perhaps of an older spec, for the moment until that is read. */
  state({ metadata, spec }: GitTarget): SealingState {
    if (spec.encryption?.age?.enabled !== true) return { kind: 'off' };
    const reading = this.#readings.get(keyOf({ metadata }));
    const isOfThis = reading !== undefined && reading.uid === (metadata.uid ?? '');
    return isOfThis ? reading.state : { kind: 'unknown', message: 'the age keys were not read yet' };
  }

  /** Reads when it is time. Returns whether something is another now. */
  async refresh(target: GitTarget): Promise<boolean> {
    const key = keyOf(target);
    const before = this.state(target);
    if (before.kind === 'off') {
      this.#readings.delete(key);
      return false;
    }
    const { clock } = this.#options;
    const known = this.#readings.get(key);
    const intent = intentOf(target);
    if (known?.intent === intent && clock.now() < known.nextAt) return false;
    const read = await readSealing(target, this.#options);
    // What cannot be read now stays what it was.
    const state = read.kind === 'unknown' && before.kind !== 'unknown' ? before : kept(before, read);
    const nextAt = clock.now() + (read.kind === 'ok' ? steadyMs : retryMs);
    this.#readings.set(key, { uid: target.metadata.uid ?? '', intent, state, nextAt });
    return state !== before;
  }

  forget(key: string): void {
    this.#readings.delete(key);
  }

  /** What may be followed for a target: without encryption, nothing sensitive. */
  catalogFor(catalog: Catalog, state: SealingState): Catalog {
    if (state.kind !== 'off') return catalog;
    const known = this.#catalogs.get(catalog) ?? withoutSensitive(catalog, this.#options.isSensitive);
    this.#catalogs.set(catalog, known);
    return known;
  }
}

/** The same keys stay the same object, so that nobody takes a new look for a change. */
function kept(before: SealingState, read: SealingState): SealingState {
  return JSON.stringify(revealed(before)) === JSON.stringify(revealed(read)) ? before : read;
}

/** For comparing only; never kept. */
function revealed(state: SealingState): unknown[] {
  if (state.kind !== 'ok') return [state];
  return [state.kind, state.message, state.sealing.recipients, state.sealing.keys?.reveal()];
}

function intentOf({ metadata, spec }: GitTarget): string {
  return JSON.stringify([metadata.uid, spec.encryption, metadata.annotations?.[annotations.requestedAt]]);
}

async function readSealing(
  { metadata, spec }: GitTarget,
  { client, clock }: EncryptionOptions,
): Promise<SealingState> {
  const { secretRef, age } = spec.encryption ?? {};
  const { publicKeys = [], extractFromSecret = false, generateWhenMissing = false } = age?.recipients ?? {};
  const wrong = publicKeys.findIndex((one) => !isRecipient(one));
  if (wrong >= 0) return unusable('InvalidConfig', `publicKeys[${wrong}] is no age recipient`);
  if (secretRef === undefined) {
    if (extractFromSecret || generateWhenMissing) {
      return unusable('InvalidConfig', 'extractFromSecret and generateWhenMissing need encryption.secretRef');
    }
    return sealingOf(publicKeys, {}, undefined);
  }
  const namespace = metadata.namespace ?? '';
  const where = { client, namespace, name: secretRef.name };
  const found = await readEntries(where);
  if (found.kind !== 'found' && found.kind !== 'missing') return found;
  const isEmpty = found.kind === 'missing' || !Object.keys(found.entries).some(isAgeKey);
  if (isEmpty && generateWhenMissing) {
    const object = found.kind === 'found' ? found.object : undefined;
    const made = await generate(where, object, clock.date());
    return made.kind === 'made' ? sealingOf(publicKeys, made.entries, 'generated') : made;
  }
  if (found.kind === 'missing') {
    return unusable('MissingSecret', `there is no Secret ${namespace}/${secretRef.name}`);
  }
  if (isEmpty) {
    return unusable('MissingSecret', `Secret ${namespace}/${secretRef.name} has no *.agekey entry`);
  }
  return sealingOf(
    publicKeys,
    found.entries,
    extractFromSecret || generateWhenMissing ? 'extracted' : undefined,
  );
}

function sealingOf(
  publicKeys: readonly string[],
  entries: Readonly<Record<string, string>>,
  from: 'generated' | 'extracted' | undefined,
): SealingState {
  const keys = readAgeKeys(entries);
  if (!keys.ok) return unusable('InvalidConfig', keys.message);
  const recipients = [...new Set([...publicKeys, ...(from === undefined ? [] : keys.recipients)])];
  const whom =
    recipients.length === 0
      ? 'no recipients: only what a rule of .sops.yaml matches is sealed'
      : `sealed for ${recipients.length === 1 ? '1 recipient' : `${recipients.length} recipients`}`;
  const how =
    keys.keys === undefined
      ? 'no private key is at hand, so documents cannot be compared: a live edit replaces its whole document'
      : 'a live edit changes the edited values only';
  return { kind: 'ok', sealing: { recipients, keys: keys.keys }, message: `${whom}; ${how}` };
}

interface Where {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
}

type Entries =
  | {
      readonly kind: 'found';
      readonly entries: Readonly<Record<string, string>>;
      readonly object: JsonObject;
    }
  | { readonly kind: 'missing' }
  | Extract<SealingState, { kind: 'unusable' | 'unknown' }>;

async function readEntries({ client, namespace, name }: Where): Promise<Entries> {
  const answer = await client.get(secretRef(namespace, name));
  if (answer.kind === 'ok')
    return { kind: 'found', entries: entriesOf(answer.object), object: answer.object };
  if (answer.kind === 'not-found') return { kind: 'missing' };
  if (answer.kind === 'forbidden') {
    return unusable('MissingSecret', `Secret ${namespace}/${name} may not be read: ${answer.message}`);
  }
  return { kind: 'unknown', message: `the age keys cannot be read: ${answer.message}` };
}

/** Two replicas may try at once: the second one's write fails, and the next look reads the key of the first. */
async function generate(
  { client, namespace, name }: Where,
  object: JsonObject | undefined,
  now: Date,
): Promise<
  | { readonly kind: 'made'; readonly entries: Record<string, string> }
  | Exclude<SealingState, { kind: 'ok' | 'off' }>
> {
  const { key, recipient } = agePair(randomBytes(32));
  const entry = `${now.toISOString().slice(0, 10)}.agekey`;
  const marks = {
    'configbutler.ai/age-recipient': recipient,
    'configbutler.ai/backup-warning': backupWarning,
  };
  const text = `# recipient: ${recipient}\n${key.reveal()}\n`;
  const data = { [entry]: Buffer.from(text, 'utf8').toString('base64') };
  const metadata = isObject(object?.metadata) ? object.metadata : { name, namespace };
  const noted = isObject(metadata.annotations) ? metadata.annotations : {};
  const secret: JsonObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    ...object,
    // Its resourceVersion, where it has one, makes the write conditional.
    metadata: { ...metadata, annotations: { ...noted, ...marks } },
    data: { ...(isObject(object?.data) ? object.data : {}), ...data },
  };
  const ref = secretRef(namespace, name);
  const written = object === undefined ? await client.create(ref, secret) : await client.replace(ref, secret);
  if (written.kind === 'ok') return { kind: 'made', entries: { [entry]: text } };
  if (written.kind === 'forbidden') {
    return unusable(
      'SecretCreateDisabled',
      `the generated age key cannot be stored in Secret ${namespace}/${name}: ${written.message}`,
    );
  }
  return { kind: 'unknown', message: written.message };
}

function entriesOf({ data }: JsonObject): Record<string, string> {
  const entries = Object.entries(isObject(data) ? data : {}).filter(([name]) => isAgeKey(name));
  return Object.fromEntries(
    entries.flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, Buffer.from(value, 'base64').toString('utf8')]] : [],
    ),
  );
}

function isAgeKey(name: string): boolean {
  return name.endsWith('.agekey');
}

function secretRef(namespace: string, name: string) {
  return { group: '', version: 'v1', resource: 'secrets', namespace, name };
}

function unusable(
  reason: Extract<SealingState, { kind: 'unusable' }>['reason'],
  message: string,
): Extract<SealingState, { kind: 'unusable' }> {
  return { kind: 'unusable', reason, message };
}
