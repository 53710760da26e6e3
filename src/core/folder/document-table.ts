/** The records of a folder by name, in path and document order: a view of the table of its files. */
import type { IndexedDocument } from './indexed-file.ts';
import { MadeMap } from './made-map.ts';
import type { NameIndex } from './name-index.ts';
import {
  countRecords,
  holdsName,
  namesOf,
  type PackedFile,
  recordsNamed,
  type Wants,
} from './packed-file.ts';
import type { TreeEntry } from './tree.ts';

interface Content {
  readonly listing: readonly TreeEntry[];
  readonly rows: readonly (PackedFile | undefined)[];
  readonly names: NameIndex;
}

export class DocumentTable extends MadeMap<string, readonly IndexedDocument[]> {
  readonly #content: Content;

  constructor(content: Content) {
    super();
    this.#content = content;
  }

  /** How many records there are. */
  get count(): number {
    return this.#content.rows.reduce((sum, row) => (row === undefined ? sum : sum + countRecords(row)), 0);
  }

  /** Those of a name, and of the kind and namespace that are wanted: one name may stand in every namespace. */
  named(name: string, wants: Wants = () => true): readonly IndexedDocument[] {
    const { listing, rows, names } = this.#content;
    const found: IndexedDocument[] = [];
    names.search(name, (at) => {
      const row = rows[at];
      if (row !== undefined) found.push(...recordsNamed(row, listing[at]?.path ?? '', name, wants));
      return false;
    });
    return found;
  }

  override get(name: string): readonly IndexedDocument[] | undefined {
    const found = this.named(name);
    return found.length === 0 ? undefined : found;
  }

  override has(name: string): boolean {
    return this.#firstRow(name) !== -1;
  }

  override *entries(): MapIterator<[string, readonly IndexedDocument[]]> {
    for (const name of this.keys()) yield [name, this.named(name)];
  }

  /** Each where it stands first. */
  override *keys(): MapIterator<string> {
    const { listing, rows } = this.#content;
    for (const [at, { path }] of listing.entries()) {
      const row = rows[at];
      if (row === undefined) continue;
      for (const name of namesOf(row, path)) if (this.#firstRow(name) === at) yield name;
    }
  }

  /** -1: there is none. */
  #firstRow(name: string): number {
    const { listing, rows, names } = this.#content;
    let first = -1;
    names.search(name, (at) => {
      const row = rows[at];
      if (row !== undefined && holdsName(row, listing[at]?.path ?? '', name)) first = at;
      return first !== -1;
    });
    return first;
  }
}
