/**
 * The checks of GitProviders: settings read, remote asked. They run beside the queue, so a remote that hangs holds up nobody. The
 * newest result of each stays until the next one replaces it.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitProvider } from '../api/git-provider.ts';
import { annotations } from '../api/group.ts';
import type { Config } from '../config.ts';
import type { Access } from '../git/credentials.ts';
import type { LsRemoteResult } from '../git/remote.ts';
import { openRepository } from '../git/repository.ts';
import type { Clock } from '../kube/clock.ts';
import { slots } from '../kube/slots.ts';
import type { Log } from '../telemetry/log.ts';
import type { ProviderCheck, ProviderSettings } from './decide-git-provider.ts';
import { keyOf } from './object-key.ts';
import { readSettings, type SettingsOptions } from './provider-settings.ts';

export interface ProviderChecksOptions extends SettingsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly ask: (access: Access, signal: AbortSignal) => Promise<LsRemoteResult>;
  /** A check of this GitProvider has ended. */
  readonly onChange: (key: string) => void;
}

export interface CheckRecord {
  readonly uid: string;
  readonly generation: number;
  readonly requestedAt: string;
  readonly check: ProviderCheck;
  readonly endedAt: number;
  readonly nextAt: number;
}

const steadyMs = 300_000;
const firstRetryMs = 10_000;
/** A push that fails for its login makes us look earlier, but not more often than this. */
const suspicionMs = 10_000;
const checksAtOnce = 8;
const checkDeadlineMs = 20_000;

export class ProviderChecks {
  readonly #options: ProviderChecksOptions;
  readonly #records = new Map<string, CheckRecord>();
  readonly #failures = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #retryAt = new Map<string, number>();
  readonly #stopped = new AbortController();
  readonly #slot = slots(checksAtOnce);

  constructor(options: ProviderChecksOptions) {
    this.#options = options;
  }

  /** The newest result of this very object; perhaps of an older generation. */
  record(provider: GitProvider): CheckRecord | undefined {
    const record = this.#records.get(keyOf(provider));
    return record?.uid === provider.metadata.uid ? record : undefined;
  }

  /** Starts a check when one is due. Milliseconds until the next one is. */
  keepFresh(provider: GitProvider): number {
    const key = keyOf(provider);
    const now = this.#options.clock.now();
    const record = this.record(provider);
    const current =
      record !== undefined &&
      record.generation === (provider.metadata.generation ?? 0) &&
      record.requestedAt === requestedAt(provider);
    const due = current ? record.nextAt : (this.#retryAt.get(key) ?? 0);
    if (now < due) return due - now;
    this.#start(key, provider);
    return steadyMs;
  }

  /** Something says that the settings do not work any more. */
  suspect(provider: GitProvider): void {
    const record = this.record(provider);
    if (record === undefined || this.#options.clock.now() - record.endedAt < suspicionMs) return;
    this.#start(keyOf(provider), provider);
  }

  forget(key: string): void {
    this.#records.delete(key);
    this.#failures.delete(key);
    this.#retryAt.delete(key);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }

  #start(key: string, provider: GitProvider): void {
    if (this.#running.has(key) || this.#stopped.signal.aborted) return;
    const run = this.#run(key, provider).finally(() => this.#running.delete(key));
    this.#running.set(key, run);
  }

  async #run(key: string, provider: GitProvider): Promise<void> {
    const { clock, log, onChange } = this.#options;
    const release = await this.#slot(this.#stopped.signal);
    try {
      const check = await this.#check(provider);
      if (this.#stopped.signal.aborted) return;
      if (check === undefined) this.#retryAt.set(key, clock.now() + firstRetryMs);
      else this.#keep(key, provider, check);
    } catch (error) {
      log.error({ err: error, gitProvider: key }, 'checking a GitProvider broke');
      this.#retryAt.set(key, clock.now() + firstRetryMs);
    } finally {
      release();
    }
    onChange(key);
  }

  #keep(key: string, provider: GitProvider, check: ProviderCheck): void {
    const now = this.#options.clock.now();
    const failures = check.kind === 'verified' ? 0 : (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#retryAt.delete(key);
    const wait = failures === 0 ? steadyMs : Math.min(firstRetryMs * 2 ** (failures - 1), steadyMs);
    this.#records.set(key, {
      uid: provider.metadata.uid ?? '',
      generation: provider.metadata.generation ?? 0,
      requestedAt: requestedAt(provider),
      check,
      endedAt: now,
      nextAt: now + wait,
    });
  }

  #kept(provider: GitProvider, settings: ProviderSettings): ProviderSettings {
    const check = this.record(provider)?.check;
    const before = check === undefined || check.kind === 'unusable' ? undefined : check.settings;
    return before !== undefined && sameSettings(before, settings) ? before : settings;
  }

  /** Undefined: the API server did not answer, and nothing is known. */
  async #check(provider: GitProvider): Promise<ProviderCheck | undefined> {
    const { ask, clock, log } = this.#options;
    const read = await readSettings(provider, this.#options);
    if (read.kind === 'unknown') {
      log.warn(
        { gitProvider: keyOf(provider), problem: read.message },
        'a GitProvider cannot be checked at present',
      );
      return undefined;
    }
    if (read.kind === 'unusable') return read;
    const settings = this.#kept(provider, read.settings);
    const answer = await ask(settings.access, this.#stopped.signal);
    if (answer.kind === 'ok') return { kind: 'verified', settings, verifiedAt: clock.date() };
    return { kind: 'unreachable', settings, message: `${answer.reason}: ${answer.message}` };
  }
}

/** The same settings stay the same object, so that nobody takes a new look for a change. */
function sameSettings(a: ProviderSettings, b: ProviderSettings): boolean {
  return JSON.stringify(revealed(a)) === JSON.stringify(revealed(b));
}

/** For comparing only; never kept. */
function revealed({ access, committer, signer }: ProviderSettings): unknown[] {
  const { url, credentials, knownHosts } = access;
  const secrets = [
    'username' in credentials ? credentials.username : '',
    'password' in credentials ? credentials.password.reveal() : '',
    'token' in credentials ? credentials.token.reveal() : '',
    'privateKey' in credentials ? [credentials.privateKey.reveal(), credentials.passphrase?.reveal()] : '',
    [signer?.privateKey.reveal(), signer?.passphrase?.reveal()],
  ];
  return [url.remote, credentials.kind, knownHosts ?? null, committer, secrets];
}

/** Asks a remote for its branches, in a repository of its own that is thrown away afterwards. */
export function remoteProbe(config: Config): ProviderChecksOptions['ask'] {
  let number = 0;
  const parent = join(config.dataDir, 'probe');
  return async (access, signal) => {
    number += 1;
    const name = createHash('sha256').update(`${process.pid} ${number}`).digest('hex').slice(0, 16);
    const volume = join(parent, name);
    await mkdir(volume, { recursive: true, mode: 0o700 });
    try {
      const opened = await openRepository({
        volume,
        url: access.url,
        ambient: process.env,
        allowHttp: config.insecureAllowGitHttp,
        allowMissingKnownHosts: config.insecureAllowMissingKnownHosts,
      });
      if (opened.kind !== 'ok') return opened;
      try {
        const deadlineMs = Math.min(config.gitTimeout, checkDeadlineMs);
        return await opened.repository.lsRemote(access, ['HEAD'], { deadlineMs, signal });
      } finally {
        await opened.repository.close();
      }
    } finally {
      await rm(volume, { recursive: true, force: true });
    }
  };
}

function requestedAt({ metadata }: GitProvider): string {
  return metadata.annotations?.[annotations.requestedAt] ?? '';
}
