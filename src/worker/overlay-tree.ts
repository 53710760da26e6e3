/** A tree with edits on top: what the tip will hold once a planned write is committed, so that the next can be planned. */
import { compareText, type Tree, type TreeEntry } from '../core/folder/index.ts';
import { blobId } from './handled.ts';

export interface FileEdit {
  readonly path: string;
  /** null removes the file. */
  readonly content: Uint8Array | null;
}

export class OverlayTree implements Tree {
  readonly #readBlob: (id: string) => Promise<Uint8Array>;
  readonly #fresh = new Map<string, Uint8Array>();
  #list: readonly TreeEntry[];
  /** The list is in path order; looked at when a path is looked up, since whoever only lists needs none. */
  #isOrdered = false;
  /** What the list does not say yet; null: the file is gone. */
  readonly #changes = new Map<string, TreeEntry | null>();

  constructor(entries: readonly TreeEntry[], readBlob: (id: string) => Promise<Uint8Array>) {
    this.#list = entries;
    this.#readBlob = readBlob;
  }

  /** The list stays as it is when the tree changes. */
  entries(): readonly TreeEntry[] {
    if (this.#changes.size > 0) {
      this.#list = this.#replaced() ?? this.#merged();
      this.#changes.clear();
    }
    return this.#list;
  }

  /** Undefined when the file is not there. */
  idOf(path: string): string | undefined {
    return this.#entry(path)?.id;
  }

  async read(path: string): Promise<Uint8Array> {
    const entry = this.#entry(path);
    if (entry === undefined) throw new Error(`${path} is not in the tree`);
    return this.#fresh.get(entry.id) ?? this.#readBlob(entry.id);
  }

  /** Applies edits in place; new files are ordinary files, edited ones keep their mode. */
  apply(edits: readonly FileEdit[]): void {
    for (const { path, content } of edits) {
      if (content === null) {
        this.#changes.set(path, null);
        continue;
      }
      const id = blobId(content);
      const mode = this.#entry(path)?.mode ?? '100644';
      this.#fresh.set(id, content);
      this.#changes.set(path, { path, mode, id, size: content.length });
    }
  }

  /** The edits are in the repository now: their bytes can be read back from there. */
  forgetContent(): void {
    this.#fresh.clear();
  }

  #entry(path: string): TreeEntry | undefined {
    const changed = this.#changes.get(path);
    if (changed !== undefined) return changed ?? undefined;
    const entry = this.#ordered()[this.#placeOf(path)];
    return entry?.path === path ? entry : undefined;
  }

  /** The list with the changes when no file came or went; else undefined. */
  #replaced(): readonly TreeEntry[] | undefined {
    const list = [...this.#ordered()];
    for (const [path, entry] of this.#changes) {
      const at = this.#placeOf(path);
      if (entry === null || list[at]?.path !== path) return undefined;
      list[at] = entry;
    }
    return list;
  }

  #merged(): readonly TreeEntry[] {
    const changes = [...this.#changes].sort(([a], [b]) => compareText(a, b));
    const list: TreeEntry[] = [];
    let next = 0;
    const takeChangesBefore = (path: string | undefined) => {
      for (; next < changes.length; next++) {
        const [changed, entry] = changes[next] ?? ['', null];
        if (path !== undefined && changed >= path) return;
        if (entry !== null) list.push(entry);
      }
    };
    for (const entry of this.#ordered()) {
      takeChangesBefore(entry.path);
      if (!this.#changes.has(entry.path)) list.push(entry);
    }
    takeChangesBefore(undefined);
    return list;
  }

  /** Where a path stands in the list or would stand. */
  #placeOf(path: string): number {
    const list = this.#ordered();
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle]?.path ?? '') < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Git's order is that of bytes, which is another one for characters beyond the BMP. */
  #ordered(): readonly TreeEntry[] {
    if (this.#isOrdered) return this.#list;
    const list = this.#list;
    const isOrdered = list.every(({ path }, at) => at === 0 || (list[at - 1]?.path ?? '') < path);
    if (!isOrdered) this.#list = list.toSorted((a, b) => compareText(a.path, b.path));
    this.#isOrdered = true;
    return this.#list;
  }
}
