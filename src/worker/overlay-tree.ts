/** A tree with edits on top: what the tip will hold once a planned write is committed, so that the next can be planned. */
import type { Tree, TreeEntry } from '../core/folder/tree.ts';
import { blobId } from './handled.ts';

export interface FileEdit {
  readonly path: string;
  /** null removes the file. */
  readonly content: Uint8Array | null;
}

export class OverlayTree implements Tree {
  readonly #entries: Map<string, TreeEntry>;
  readonly #readBlob: (id: string) => Promise<Uint8Array>;
  readonly #fresh = new Map<string, Uint8Array>();
  #list: readonly TreeEntry[] | undefined;

  constructor(entries: Iterable<TreeEntry>, readBlob: (id: string) => Promise<Uint8Array>) {
    this.#entries = new Map();
    for (const entry of entries) this.#entries.set(entry.path, entry);
    this.#readBlob = readBlob;
  }

  entries(): readonly TreeEntry[] {
    this.#list ??= [...this.#entries.values()];
    return this.#list;
  }

  async read(path: string): Promise<Uint8Array> {
    const entry = this.#entries.get(path);
    if (entry === undefined) throw new Error(`${path} is not in the tree`);
    return this.#fresh.get(entry.id) ?? this.#readBlob(entry.id);
  }

  /** Applies edits in place; new files are ordinary files, edited ones keep their mode. */
  apply(edits: readonly FileEdit[]): void {
    for (const { path, content } of edits) {
      if (content === null) {
        this.#entries.delete(path);
        continue;
      }
      const id = blobId(content);
      const mode = this.#entries.get(path)?.mode ?? '100644';
      this.#fresh.set(id, content);
      this.#entries.set(path, { path, mode, id, size: content.length });
    }
    if (edits.length > 0) this.#list = undefined;
  }

  /** The edits are in the repository now: their bytes can be read back from there. */
  forgetContent(): void {
    this.#fresh.clear();
  }
}
