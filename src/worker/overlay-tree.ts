/** A tree with edits on top: what the tip will hold once a planned write is committed, so that the next can be planned. */
import type { Tree, TreeEntry } from '../core/folder/tree.ts';
import { blobId } from './handled.ts';

export interface FileEdit {
  readonly path: string;
  /** null removes the file. */
  readonly content: Uint8Array | null;
}

export class OverlayTree implements Tree {
  /** By path; made when first asked for, since whoever only lists needs no more than the list. */
  #entries: Map<string, TreeEntry> | undefined;
  readonly #readBlob: (id: string) => Promise<Uint8Array>;
  readonly #fresh = new Map<string, Uint8Array>();
  #list: readonly TreeEntry[] | undefined;

  constructor(entries: readonly TreeEntry[], readBlob: (id: string) => Promise<Uint8Array>) {
    this.#list = entries;
    this.#readBlob = readBlob;
  }

  /** The list stays as it is when the tree changes. */
  entries(): readonly TreeEntry[] {
    this.#list ??= [...this.#byPath().values()];
    return this.#list;
  }

  /** Undefined when the file is not there. */
  idOf(path: string): string | undefined {
    return this.#byPath().get(path)?.id;
  }

  async read(path: string): Promise<Uint8Array> {
    const entry = this.#byPath().get(path);
    if (entry === undefined) throw new Error(`${path} is not in the tree`);
    return this.#fresh.get(entry.id) ?? this.#readBlob(entry.id);
  }

  /** Applies edits in place; new files are ordinary files, edited ones keep their mode. */
  apply(edits: readonly FileEdit[]): void {
    const entries = this.#byPath();
    for (const { path, content } of edits) {
      if (content === null) {
        entries.delete(path);
        continue;
      }
      const id = blobId(content);
      const mode = entries.get(path)?.mode ?? '100644';
      this.#fresh.set(id, content);
      entries.set(path, { path, mode, id, size: content.length });
    }
    if (edits.length > 0) this.#list = undefined;
  }

  #byPath(): Map<string, TreeEntry> {
    this.#entries ??= new Map((this.#list ?? []).map((entry) => [entry.path, entry]));
    return this.#entries;
  }

  /** The edits are in the repository now: their bytes can be read back from there. */
  forgetContent(): void {
    this.#fresh.clear();
  }
}
