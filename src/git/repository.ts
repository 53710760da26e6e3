/**
 * The Git rim: one bare repository per remote on the private volume, and everything we do with it.
 *
 * It fetches, reads, commits, pushes with compare-and-swap, and keeps blobs of ours. It decides nothing about edits, never
 * has a work tree, never forces a push, and logs nothing: outcomes are values. The branch workers call it; two GitProviders
 * that name one remote share one Repository (same `url.key`).
 */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RepositoryUrl } from '../core/repository-url.ts';
import type { Git } from './command.ts';
import { type CommitRequest, type CommitsResult, importCommits } from './commit.ts';
import { type Access, checkAccess } from './credentials.ts';
import { Draft } from './draft.ts';
import { type Environment, gitEnvironment } from './environment.ts';
import { onExit } from './exit.ts';
import { diskFailure, failed, type GitFailure } from './failure.ts';
import { History } from './history.ts';
import { KeptTree } from './kept-tree.ts';
import { Lineage } from './lineage.ts';
import { lockFolder } from './lock.ts';
import { Logins } from './logins.ts';
import { type MaintenanceOptions, type MaintenanceResult, maintain } from './maintenance.ts';
import { Reader } from './reader.ts';
import { deleteRef, handledRef, importRef, readRef, remoteRef } from './refs.ts';
import {
  type Channel,
  type FetchResult,
  fetchBranch,
  type LsRemoteResult,
  lsRemote,
  type PushRequest,
  type PushResult,
  push,
  type RoundTrip,
} from './remote.ts';
import { Children } from './run.ts';
import { signCommits } from './sign-commits.ts';
import { withSigner } from './signing.ts';
import {
  gitFolder,
  prepareStore,
  recreateStore,
  releaseStore,
  type StoreState,
  sessionFolder,
  type TransportRules,
} from './store.ts';

export interface RepositoryOptions extends TransportRules {
  /** Private to this process. Holds one folder per remote. */
  readonly volume: string;
  readonly url: RepositoryUrl;
  /** The process environment; only a few names of it reach git. */
  readonly ambient: Environment | NodeJS.ProcessEnv;
  readonly allowMissingKnownHosts?: boolean;
  /** Called once for each operation that talks to the remote, before it starts. */
  readonly onRoundTrip?: (kind: RoundTrip) => void;
}

export interface RemoteOptions {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export type OpenResult =
  | { readonly kind: 'ok'; readonly repository: Repository; readonly state: StoreState }
  | GitFailure;

const defaultDeadlineMs = 60_000;

/** Opens the repository of a remote, or makes it. Never talks to the remote. */
export async function openRepository(options: RepositoryOptions): Promise<OpenResult> {
  const folder = repositoryFolder(options.volume, options.url);
  const doing = 'opening the repository';
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const lock = await lockFolder(folder);
    if (lock.kind === 'held') {
      return failed(
        'Refused',
        `${doing}: process ${lock.pid} works in it; a private volume serves one sidecar`,
      );
    }
    const environment = gitEnvironment(
      options.ambient,
      gitFolder(folder),
      join(sessionFolder(folder), 'home'),
    );
    const git: Git = { dir: gitFolder(folder), environment, children: new Children() };
    const prepared = await prepareStore(git, folder, options);
    if (prepared.kind !== 'ok') {
      releaseStore(folder);
      return prepared;
    }
    return { kind: 'ok', repository: new Repository(git, folder, options), state: prepared.state };
  } catch (error) {
    const full = diskFailure(error, doing);
    if (full === undefined) throw error;
    return full;
  }
}

export function repositoryFolder(volume: string, url: Pick<RepositoryUrl, 'key'>): string {
  return join(resolve(volume), createHash('sha256').update(url.key).digest('hex').slice(0, 32));
}

export class Repository {
  readonly reader: Reader;
  readonly history: History;
  readonly #keptTrees = new Map<string, KeptTree>();
  readonly #git: Git;
  readonly #folder: string;
  readonly #options: RepositoryOptions;
  readonly #logins: Logins;
  readonly #lineage = new Lineage();
  readonly #forgetExit: () => void;
  #closed = false;

  /** Use `openRepository`. */
  constructor(git: Git, folder: string, options: RepositoryOptions) {
    this.#git = git;
    this.#folder = folder;
    this.#options = options;
    this.reader = new Reader(git);
    this.history = new History(git);
    this.#logins = new Logins(sessionFolder(folder));
    this.#forgetExit = onExit(() => {
      git.children.killAll();
      releaseStore(folder);
    });
  }

  /** Asks for refs by pattern; without patterns for HEAD and all branches. */
  async lsRemote(
    access: Access,
    patterns?: readonly string[],
    options: RemoteOptions = {},
  ): Promise<LsRemoteResult> {
    return await this.#remotely('ls-remote', access, options, (channel) =>
      lsRemote(this.#git, channel, patterns ?? ['HEAD', 'refs/heads/*']),
    );
  }

  /** Brings the whole history of one branch and says how it moved. */
  async fetch(branch: string, access: Access, options: RemoteOptions = {}): Promise<FetchResult> {
    return await this.#remotely('fetch', access, options, (channel) =>
      fetchBranch(this.#git, channel, branch),
    );
  }

  /** Pushes commits on top of `expectedOld`. Never forces: a moved branch is an answer. */
  async push(
    request: PushRequest & { readonly access: Access },
    options: RemoteOptions = {},
  ): Promise<PushResult> {
    return await this.#remotely('push', request.access, options, (channel) =>
      push(this.#git, channel, request, this.#lineage),
    );
  }

  /** For contents that can be handed over before `commit`. */
  draft(): Draft {
    return new Draft(this.#git);
  }

  /** Makes a chain of commits in our repository; nothing of it is published. */
  async commit(request: CommitRequest): Promise<CommitsResult> {
    return await this.#locally('committing', async () => {
      const made = await this.#makeCommits(request);
      if (made.kind === 'ok')
        this.#lineage.note(
          request.base,
          made.commits.map(({ commit }) => commit),
        );
      return made;
    });
  }

  /** Files of our own that are never pushed; one object per key for as long as the repository is open. */
  keptTree(key: string): KeptTree {
    const kept = this.#keptTrees.get(key) ?? new KeptTree(this.#git, this.reader, handledRef(key));
    this.#keptTrees.set(key, kept);
    return kept;
  }

  /** Repacks if a bound is passed. For quiet moments. */
  async maintain(options?: MaintenanceOptions): Promise<MaintenanceResult> {
    const result = await this.#locally('repacking', () => maintain(this.#git, options));
    if (result.kind === 'ok' && result.repacked) await this.reader.restart();
    return result;
  }

  /** The branch as last seen on the remote, by a fetch or a push. */
  async remoteTip(branch: string): Promise<string | undefined> {
    return await readRef(this.#git, remoteRef(branch));
  }

  /** Forgets what we knew of a branch, so that its next fetch is a first one. */
  async forgetBranch(branch: string): Promise<void> {
    await deleteRef(this.#git, remoteRef(branch));
    await deleteRef(this.#git, importRef(branch));
  }

  /** Throws the local repository away after CorruptRepository. Handled states are lost; branches are fetched again. */
  async recreate(): Promise<GitFailure | undefined> {
    await this.reader.restart();
    const failure = await recreateStore(this.#git, this.#options);
    for (const kept of this.#keptTrees.values()) kept.forget();
    return failure;
  }

  /** Ends everything that runs, removes logins, frees the folder for another process. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.reader.close();
    this.#git.children.killAll();
    await this.#logins.close();
    this.#forgetExit();
    releaseStore(this.#folder);
  }

  async #makeCommits(request: CommitRequest): Promise<CommitsResult> {
    const { signer, draft = this.draft() } = request;
    const made = await importCommits(draft, request);
    if (made.kind !== 'ok' || signer === undefined) return made;
    const scratch = sessionFolder(this.#folder);
    return await withSigner(signer, scratch, this.#options.ambient, (sign) =>
      signCommits(this.#git, scratch, request, made.commits, sign),
    );
  }

  async #remotely<T>(
    kind: RoundTrip,
    access: Access,
    { deadlineMs = defaultDeadlineMs, signal }: RemoteOptions,
    ask: (channel: Channel) => Promise<T>,
  ): Promise<T | GitFailure> {
    const { allowHttp, allowMissingKnownHosts } = this.#options;
    const refused = checkAccess(access, {
      ...(allowHttp === undefined ? {} : { allowHttp }),
      ...(allowMissingKnownHosts === undefined ? {} : { allowMissingKnownHosts }),
    });
    if (refused !== undefined) return failed('Refused', refused.message);
    if (access.url.key !== this.#options.url.key) throw new Error('this access is for another repository');
    return await this.#locally('writing the login', () =>
      this.#logins.use(access, async (environment) => {
        this.#options.onRoundTrip?.(kind);
        return await ask({ url: access.url, environment, deadlineMs, signal });
      }),
    );
  }

  async #locally<T>(doing: string, work: () => Promise<T>): Promise<T | GitFailure> {
    if (this.#closed) throw new Error('the repository is closed');
    try {
      return await work();
    } catch (error) {
      const full = diskFailure(error, doing);
      if (full === undefined) throw error;
      return full;
    }
  }
}
