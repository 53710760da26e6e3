/** What the tests of the git room share: a private volume, an address, a login, a repository that is closed in the end. */
import assert from 'node:assert/strict';
import { parseRepositoryUrl, type RepositoryUrl } from '../../src/core/repository-url.ts';
import type { Access } from '../../src/git/credentials.ts';
import type { CommitSpec, FileChange } from '../../src/git/import-stream.ts';
import type { RoundTrip } from '../../src/git/remote.ts';
import { openRepository, type Repository, type RepositoryOptions } from '../../src/git/repository.ts';
import { SecretText } from '../../src/git/secret-text.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';

export const person = { name: 'Alice', email: 'alice@example.com', date: new Date('2026-01-02T03:04:05Z') };

export interface Fixture {
  readonly volume: Folder;
  readonly url: RepositoryUrl;
  readonly access: Access;
  readonly repository: Repository;
  readonly roundTrips: RoundTrip[];
  close(): Promise<void>;
}

export function urlOf(text: string): RepositoryUrl {
  const check = parseRepositoryUrl(text, { allowHttp: true, allowFile: true });
  assert.ok(check.ok, check.ok ? '' : check.message);
  return check.url;
}

export function anonymous(text: string): Access {
  return { url: urlOf(text), credentials: { kind: 'anonymous' } };
}

export function basic(text: string, username: string, password: string): Access {
  return { url: urlOf(text), credentials: { kind: 'basic', username, password: new SecretText(password) } };
}

export function bearer(text: string, token: string): Access {
  return { url: urlOf(text), credentials: { kind: 'bearer', token: new SecretText(token) } };
}

const open = new Set<() => Promise<void>>();

// Also after a failed test: what stays open would keep the test process alive.
afterEach(async () => {
  for (const close of [...open]) await close();
});

export async function openFor(access: Access, options: Partial<RepositoryOptions> = {}): Promise<Fixture> {
  const volume = temporaryFolder('git-volume');
  const roundTrips: RoundTrip[] = [];
  const repository = await reopen(volume.path, access, {
    onRoundTrip: (kind) => roundTrips.push(kind),
    ...options,
  });
  async function close(): Promise<void> {
    open.delete(close);
    await repository.close();
    await volume.remove();
  }
  open.add(close);
  return { volume, url: access.url, access, repository, roundTrips, close };
}

export async function reopen(
  volume: string,
  access: Access,
  options: Partial<RepositoryOptions> = {},
): Promise<Repository> {
  const opened = await openRepository({
    volume,
    url: access.url,
    ambient: process.env,
    allowHttp: true,
    allowFile: true,
    ...options,
  });
  assert.equal(opened.kind, 'ok', opened.kind === 'ok' ? '' : opened.message);
  const { repository } = opened;
  open.add(close);
  async function close(): Promise<void> {
    open.delete(close);
    await repository.close();
  }
  return repository;
}

/** Narrows a result to one kind, or fails with what it was instead. */
export function expectKind<T extends { readonly kind: string }, K extends T['kind']>(
  result: T,
  kind: K,
): Extract<T, { readonly kind: K }> {
  assert.equal(result.kind, kind, JSON.stringify(result));
  return result as Extract<T, { readonly kind: K }>;
}

export function spec(message: string, files: readonly FileChange[]): CommitSpec {
  return {
    message,
    files,
    author: person,
    committer: { ...person, name: 'Reverser', email: 'bot@example.com' },
  };
}

/** Makes one commit and returns its id. */
export async function commitOne(
  repository: Repository,
  branch: string,
  base: string | null,
  files: readonly FileChange[],
  message = 'Change',
): Promise<string> {
  const made = expectKind(await repository.commit({ branch, base, commits: [spec(message, files)] }), 'ok');
  const [first] = made.commits;
  assert.ok(first);
  return first.commit;
}
