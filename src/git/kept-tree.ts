/**
 * A small tree of files of our own on a private ref: the store of handled states. Written in whole steps, found again after
 * a restart, never pushed. It keeps no history: each step replaces the one before, and maintenance drops what it held.
 */
import { type Git, git, succeeded } from './command.ts';
import { Draft } from './draft.ts';
import { failureOf } from './failure.ts';
import { data, quotedPath, type StreamPart } from './import-stream.ts';
import type { Reader } from './reader.ts';
import { deleteRef, readRef } from './refs.ts';

export interface KeptFile {
  readonly path: string;
  readonly content: string | Uint8Array | null;
}

const nobody = 'GitOps Reverser <noreply@gitops-reverser.invalid> 0 +0000';

export class KeptTree {
  readonly #repository: Git;
  readonly #reader: Reader;
  readonly #ref: string;
  /** Root tree as last written; null = the ref does not exist; undefined = not read yet. */
  #root: string | null | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(repository: Git, reader: Reader, ref: string) {
    this.#repository = repository;
    this.#reader = reader;
    this.#ref = ref;
  }

  /** All files with their blob ids, in path order. */
  list(): Promise<readonly { path: string; id: string }[]> {
    return this.#inTurn(async () => {
      const root = await this.#readRoot();
      if (root === null) return [];
      const result = await git(this.#repository, ['ls-tree', '-r', '-z', '--full-tree', root]);
      if (!succeeded(result)) throw new Error(failureOf(result, 'reading what was kept').message);
      const records = result.stdout.toString().split('\0');
      records.pop();
      return records.map((record) => {
        const tab = record.indexOf('\t');
        return { path: record.slice(tab + 1), id: record.slice(0, tab).split(' ')[2] ?? '' };
      });
    });
  }

  /** The content of a listed file. Throws when the repository has lost it. */
  async read(id: string): Promise<Uint8Array> {
    const content = await this.#reader.readBlob(id);
    if (content === undefined) throw new Error(`the repository has lost blob ${id} that it should keep`);
    return content;
  }

  /** Writes, replaces and removes (content null) files in one step; all of it or nothing. Throws when it cannot be stored. */
  write(files: readonly KeptFile[]): Promise<void> {
    return this.#inTurn(async () => {
      if (files.length === 0) return;
      const root = await this.#readRoot();
      const stream: StreamPart[] = [`commit ${this.#ref}\nmark :1\ncommitter ${nobody}\n`, ...data('')];
      if (root !== null) stream.push(`M 040000 ${root} ""\n`);
      for (const { path, content } of files) {
        if (content === null) stream.push(`D ${quotedPath(path)}\n`);
        else stream.push(`M 100644 inline ${quotedPath(path)}\n`, ...data(content));
      }
      stream.push('get-mark :1\nls :1 ""\n');
      const result = await new Draft(this.#repository).finish(stream, 'keeping handled states');
      if (result.kind !== 'ok') throw new Error(result.message);
      const tree = /^040000 tree ([0-9a-f]{40})\t/m.exec(result.output)?.[1];
      if (tree === undefined) throw new Error('git fast-import stored a tree, but did not name it');
      this.#root = tree;
    });
  }

  /** Forgets all of it. */
  remove(): Promise<void> {
    return this.#inTurn(async () => {
      const result = await deleteRef(this.#repository, this.#ref);
      if (result.kind === 'failed') throw new Error(result.message);
      this.#root = null;
    });
  }

  /** The repository was made anew: what was known of it is void. */
  forget(): void {
    this.#root = undefined;
  }

  async #readRoot(): Promise<string | null> {
    this.#root ??= (await readRef(this.#repository, `${this.#ref}^{tree}`)) ?? null;
    return this.#root;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
