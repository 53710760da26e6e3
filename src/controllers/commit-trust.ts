/**
 * Whether Flux will take our commits: a GitRepository with `spec.verify` fetches only commits that are signed with a key its
 * Secret holds (contracts 7). Said before the first commit, since afterwards nothing is applied any more.
 */
import type { RouteSource } from '../appliers/flux-routes.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { keyOf } from './flux-routes.ts';

export interface TrustFinding {
  readonly reason: 'Succeeded' | 'NotSigned' | 'KeyNotTrusted' | 'TrustUnknown';
  readonly message: string;
}

/** The key that signs; `undefined` inside = commits are not signed. */
export interface SignsWith {
  /** In authorized_keys form. */
  readonly publicKey: string | undefined;
}

type Keys = { readonly kind: 'read'; readonly text: string } | { readonly kind: 'missing' } | Unread;
interface Unread {
  readonly kind: 'unread';
  readonly message: string;
}

/** A Secret is not read again sooner. */
const keptMs = 30_000;
const keptAtMost = 500;

export class CommitTrust {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #keys = new Map<string, { readonly keys: Keys; readonly until: number }>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * @param sources that follow the branch a target writes
   * @param signs undefined while the settings of the GitProvider are not known
   * @returns undefined when none of them verifies commits
   */
  async finding(
    sources: readonly RouteSource[],
    signs: SignsWith | undefined,
  ): Promise<TrustFinding | undefined> {
    const verifying = sources.filter(({ verifiedBy }) => verifiedBy !== undefined);
    if (verifying.length === 0) return undefined;
    const names = verifying.map(keyOf).join(', ');
    if (signs === undefined) {
      return {
        reason: 'TrustUnknown',
        message: `GitRepository ${names} verifies commits, and the signing key of the GitProvider was not read yet`,
      };
    }
    if (signs.publicKey === undefined) {
      return {
        reason: 'NotSigned',
        message: `GitRepository ${names} takes signed commits only, and ours are not signed; set spec.commit.signing on the GitProvider and add its public key to the Secret of spec.verify`,
      };
    }
    for (const source of verifying) {
      const trouble = await this.#trouble(source, signs.publicKey);
      if (trouble !== undefined) return trouble;
    }
    return { reason: 'Succeeded', message: `GitRepository ${names} trusts the key that signs our commits` };
  }

  async #trouble(source: RouteSource, publicKey: string): Promise<TrustFinding | undefined> {
    const secret = keyOf({ namespace: source.namespace, name: source.verifiedBy ?? '' });
    const keys = await this.#read(source.namespace, source.verifiedBy ?? '');
    const about = `GitRepository ${keyOf(source)}`;
    switch (keys.kind) {
      case 'unread':
        return {
          reason: 'TrustUnknown',
          message: `${about} verifies commits, but its Secret ${secret} cannot be read: ${keys.message}`,
        };
      case 'missing':
        return {
          reason: 'KeyNotTrusted',
          message: `${about} takes signed commits only, but its Secret ${secret} does not exist`,
        };
      case 'read':
        if (holdsKey(keys.text, publicKey)) return undefined;
        return {
          reason: 'KeyNotTrusted',
          message: `${about} takes commits of its trusted keys only; add the public key (status.signingPublicKey of the GitProvider) to its Secret ${secret} under a name that ends in .sshpub`,
        };
    }
  }

  async #read(namespace: string, name: string): Promise<Keys> {
    const key = keyOf({ namespace, name });
    const now = this.#clock.now();
    const known = this.#keys.get(key);
    if (known !== undefined && known.until > now) return known.keys;
    const read = await this.#client.get({ group: '', version: 'v1', resource: 'secrets', namespace, name });
    const keys: Keys =
      read.kind === 'ok'
        ? { kind: 'read', text: sshKeysIn(read.object) }
        : read.kind === 'not-found'
          ? { kind: 'missing' }
          : { kind: 'unread', message: read.message };
    if (this.#keys.size >= keptAtMost) this.#keys.clear();
    this.#keys.set(key, { keys, until: now + keptMs });
    return keys;
  }
}

/** What Flux reads as SSH keys; the rest of the Secret is not looked at. */
function sshKeysIn({ data }: JsonObject): string {
  if (!isObject(data)) return '';
  return Object.entries(data)
    .filter(([name]) => name.endsWith('.sshpub'))
    .map(([, value]) => (typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : ''))
    .join('\n');
}

/** Each line is a key in authorized_keys form; what stands before the type, and the comment, do not count. */
function holdsKey(text: string, publicKey: string): boolean {
  const [type = '', material = ''] = publicKey.trim().split(/\s+/);
  return text.split(/\r?\n/).some((line) => {
    const words = line.trim().split(/\s+/);
    const at = words.indexOf(material);
    return !line.trimStart().startsWith('#') && material !== '' && at > 0 && words[at - 1] === type;
  });
}
