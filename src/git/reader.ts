/**
 * Reads trees and blobs of the bare repository. Objects never change, so what was read may be kept; refs are not read here.
 */
import type { FileMode, TreeEntry } from '../core/folder/tree.ts';
import { type Git, git, succeeded } from './command.ts';
import { failureOf } from './failure.ts';
import { ObjectStream } from './object-stream.ts';
import { checkedId } from './refs.ts';

export interface ReaderOptions {
  /** Larger blobs are not read; their size stands in the tree entry. */
  readonly maxBlobBytes?: number;
}

const defaultMaxBlobBytes = 32 * 1024 * 1024;
/** Entries of all kept listings together; the newest listing is kept whatever its size. */
const maxKeptEntries = 200_000;

export class Reader {
  readonly #repository: Git;
  readonly #objects: ObjectStream;
  readonly #trees = new Map<string, readonly TreeEntry[]>();
  #keptEntries = 0;

  constructor(repository: Git, options: ReaderOptions = {}) {
    this.#repository = repository;
    this.#objects = new ObjectStream(repository, options.maxBlobBytes ?? defaultMaxBlobBytes);
  }

  /** Undefined: the repository lacks it. Throws when it is too large to be read. */
  async readBlob(id: string): Promise<Buffer | undefined> {
    const read = await this.#objects.read(checkedId(id));
    if (read.kind === 'missing') return undefined;
    if (read.kind === 'too-large')
      throw new Error(`blob ${id} has ${read.size} bytes, more than can be read`);
    if (read.type !== 'blob') throw new Error(`${id} is a ${read.type}, not a blob`);
    return read.content;
  }

  /** All at once; those the repository lacks are left out. */
  async readBlobs(ids: Iterable<string>): Promise<Map<string, Buffer>> {
    const read = await Promise.all(
      [...new Set(ids)].map(async (id) => [id, await this.readBlob(id)] as const),
    );
    return new Map(read.filter((entry): entry is [string, Buffer] => entry[1] !== undefined));
  }

  /**
   * Every file of a commit or tree, in git's order, or those below a folder. Paths are always from the repository root.
   * Throws when the repository lacks the commit.
   */
  async readTree(commit: string, folder = ''): Promise<readonly TreeEntry[]> {
    const key = `${checkedId(commit)}:${folder}`;
    const kept = this.#trees.get(key);
    if (kept !== undefined) {
      this.#trees.delete(key);
      this.#trees.set(key, kept);
      return kept;
    }
    const below = folder === '' ? [] : ['--', `${folder}/`];
    const result = await git(this.#repository, [
      'ls-tree',
      '-r',
      '-z',
      '-l',
      '--full-tree',
      commit,
      ...below,
    ]);
    if (!succeeded(result)) throw new Error(failureOf(result, `listing the files of ${commit}`).message);
    const entries = parseTree(result.stdout);
    this.#keep(key, entries);
    return entries;
  }

  /** The id of a folder's tree, to see whether two commits hold the same; undefined when it has no such folder. */
  async treeId(commit: string, folder = ''): Promise<string | undefined> {
    const read = await this.#objects.read(`${checkedId(commit)}${folder === '' ? '^{tree}' : `:${folder}`}`);
    return read.kind === 'missing' || read.type !== 'tree' ? undefined : read.id;
  }

  /** Whether the repository holds this commit. */
  async hasCommit(commit: string): Promise<boolean> {
    const read = await this.#objects.read(checkedId(commit));
    return read.kind !== 'missing' && read.type === 'commit';
  }

  /** To be called after packs were replaced. */
  async restart(): Promise<void> {
    await this.#objects.restart();
  }

  async close(): Promise<void> {
    this.#trees.clear();
    this.#keptEntries = 0;
    await this.#objects.close();
  }

  #keep(key: string, entries: readonly TreeEntry[]): void {
    const raced = this.#trees.get(key);
    if (raced !== undefined) this.#keptEntries -= raced.length;
    this.#trees.delete(key);
    this.#trees.set(key, entries);
    this.#keptEntries += entries.length;
    for (const [oldest, old] of this.#trees) {
      if (this.#keptEntries <= maxKeptEntries || oldest === key) break;
      this.#trees.delete(oldest);
      this.#keptEntries -= old.length;
    }
  }
}

/** Records `MODE TYPE ID SIZE\tPATH\0`. A path that is not UTF-8 shows U+FFFD; it is listed, and never written by us. */
function parseTree(output: Buffer): TreeEntry[] {
  const records = output.toString('utf8').split('\0');
  records.pop();
  return records.map((record) => {
    const tab = record.indexOf('\t');
    const [mode = '', , id = '', size = ''] = record.slice(0, tab).split(/ +/);
    return { path: record.slice(tab + 1), mode: fileMode(mode), id, size: size === '-' ? 0 : Number(size) };
  });
}

/** Git itself knows only these four; very old repositories hold others that mean the same. */
function fileMode(mode: string): FileMode {
  if (mode === '120000' || mode === '160000') return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}
