/**
 * A remote repository as a person sees it: commits that arrive from elsewhere, and what stands in it afterwards.
 * Everything works on the bare folder of the server, past its network side and its hooks.
 */
import { mkdir } from 'node:fs/promises';
import { git } from './git.ts';

export type FileContent =
  | string
  | Uint8Array
  /** Removes the file. */
  | null
  | { readonly mode: '100644' | '100755' | '120000'; readonly content: string | Uint8Array };

export type Files = Readonly<Record<string, FileContent>>;

export interface CommitOptions {
  readonly message?: string;
  /** "Name <address>"; the committer too. */
  readonly author?: string;
}

export interface RepositoryOptions extends CommitOptions {
  readonly branch?: string;
  /** The first commit. Without files and commits the repository is empty. */
  readonly files?: Files;
  /** Further commits, oldest first. */
  readonly commits?: readonly (CommitOptions & { readonly files: Files })[];
}

export interface Commit {
  readonly sha: string;
  readonly author: string;
  readonly email: string;
  readonly committer: string;
  readonly committerEmail: string;
  readonly subject: string;
  readonly body: string;
  readonly files: readonly string[];
}

/** Makes a bare repository that can be cloned and pushed to over HTTP and ssh. */
export async function createBareRepository(bareDir: string, options: RepositoryOptions = {}): Promise<void> {
  const branch = options.branch ?? 'main';
  await mkdir(bareDir, { recursive: true });
  await git(['init', '--quiet', '--bare', `--initial-branch=${branch}`, bareDir]);
  await git(['config', 'http.receivepack', 'true'], { cwd: bareDir });
  await git(['config', 'uploadpack.allowFilter', 'true'], { cwd: bareDir });
  if (options.files) {
    await commitTo(bareDir, branch, options.files, options);
  }
  for (const commit of options.commits ?? []) {
    await commitTo(bareDir, branch, commit.files, commit);
  }
}

/** Adds a commit to a branch, as if somebody else had pushed it. Returns its id. */
export async function commitTo(
  bareDir: string,
  branch: string,
  files: Files,
  { message = 'Change files', author = 'Bob <bob@example.com>' }: CommitOptions = {},
): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const parent = await tip(bareDir, branch);
  const person = `${author} ${Math.floor(Date.now() / 1000)} +0000\n`;
  const stream: (string | Uint8Array)[] = [`commit ${ref}\nmark :1\nauthor ${person}committer ${person}`];
  stream.push(...data(message));
  if (parent !== undefined) {
    stream.push(`from ${parent}\n`);
  }
  for (const [path, file] of Object.entries(files)) {
    stream.push(...change(path, file));
  }
  stream.push('\nget-mark :1\ndone\n');
  const stdin = Buffer.concat(stream.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return (await git(['fast-import', '--quiet', '--done'], { cwd: bareDir, stdin })).trim();
}

/** The commit a branch points to; undefined when there is no such branch. */
export async function tip(bareDir: string, branch: string): Promise<string | undefined> {
  const format = ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`];
  return (await git(format, { cwd: bareDir })).trim() || undefined;
}

/** The text of a file at a revision; undefined when it is not there. */
export async function readFile(bareDir: string, rev: string, path: string): Promise<string | undefined> {
  const [entry] = await entries(bareDir, rev, ['--', path]);
  if (entry === undefined) {
    return undefined;
  }
  return await git(['cat-file', 'blob', entry.blob], { cwd: bareDir });
}

/** The paths of all files at a revision, sorted. */
export async function listFiles(bareDir: string, rev: string): Promise<string[]> {
  return (await entries(bareDir, rev, ['-r'])).map((entry) => entry.path);
}

/** The commits of a branch, newest first. */
export async function log(bareDir: string, branch: string): Promise<Commit[]> {
  const format = '--format=%x1e%H%x1f%an%x1f%ae%x1f%cn%x1f%ce%x1f%s%x1f%b%x1f';
  const quiet = ['-c', 'core.quotePath=false'];
  const output = await git(
    [...quiet, 'log', '--first-parent', '--name-only', format, `refs/heads/${branch}`],
    {
      cwd: bareDir,
    },
  );
  return output.split('\x1e').slice(1).map(parseCommit);
}

/** What changed between two revisions, as a unified diff. */
export function diff(bareDir: string, a: string, b: string): Promise<string> {
  return git(['diff', '--no-color', a, b], { cwd: bareDir });
}

function parseCommit(text: string): Commit {
  const [
    sha = '',
    author = '',
    email = '',
    committer = '',
    committerEmail = '',
    subject = '',
    body = '',
    files = '',
  ] = text.split('\x1f');
  return {
    sha,
    author,
    email,
    committer,
    committerEmail,
    subject,
    body: body.trim(),
    files: files.split('\n').filter((path) => path !== ''),
  };
}

async function entries(
  bareDir: string,
  rev: string,
  args: readonly string[],
): Promise<{ blob: string; path: string }[]> {
  const output = await git(['ls-tree', '-z', '--full-tree', rev, ...args], { cwd: bareDir });
  return output
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [head = '', path = ''] = line.split('\t');
      return { blob: head.split(' ')[2] ?? '', path };
    });
}

function change(path: string, file: FileContent): (string | Uint8Array)[] {
  const quoted = JSON.stringify(path);
  if (file === null) {
    return [`D ${quoted}\n`];
  }
  if (typeof file === 'string' || file instanceof Uint8Array) {
    return [`M 100644 inline ${quoted}\n`, ...data(file)];
  }
  return [`M ${file.mode} inline ${quoted}\n`, ...data(file.content)];
}

function data(content: string | Uint8Array): (string | Uint8Array)[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, '\n'];
}
