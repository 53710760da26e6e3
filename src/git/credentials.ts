/**
 * What a Secret says about how to log in. Reads the shapes that Flux and Argo CD use.
 *
 * Pure: Secret data in, credentials or a refusal out. No message ever holds a value of the Secret.
 */
import type { RepositoryUrl } from '../core/repository-url.ts';
import { type KnownHosts, parseKnownHosts } from './known-hosts.ts';
import { SecretText } from './secret-text.ts';

/** Secret data as the API server returns it: key -> base64. */
export type SecretData = Readonly<Record<string, string>>;

export type Credentials =
  | { readonly kind: 'anonymous' }
  /** An empty username is allowed: Azure DevOps takes a token that way. */
  | { readonly kind: 'basic'; readonly username: string; readonly password: SecretText }
  | { readonly kind: 'bearer'; readonly token: SecretText }
  | { readonly kind: 'ssh'; readonly privateKey: SecretText; readonly passphrase: SecretText | undefined };

/** How to reach one remote: the address, the login, and for ssh whom to trust. */
export interface Access {
  readonly url: RepositoryUrl;
  readonly credentials: Credentials;
  /** 'any' accepts every host key: only behind --insecure-allow-missing-known-hosts. */
  readonly knownHosts?: KnownHosts | 'any' | undefined;
}

type CredentialsProblem =
  /** The Secret cannot be used as it is. */
  | 'SecretMalformed'
  /** Credentials of one kind, a URL of another. */
  | 'CredentialsDoNotFit'
  /** Credentials would travel unencrypted. */
  | 'InsecureTransport'
  /** ssh without any known host key. */
  | 'KnownHostsMissing';

export interface CredentialsRefused {
  readonly ok: false;
  readonly reason: CredentialsProblem;
  readonly message: string;
}

export type CredentialsRead =
  | {
      readonly ok: true;
      readonly credentials: Credentials;
      /** The `known_hosts` key of the same Secret. */
      readonly knownHosts: KnownHosts | undefined;
    }
  | CredentialsRefused;

export interface AccessRules {
  readonly allowHttp?: boolean;
  readonly allowMissingKnownHosts?: boolean;
}

const privateKeyKeys = ['ssh-privatekey', 'identity', 'sshPrivateKey'] as const;
const passphraseKeys = ['ssh-password', 'password'] as const;
const privateKeyShape =
  /^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----\n[\s\S]+\n-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----\n$/;

/**
 * Chooses among the keys of a Secret: an ssh key wins over a password, a password over a bearer token.
 * Undefined data (no secretRef) is anonymous; a Secret without any usable key is refused.
 */
export function readCredentials(data: SecretData | undefined): CredentialsRead {
  if (data === undefined) return { ok: true, credentials: { kind: 'anonymous' }, knownHosts: undefined };
  const read = new Map<string, string>();
  const wanted = [...privateKeyKeys, ...passphraseKeys, 'username', 'bearerToken', 'known_hosts'];
  for (const key of wanted) {
    const value = data[key];
    if (value === undefined) continue;
    const text = decode(value);
    if (text === undefined) return malformed(`key ${key} is not UTF-8 text`);
    if (text !== '') read.set(key, text);
  }
  const knownHosts = readKnownHosts(data, read);
  if ('ok' in knownHosts) return knownHosts;
  const credentials = choose(data, read);
  if ('ok' in credentials) return credentials;
  return { ok: true, credentials, knownHosts: knownHosts.hosts };
}

/** Whether these credentials may and can be used with this URL. Undefined: they may. */
export function checkAccess(access: Access, rules: AccessRules = {}): CredentialsRefused | undefined {
  const { url, credentials, knownHosts } = access;
  if (credentials.kind === 'ssh' && url.scheme !== 'ssh') {
    return refused(
      'CredentialsDoNotFit',
      `the Secret holds an ssh key, but the URL is ${url.scheme}; use an ssh URL or a password`,
    );
  }
  if (url.scheme === 'ssh' && credentials.kind !== 'ssh') {
    return refused(
      'CredentialsDoNotFit',
      'an ssh URL needs a Secret with an ssh key (ssh-privatekey, identity or sshPrivateKey)',
    );
  }
  if (url.scheme === 'http' && credentials.kind !== 'anonymous' && !rules.allowHttp) {
    return refused(
      'InsecureTransport',
      'credentials are not sent over http; use https, or allow it with --insecure-allow-git-http',
    );
  }
  if (
    url.scheme === 'ssh' &&
    (knownHosts === undefined || knownHosts === 'any') &&
    !rules.allowMissingKnownHosts
  ) {
    return refused(
      'KnownHostsMissing',
      `no known host keys for ${url.host}; put known_hosts into the Secret, or name a ConfigMap in knownHostsRef`,
    );
  }
  return undefined;
}

function choose(data: SecretData, read: ReadonlyMap<string, string>): Credentials | CredentialsRefused {
  const keyName = privateKeyKeys.find((key) => read.has(key));
  if (keyName !== undefined) {
    const privateKey = normaliseKey(read.get(keyName) ?? '');
    if (!privateKeyShape.test(privateKey)) return malformed(`key ${keyName} is not a PEM private key`);
    const passphrase = passphraseKeys.map((key) => read.get(key)).find((text) => text !== undefined);
    return {
      kind: 'ssh',
      privateKey: new SecretText(privateKey),
      passphrase: passphrase === undefined ? undefined : new SecretText(line(passphrase)),
    };
  }
  const password = read.get('password');
  const username = line(read.get('username') ?? '');
  if (password !== undefined) {
    if (hasControl(username) || username.includes(':'))
      return malformed('key username holds a colon or a control character');
    if (line(password) === '' || hasControl(line(password)))
      return malformed('key password is empty or holds a line break');
    return { kind: 'basic', username, password: new SecretText(line(password)) };
  }
  if (username !== '') return malformed('key username is there, but no key password');
  const token = line(read.get('bearerToken') ?? '');
  if (token !== '') {
    if (/[^\x21-\x7e]/.test(token)) return malformed('key bearerToken holds a blank or a control character');
    return { kind: 'bearer', token: new SecretText(token) };
  }
  const present = Object.keys(data).sort().slice(0, 10).join(', ');
  return malformed(
    `none of ssh-privatekey, identity, sshPrivateKey, password and bearerToken is set (it has: ${present || 'nothing'})`,
  );
}

function readKnownHosts(
  data: SecretData,
  read: ReadonlyMap<string, string>,
): { hosts: KnownHosts | undefined } | CredentialsRefused {
  if (data.known_hosts === undefined) return { hosts: undefined };
  const parsed = parseKnownHosts(read.get('known_hosts') ?? '');
  return parsed.ok ? { hosts: parsed.knownHosts } : malformed(`key known_hosts: ${parsed.message}`);
}

function decode(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}

/** People make Secrets from files, which end in a line break. */
function line(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

/** ssh insists on LF and on a line break at the end. */
export function normaliseKey(text: string): string {
  return `${text.replace(/\r\n?/g, '\n').trim()}\n`;
}

function hasControl(text: string): boolean {
  return /[\u0000-\u001f\u007f]/.test(text);
}

function malformed(what: string): CredentialsRefused {
  return refused('SecretMalformed', `the credentials Secret cannot be used: ${what}`);
}

function refused(reason: CredentialsProblem, message: string): CredentialsRefused {
  return { ok: false, reason, message };
}
