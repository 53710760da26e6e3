/**
 * The folder of one repository on the private volume: `git` the bare repository, `session` logins and scratch files,
 * `owner` the lock. Makes it, mends what a killed process left, and makes it anew when it is broken.
 */
import { rmSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, git, succeeded } from './command.ts';
import { failureOf, type GitFailure } from './failure.ts';
import { removeLeftovers } from './leftovers.ts';
import { lockFile } from './lock.ts';

export interface TransportRules {
  readonly allowHttp?: boolean;
  /** Only for tests. */
  readonly allowFile?: boolean;
}

export type StoreState =
  | 'new'
  | 'kept'
  /** It was broken and had to be made anew: refs of ours, with the handled states, are lost. */
  | 'recreated';

const lowSpeedBytes = 1_000;
const lowSpeedSeconds = 30;

/**
 * Flaws that old commits of real repositories have and that harm nobody. Without this list their history could not be
 * fetched at all with object checks on.
 */
const harmlessFlaws = [
  'zeroPaddedFilemode',
  'badFilemode',
  'badTimezone',
  'badDate',
  'badDateOverflow',
  'zeroPaddedDate',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingNameBeforeEmail',
  'missingEmail',
  'badEmail',
  'badName',
  'missingTaggerEntry',
  'nulInCommit',
] as const;

export function gitFolder(folder: string): string {
  return join(folder, 'git');
}

export function sessionFolder(folder: string): string {
  return join(folder, 'session');
}

/** Makes the repository ready. The folder is locked by us. */
export async function prepareStore(
  repository: Git,
  folder: string,
  rules: TransportRules,
): Promise<{ kind: 'ok'; state: StoreState } | GitFailure> {
  await rm(sessionFolder(folder), { recursive: true, force: true });
  await mkdir(join(sessionFolder(folder), 'home'), { recursive: true, mode: 0o700 });
  if (!(await exists(repository.dir))) {
    const made = await createBare(repository, rules);
    return made ?? { kind: 'ok', state: 'new' };
  }
  removeLeftovers(repository);
  await writeConfig(repository.dir, rules);
  if (await isSound(repository)) return { kind: 'ok', state: 'kept' };
  const made = await recreateStore(repository, rules);
  return made ?? { kind: 'ok', state: 'recreated' };
}

/** Throws everything away: what the remote has is fetched again, what only we had is lost. */
export async function recreateStore(repository: Git, rules: TransportRules): Promise<GitFailure | undefined> {
  await rm(repository.dir, { recursive: true, force: true });
  return await createBare(repository, rules);
}

/** Also for the moment the process ends, when nothing can be awaited. */
export function releaseStore(folder: string): void {
  rmSync(sessionFolder(folder), { recursive: true, force: true });
  rmSync(lockFile(folder), { force: true });
}

/** Built beside and renamed, so that a half-made repository never has the name of a whole one. */
async function createBare(repository: Git, rules: TransportRules): Promise<GitFailure | undefined> {
  const draft = `${repository.dir}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const drafted: Git = {
    ...repository,
    dir: draft,
    environment: { ...repository.environment, GIT_DIR: draft },
  };
  const result = await git(drafted, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main']);
  if (!succeeded(result)) return failureOf(result, 'making the repository');
  await writeConfig(draft, rules);
  await rename(draft, repository.dir);
  return undefined;
}

/** Every ref of ours reaches a commit with a readable tree. Deeper damage shows when it is met. */
async function isSound(repository: Git): Promise<boolean> {
  const refs = await git(repository, ['for-each-ref', '--format=%(objectname) %(objecttype) %(tree)']);
  // A ref that is broken in itself is only a warning.
  if (!succeeded(refs) || refs.stderr !== '') return false;
  const ids = refs.stdout
    .toString()
    .split(/\s+/)
    .filter((word) => /^[0-9a-f]{40}$/.test(word));
  if (ids.length === 0) return true;
  const check = await git(repository, ['cat-file', '--batch-check'], { input: `${ids.join('\n')}\n` });
  return succeeded(check) && !check.stdout.includes(' missing');
}

async function writeConfig(dir: string, rules: TransportRules): Promise<void> {
  const file = join(dir, 'config');
  await writeFile(`${file}.draft`, configText(rules));
  await rename(`${file}.draft`, file);
}

function configText({ allowHttp, allowFile }: TransportRules): string {
  const allow = (allowed: boolean | undefined) => ({ allow: allowed ? 'always' : 'never' });
  const flaws = Object.fromEntries(harmlessFlaws.map((flaw) => [flaw, 'warn']));
  const sections: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> = {
    core: {
      repositoryFormatVersion: 0,
      bare: true,
      fileMode: true,
      hooksPath: '/dev/null',
      attributesFile: '/dev/null',
      fsmonitor: false,
      logAllRefUpdates: false,
      quotePath: false,
      askPass: '',
    },
    gc: { auto: 0, autoDetach: false },
    maintenance: { auto: false },
    receive: { autogc: false },
    transfer: { fsckObjects: true, unpackLimit: 100 },
    'fetch "fsck"': flaws,
    fetch: { recurseSubmodules: false, writeCommitGraph: false, prune: false, showForcedUpdates: true },
    push: { recurseSubmodules: 'no', followTags: false, autoSetupRemote: false, gpgSign: false },
    submodule: { recurse: false },
    credential: { helper: '' },
    commit: { gpgSign: false },
    http: {
      followRedirects: 'initial',
      // Saves the round trip of a refused first request, where git knows it.
      proactiveAuth: 'basic',
      lowSpeedLimit: lowSpeedBytes,
      lowSpeedTime: lowSpeedSeconds,
      // A larger pack costs a probing request and chunks, which some hosts refuse.
      postBuffer: 16 * 1024 * 1024,
    },
    pack: { threads: 1 },
    protocol: allow(false),
    'protocol "https"': allow(true),
    'protocol "ssh"': allow(true),
    'protocol "http"': allow(allowHttp),
    'protocol "file"': allow(allowFile),
  };
  return Object.entries(sections)
    .map(([name, values]) => section(name, values))
    .join('');
}

function section(name: string, values: Readonly<Record<string, string | number | boolean>>): string {
  const lines = Object.entries(values).map(([key, value]) => `\t${key} = ${value === '' ? '""' : value}\n`);
  return `[${name}]\n${lines.join('')}`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
