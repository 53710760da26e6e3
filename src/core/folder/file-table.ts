/**
 * The files of a folder by path, and their records by name. Both are views of one table that is small enough to be kept for
 * every branch: a row per entry of the folder. The files and records that it hands out are made when somebody asks.
 */
import { DocumentTable } from './document-table.ts';
import type { IndexedFile } from './indexed-file.ts';
import { MadeMap } from './made-map.ts';
import { NameIndex, type RowNames } from './name-index.ts';
import { type FactsPool, namesOf, type PackedFile, packFile, unpackFile } from './packed-file.ts';
import type { TreeEntry } from './tree.ts';

/** By entry; undefined for what is not read for records. */
export type Rows = readonly (PackedFile | undefined)[];

interface Content {
  /** In path order; all of the folder, whatever their role. */
  readonly listing: readonly TreeEntry[];
  readonly rows: Rows;
  readonly pool: FactsPool;
  readonly names?: NameIndex | undefined;
}

/** Files by path, in path order. */
export class FileTable extends MadeMap<string, IndexedFile> {
  readonly listing: readonly TreeEntry[];
  readonly documents: DocumentTable;
  readonly #rows: Rows;
  readonly #pool: FactsPool;
  readonly #names: NameIndex;

  constructor({ listing, rows, pool, names }: Content) {
    super();
    this.listing = listing;
    this.#rows = rows;
    this.#pool = pool;
    this.#names =
      names ?? NameIndex.of(rows.map((row, at) => ({ row: at, names: rowNames(row, listing[at]?.path) })));
    this.documents = new DocumentTable({ listing, rows, names: this.#names });
  }

  /** The same files in a listing of the same paths. */
  in(listing: readonly TreeEntry[]): FileTable {
    return new FileTable({ listing, rows: this.#rows, pool: this.#pool, names: this.#names });
  }

  /** With changed and new files; what else is listed stands here already, with the same content. */
  updated(listing: readonly TreeEntry[], changed: readonly IndexedFile[]): FileTable {
    const pool = this.#pool;
    const fresh = new Map(changed.map((file) => [file.entry.path, packFile(file, pool)]));
    const { rows, names } = this.#replaced(listing, fresh) ?? this.#moved(listing, fresh);
    return new FileTable({ listing, rows, names, pool });
  }

  /** When no path came or went and the records kept their names: in the time of the changed files. */
  #replaced(
    listing: readonly TreeEntry[],
    fresh: ReadonlyMap<string, PackedFile>,
  ): Pick<Content, 'rows' | 'names'> | undefined {
    if (listing.length !== this.listing.length) return undefined;
    const rows = this.#rows.slice();
    for (const [path, row] of fresh) {
      const at = this.#find(path);
      const before = this.#rows[at];
      if (before === undefined || !isSameList(namesOf(row, path), namesOf(before, path))) return undefined;
      rows[at] = row;
    }
    return { rows, names: this.#names };
  }

  #moved(
    listing: readonly TreeEntry[],
    fresh: ReadonlyMap<string, PackedFile>,
  ): Pick<Content, 'rows' | 'names'> {
    const places = new Int32Array(this.listing.length).fill(-1);
    const added: RowNames[] = [];
    let old = 0;
    const rows = listing.map((entry, at) => {
      const { path } = entry;
      let before = this.listing[old];
      while (before !== undefined && before !== entry && before.path < path) before = this.listing[++old];
      const row = fresh.get(path);
      if (row !== undefined) {
        added.push({ row: at, names: namesOf(row, path) });
        return row;
      }
      if (before !== entry && before?.path !== path) return undefined;
      places[old] = at;
      return this.#rows[old];
    });
    return { rows, names: this.#names.moved(places, added) };
  }

  override get(path: string): IndexedFile | undefined {
    const at = this.#find(path);
    const [row, entry] = [this.#rows[at], this.listing[at]];
    return row === undefined || entry === undefined ? undefined : unpackFile(row, entry);
  }

  override has(path: string): boolean {
    return this.#rows[this.#find(path)] !== undefined;
  }

  /** The file that stands at this path when its content is this one, too. */
  getSame({ path, id }: TreeEntry): IndexedFile | undefined {
    return this.listing[this.#find(path)]?.id === id ? this.get(path) : undefined;
  }

  override *entries(): MapIterator<[string, IndexedFile]> {
    for (const [at, entry] of this.listing.entries()) {
      const row = this.#rows[at];
      if (row !== undefined) yield [entry.path, unpackFile(row, entry)];
    }
  }

  override *keys(): MapIterator<string> {
    for (const [at, { path }] of this.listing.entries()) if (this.#rows[at] !== undefined) yield path;
  }

  /** Files that are more than one plain record, in path order. */
  *unusual(): IterableIterator<IndexedFile> {
    for (const row of this.#rows) if (row !== undefined && 'documents' in row) yield row;
  }

  /** Position of a path in the listing; -1 when it is not there. */
  #find(path: string): number {
    let low = 0;
    let high = this.listing.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.listing[middle]?.path ?? '') < path) low = middle + 1;
      else high = middle;
    }
    return this.listing[low]?.path === path ? low : -1;
  }
}

function rowNames(row: PackedFile | undefined, path = ''): readonly string[] {
  return row === undefined ? [] : namesOf(row, path);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}
