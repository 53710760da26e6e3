/**
 * Writes the files of one commit into a folder, for others to read: the only place where we have files out of Git, and nothing
 * is ever committed from there. It needs no open Repository, only that the commit is in the bare one.
 *
 * What would not be what an applier's own checkout holds is not written at all: links that lead out, submodules, filters.
 */
import { chmod, mkdir, readdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { type Git, git, succeeded } from './command.ts';
import { type Environment, gitEnvironment } from './environment.ts';
import { failureOf, type GitFailure } from './failure.ts';
import { Children } from './run.ts';
import { gitFolder, sessionFolder } from './store.ts';

export interface CheckoutRequest {
  /** Folder of the repository, see `repositoryFolder`. */
  readonly repository: string;
  readonly ambient: Environment | NodeJS.ProcessEnv;
  readonly commit: string;
  /** Is made; its parent exists. Whatever goes wrong, it is gone afterwards. */
  readonly into: string;
  readonly maxFiles: number;
  readonly maxBytes: number;
}

export type CheckoutResult =
  | { readonly kind: 'ok'; readonly bytes: number }
  /** This commit has no faithful checkout here, now or later. */
  | { readonly kind: 'unfit'; readonly message: string }
  | GitFailure;

interface Listed {
  readonly links: readonly string[];
  readonly attributes: readonly string[];
  readonly bytes: number;
}

const listLimit = 64 * 1024 * 1024;
const modes = { link: '120000', submodule: '160000' } as const;

/** Every file is readable by everybody and writable by nobody. */
export async function writeCheckout(request: CheckoutRequest): Promise<CheckoutResult> {
  const { repository, into } = request;
  const dir = gitFolder(repository);
  const index = `${into}.index`;
  const environment = gitEnvironment(request.ambient, dir, join(sessionFolder(repository), 'home'));
  const bare: Git = { dir, environment, children: new Children() };
  try {
    const listed = await list(bare, request);
    const result = 'kind' in listed ? listed : await write(bare, request, listed, index);
    if (result.kind !== 'ok') await removeCheckout(into);
    return result;
  } catch (error) {
    await removeCheckout(into);
    throw error;
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

/** Also one that is half there. */
export async function removeCheckout(folder: string): Promise<void> {
  // A folder without the right to write keeps what is in it, except from root.
  await setFolders(folder, 0o700);
  await rm(folder, { recursive: true, force: true });
}

async function list(bare: Git, request: CheckoutRequest): Promise<Listed | CheckoutResult> {
  const { commit, maxFiles, maxBytes } = request;
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', commit];
  const result = await git(bare, args, { maxOutputBytes: listLimit });
  if (result.ended === 'too-much-output') return unfit('its list of files is too long');
  if (!succeeded(result)) return failureOf(result, 'listing the files of a commit');
  const links: string[] = [];
  const attributes: string[] = [];
  let bytes = 0;
  const records = result.stdout.toString().split('\0');
  records.pop();
  if (records.length > maxFiles) return unfit(`it has ${records.length} files, more than ${maxFiles}`);
  for (const record of records) {
    const tab = record.indexOf('\t');
    const [mode, , , size] = record.slice(0, tab).split(/ +/);
    const path = record.slice(tab + 1);
    if (mode === modes.submodule) return unfit(`${path} is a submodule`);
    if (mode === modes.link) links.push(path);
    if (path === '.gitattributes' || path.endsWith('/.gitattributes')) attributes.push(path);
    bytes += Number(size) || 0;
  }
  if (bytes > maxBytes) return unfit(`it has ${bytes} bytes, more than ${maxBytes}`);
  return { links, attributes, bytes };
}

async function write(
  bare: Git,
  { commit, into }: CheckoutRequest,
  { links, attributes, bytes }: Listed,
  index: string,
): Promise<CheckoutResult> {
  await mkdir(into, { mode: 0o755 });
  const environment = { GIT_INDEX_FILE: index, GIT_WORK_TREE: into };
  for (const args of [
    ['read-tree', commit],
    ['-c', 'core.bare=false', '-c', 'core.symlinks=true', 'checkout-index', '--all', '--quiet'],
  ]) {
    const result = await git(bare, args, { environment });
    if (!succeeded(result)) return failureOf(result, 'writing the files of a commit');
  }
  for (const path of attributes) {
    if (/\bfilter=/.test(await readFile(join(into, path), 'utf8'))) return unfit(`${path} names a filter`);
  }
  const root = await realpath(into);
  for (const path of links) {
    if (!(await staysInside(root, path))) return unfit(`the link ${path} leads out of the repository`);
  }
  await setFiles(into);
  await setFolders(into, 0o555);
  return { kind: 'ok', bytes };
}

/** One that leads nowhere is none of ours either: what is put there later would be read through it. */
async function staysInside(root: string, path: string): Promise<boolean> {
  const link = join(root, path);
  if (isAbsolute(await readlink(link))) return false;
  const target = await realpath(link).catch(() => undefined);
  return target !== undefined && (target === root || target.startsWith(`${root}${sep}`));
}

async function setFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const executable = ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, executable ? 0o555 : 0o444);
  }
}

/** From the top down, so that a folder can be entered before what is in it. */
async function setFolders(folder: string, mode: number): Promise<void> {
  const entries = await chmod(folder, mode)
    .then(() => readdir(folder, { withFileTypes: true }))
    .catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await setFolders(join(folder, entry.name), mode);
  }
}

function unfit(message: string): CheckoutResult {
  return { kind: 'unfit', message };
}
