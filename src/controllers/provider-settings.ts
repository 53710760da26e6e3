/**
 * Reads what a GitProvider's spec names: credentials, host keys, signing key. Secrets are read one by one with GET, never listed
 * or watched. Everything that is wrong comes back as a reason; no message holds a value.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitProvider } from '../api/git-provider.ts';
import type { Config } from '../config.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { parseRepositoryUrl, type RepositoryUrl } from '../core/repository-url.ts';
import { type Access, checkAccess, readCredentials, type SecretData } from '../git/credentials.ts';
import {
  chooseKnownHosts,
  type KnownHosts,
  type KnownHostsSource,
  knownHostsIn,
} from '../git/known-hosts.ts';
import { generateSigningKey, readSigner, type Signer } from '../git/signing.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ProviderSettings, UnusableReason } from './decide-git-provider.ts';

export interface SettingsOptions {
  readonly client: KubeClient;
  readonly config: Config;
  /** Only for tests: a repository on this machine. */
  readonly allowFile?: boolean;
}

export type SettingsRead =
  | { readonly kind: 'ok'; readonly settings: ProviderSettings }
  | Unusable
  /** The API server did not answer: nothing is known. */
  | { readonly kind: 'unknown'; readonly message: string };

interface Unusable {
  readonly kind: 'unusable';
  readonly reason: UnusableReason;
  readonly message: string;
}

type Read<Value> = { readonly kind: 'ok'; readonly value: Value } | Exclude<SettingsRead, { kind: 'ok' }>;

export async function readSettings(provider: GitProvider, options: SettingsOptions): Promise<SettingsRead> {
  const { config } = options;
  const { spec, metadata } = provider;
  const namespace = metadata.namespace ?? '';
  const parsed = parseRepositoryUrl(spec.url, {
    allowHttp: config.insecureAllowGitHttp,
    ...(options.allowFile === undefined ? {} : { allowFile: options.allowFile }),
  });
  if (!parsed.ok) {
    return unusable(/^http:/i.test(spec.url) ? 'InsecureTransport' : 'ConnectionFailed', parsed.message);
  }
  const secret =
    spec.secretRef === undefined ? absent : await readSecret(options.client, namespace, spec.secretRef.name);
  if (secret.kind !== 'ok') return secret;
  const login = readCredentials(secret.value);
  if (!login.ok) return unusable('SecretMalformed', login.message);
  const hosts = await readHosts(provider, parsed.url, login.knownHosts, options);
  if (hosts.kind !== 'ok') return hosts;
  const access: Access = { url: parsed.url, credentials: login.credentials, knownHosts: hosts.value };
  const refused = checkAccess(access, {
    allowHttp: config.insecureAllowGitHttp,
    allowMissingKnownHosts: config.insecureAllowMissingKnownHosts,
  });
  if (refused !== undefined) {
    const reason = refused.reason === 'InsecureTransport' ? 'InsecureTransport' : 'SecretMalformed';
    return unusable(reason, refused.message);
  }
  const signer = await readSigning(provider, options);
  if (signer.kind !== 'ok') return signer;
  return { kind: 'ok', settings: { access, committer: spec.commit.committer, signer: signer.value } };
}

const absent: Read<undefined> = { kind: 'ok', value: undefined };

/** The credentials Secret first, then knownHostsRef, then the default of the sidecar. */
async function readHosts(
  { spec, metadata }: GitProvider,
  url: RepositoryUrl,
  fromSecret: KnownHosts | undefined,
  { client, config }: SettingsOptions,
): Promise<Read<KnownHosts | 'any' | undefined>> {
  if (url.scheme !== 'ssh') return absent;
  if (fromSecret !== undefined) return { kind: 'ok', value: fromSecret };
  const sources: KnownHostsSource[] = [];
  const ref = spec.knownHostsRef;
  if (ref !== undefined) {
    const namespace = metadata.namespace ?? '';
    const text = await readHostsOf(client, ref.kind, namespace, ref.name);
    if (text.kind !== 'ok') return text;
    if (text.value === undefined) {
      return unusable(
        'SecretMalformed',
        `${ref.kind} ${namespace}/${ref.name} has neither known_hosts nor ssh_known_hosts`,
      );
    }
    sources.push({ where: `${ref.kind} ${namespace}/${ref.name}`, text: text.value });
  }
  const fallback = config.defaultKnownHostsConfigmap;
  if (sources.length === 0 && fallback !== undefined) {
    const text = await readHostsOf(client, 'ConfigMap', config.namespace, fallback);
    if (text.kind !== 'ok') return text;
    sources.push({ where: `ConfigMap ${config.namespace}/${fallback}`, text: text.value });
  }
  const chosen = chooseKnownHosts(sources);
  if (!chosen.ok) return unusable('SecretMalformed', chosen.message);
  if (chosen.knownHosts === undefined && config.insecureAllowMissingKnownHosts)
    return { kind: 'ok', value: 'any' };
  return { kind: 'ok', value: chosen.knownHosts };
}

async function readHostsOf(
  client: KubeClient,
  kind: 'ConfigMap' | 'Secret',
  namespace: string,
  name: string,
): Promise<Read<string | undefined>> {
  const data = await readData(client, kind, namespace, name);
  if (data.kind !== 'ok') return data;
  const decoded =
    kind === 'Secret'
      ? Object.entries(data.value).map(([key, value]) => [key, fromBase64(value)])
      : Object.entries(data.value);
  return { kind: 'ok', value: knownHostsIn(Object.fromEntries(decoded)) };
}

async function readSigning(
  { spec, metadata }: GitProvider,
  { client, config }: SettingsOptions,
): Promise<Read<Signer | undefined>> {
  const { signing } = spec.commit;
  if (signing === undefined) return absent;
  const namespace = metadata.namespace ?? '';
  const { name } = signing.secretRef;
  const volume = join(config.dataDir, 'signing');
  await mkdir(volume, { recursive: true, mode: 0o700 });
  const generate = (object: JsonObject | undefined) =>
    generateInto(client, {
      namespace,
      name,
      object,
      volume,
      comment: `gitops-reverser ${namespace}/${metadata.name}`,
    });

  const secret = await client.get(secretRef(namespace, name));
  let data: SecretData;
  if (secret.kind === 'ok' && !isMissingKey(secret.object)) data = dataOf(secret.object);
  else if ((secret.kind === 'ok' || secret.kind === 'not-found') && signing.generateWhenMissing) {
    const made = await generate(secret.kind === 'ok' ? secret.object : undefined);
    if (made.kind !== 'ok') return made;
    data = made.value;
  } else if (secret.kind === 'ok') {
    return unusable(
      'CommitConfigInvalid',
      `Secret ${namespace}/${name} has no signing.key; add one or set generateWhenMissing`,
    );
  } else if (secret.kind === 'not-found') {
    return unusable('SecretNotFound', `there is no Secret ${namespace}/${name} with the signing key`);
  } else return unread('Secret', namespace, name, secret);

  const read = await readSigner(data, volume, process.env);
  return read.ok ? { kind: 'ok', value: read.signer } : unusable('CommitConfigInvalid', read.message);
}

interface Generation {
  readonly namespace: string;
  readonly name: string;
  /** The Secret as it is; undefined when there is none. */
  readonly object: JsonObject | undefined;
  readonly volume: string;
  readonly comment: string;
}

/** Two replicas may try at once: the second one's write fails, and the next check reads the key of the first. */
async function generateInto(
  client: KubeClient,
  { namespace, name, object, volume, comment }: Generation,
): Promise<Read<SecretData>> {
  const { data } = await generateSigningKey(volume, comment, process.env);
  const written =
    object === undefined
      ? await client.create(secretRef(namespace, name), {
          apiVersion: 'v1',
          kind: 'Secret',
          type: 'Opaque',
          metadata: { name, namespace },
          data: { ...data },
        })
      : // Its resourceVersion makes the write conditional.
        await client.replace(secretRef(namespace, name), { ...object, data: { ...dataOf(object), ...data } });
  if (written.kind === 'ok') return { kind: 'ok', value: data };
  if (written.kind === 'forbidden') {
    return unusable(
      'CommitConfigInvalid',
      `the signing key cannot be stored in Secret ${namespace}/${name}: ${written.message}`,
    );
  }
  return { kind: 'unknown', message: written.message };
}

function isMissingKey(secret: JsonObject): boolean {
  return !Object.hasOwn(dataOf(secret), 'signing.key');
}

async function readSecret(
  client: KubeClient,
  namespace: string,
  name: string,
): Promise<Read<SecretData | undefined>> {
  return await readData(client, 'Secret', namespace, name);
}

async function readData(
  client: KubeClient,
  kind: 'ConfigMap' | 'Secret',
  namespace: string,
  name: string,
): Promise<Read<Readonly<Record<string, string>>>> {
  const ref =
    kind === 'Secret'
      ? secretRef(namespace, name)
      : { ...secretRef(namespace, name), resource: 'configmaps' };
  const answer = await client.get(ref);
  if (answer.kind === 'ok') return { kind: 'ok', value: dataOf(answer.object) };
  if (answer.kind === 'not-found')
    return unusable('SecretNotFound', `there is no ${kind} ${namespace}/${name}`);
  return unread(kind, namespace, name, answer);
}

function unread(
  kind: string,
  namespace: string,
  name: string,
  failure: { readonly kind: string; readonly message: string },
): Exclude<SettingsRead, { kind: 'ok' }> {
  if (failure.kind === 'forbidden') {
    return unusable('SecretNotFound', `${kind} ${namespace}/${name} may not be read: ${failure.message}`);
  }
  return { kind: 'unknown', message: failure.message };
}

function dataOf({ data }: JsonObject): Readonly<Record<string, string>> {
  if (!isObject(data)) return {};
  const texts = Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value]] : [],
  );
  return Object.fromEntries(texts);
}

function secretRef(namespace: string, name: string) {
  return { group: '', version: 'v1', resource: 'secrets', namespace, name };
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

function unusable(reason: UnusableReason, message: string): Unusable {
  return { kind: 'unusable', reason, message };
}
