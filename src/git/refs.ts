/**
 * Names in our repository. All refs are ours; none is a branch, so nothing is pushed or fetched by accident.
 *
 * remote/<branch>   the branch as last seen on the remote
 * import/<branch>   the newest commits we made for it, published or not
 * handled/<key>     the handled states of live objects
 */
import { type Git, git, succeeded } from './command.ts';
import { failureOf, type GitFailure } from './failure.ts';

const root = 'refs/reverser';
const objectId = /^[0-9a-f]{40}$/;

export type RefUpdate = { readonly kind: 'ok' } | { readonly kind: 'moved' } | GitFailure;

export function remoteRef(branch: string): string {
  return `${root}/remote/${checkedBranch(branch)}`;
}

export function importRef(branch: string): string {
  return `${root}/import/${checkedBranch(branch)}`;
}

export function handledRef(key: string): string {
  const name = encodeURIComponent(key).replace(/[^\w%-]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  if (name === '' || name.length > 200)
    throw new Error(`no usable key for handled states: ${JSON.stringify(key)}`);
  return `${root}/handled/${name}`;
}

export function branchRef(branch: string): string {
  return `refs/heads/${checkedBranch(branch)}`;
}

/** The rules of git for branch names. */
function isBranchName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= 244 &&
    name !== '@' &&
    name.isWellFormed() &&
    !/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|\/$|\.$/.test(name) &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

function checkedBranch(branch: string): string {
  if (!isBranchName(branch)) throw new Error(`${JSON.stringify(branch)} is no name for a branch`);
  return branch;
}

function isObjectId(text: string): boolean {
  return objectId.test(text);
}

export function checkedId(id: string): string {
  if (!isObjectId(id)) throw new Error(`${JSON.stringify(id.slice(0, 80))} is no object id`);
  return id;
}

/** Undefined: there is no such ref. Throws when the repository cannot be read. */
export async function readRef(repository: Git, ref: string): Promise<string | undefined> {
  const result = await git(repository, ['rev-parse', '--verify', '--quiet', ref]);
  if (succeeded(result)) return result.stdout.toString().trim();
  if (result.ended === 'exit' && result.code === 1) return undefined;
  throw new Error(failureOf(result, `reading ${ref}`).message);
}

/** Compare and swap; expected null = must not exist yet, undefined = whatever it is. */
export async function updateRef(
  repository: Git,
  ref: string,
  id: string,
  expected?: string | null,
): Promise<RefUpdate> {
  const old = expected === undefined ? [] : [expected === null ? '0'.repeat(40) : checkedId(expected)];
  return refUpdate(await git(repository, ['update-ref', '--no-deref', ref, checkedId(id), ...old]), ref);
}

/** Deleting what is not there is fine, unless a certain value is expected. */
export async function deleteRef(repository: Git, ref: string, expected?: string): Promise<RefUpdate> {
  const old = expected === undefined ? [] : [checkedId(expected)];
  return refUpdate(await git(repository, ['update-ref', '--no-deref', '-d', ref, ...old]), ref);
}

function refUpdate(result: Awaited<ReturnType<typeof git>>, ref: string): RefUpdate {
  if (succeeded(result)) return { kind: 'ok' };
  if (/but expected|reference already exists|unable to resolve reference/.test(result.stderr))
    return { kind: 'moved' };
  return failureOf(result, `updating ${ref}`);
}
