/** Questions about commits that the repository holds. Uses simple-git: plain one-shot reads of text. */
import { type SimpleGit, simpleGit } from 'simple-git';
import type { Git } from './command.ts';
import { checkedId } from './refs.ts';

export interface CommitInfo {
  readonly commit: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly subject: string;
  /** The whole message. */
  readonly message: string;
}

interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: Date;
}

const fields = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%s', '%B'] as const;
// Fields end with NUL, which no message can hold; a record separator ends the commit.
const format = `--format=${fields.join('%x00')}%x00%x1e`;
const idleMs = 60_000;

export class History {
  readonly #git: SimpleGit;

  constructor(repository: Git) {
    const { dir, environment } = repository;
    // simple-git takes away every GIT_ variable that is not named, and wants a word for each that could redirect git.
    this.#git = simpleGit({
      baseDir: dir,
      allowEnvironment: Object.keys(environment),
      timeout: { block: idleMs },
      unsafe: { allowUnsafeConfigPaths: true, allowUnsafeExec: true },
    }).env({ ...environment });
  }

  /** True also when both are the same commit. */
  async isAncestor(ancestor: string, of: string): Promise<boolean> {
    return (await this.mergeBase(ancestor, of)) === ancestor;
  }

  /** Newest common ancestor; undefined when the histories have nothing in common. */
  async mergeBase(one: string, other: string): Promise<string | undefined> {
    // git says nothing and ends with code 1 when there is none, which simple-git takes for an empty answer.
    return (await this.#git.raw('merge-base', checkedId(one), checkedId(other))).trim() || undefined;
  }

  /** The newest commit up to `tip` that changed the path (a file or a folder). */
  async lastCommitTouching(path: string, tip: string): Promise<CommitInfo | undefined> {
    return (await this.#log(['-1', checkedId(tip), '--', path]))[0];
  }

  /** Throws when the repository lacks the commit. */
  async commitInfo(commit: string): Promise<CommitInfo> {
    const [info] = await this.#log(['-1', checkedId(commit)]);
    if (info === undefined) throw new Error(`the repository has no commit ${commit}`);
    return info;
  }

  /** Commits reachable from `to` but not from `from`, newest first; at most `limit`. Of a path only those that changed it. */
  async commitsBetween(
    from: string | undefined,
    to: string,
    limit: number,
    path?: string,
  ): Promise<CommitInfo[]> {
    const range = from === undefined ? [checkedId(to)] : [checkedId(to), `^${checkedId(from)}`];
    return await this.#log([`--max-count=${limit}`, ...range, '--', ...(path === undefined ? [] : [path])]);
  }

  async #log(args: string[]): Promise<CommitInfo[]> {
    const output = await this.#git.raw(
      'log',
      '--no-color',
      '--no-show-signature',
      '--encoding=UTF-8',
      format,
      ...args,
    );
    return output.split('\x1e').flatMap((record) => parseCommit(record) ?? []);
  }
}

function parseCommit(record: string): CommitInfo | undefined {
  const [commit = '', tree = '', parents = '', ...rest] = record.replace(/^\n/, '').split('\0');
  if (commit === '') return undefined;
  const [
    authorName = '',
    authorEmail = '',
    authorTime,
    name = '',
    email = '',
    time,
    subject = '',
    message = '',
  ] = rest;
  return {
    commit,
    tree,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author: { name: authorName, email: authorEmail, date: new Date(Number(authorTime) * 1000) },
    committer: { name, email, date: new Date(Number(time) * 1000) },
    subject,
    message: message.trimEnd(),
  };
}
