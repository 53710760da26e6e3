/** Which rows of a table hold a name: four lists of numbers, where a map would keep every name and an entry for it. */

export interface RowNames {
  readonly row: number;
  /** Each once. */
  readonly names: readonly string[];
}

export class NameIndex {
  /** In the order of their rows. */
  readonly #nodes: Nodes;
  /** By hash: one more than the first node of that hash; 0 is none. */
  readonly #heads: Int32Array;
  /** By node: one more than the next node of the same hash. */
  readonly #next: Int32Array;

  private constructor(nodes: Nodes) {
    const { hashes } = nodes;
    const heads = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2, hashes.length))));
    const next = new Int32Array(hashes.length);
    // From the end, so that the first row of a name is the first to be found.
    for (let node = hashes.length - 1; node >= 0; node--) {
      const at = (hashes[node] ?? 0) & (heads.length - 1);
      next[node] = heads[at] ?? 0;
      heads[at] = node + 1;
    }
    this.#nodes = nodes;
    this.#heads = heads;
    this.#next = next;
  }

  /** Rows in order. */
  static of(rows: readonly RowNames[]): NameIndex {
    return new NameIndex(nodesOf(rows));
  }

  /**
   * The same after rows have moved: `places` says by row where it is now, in the same order as before; -1 that what it held
   * counts no more. `added` are other rows, or new names of such, in order.
   */
  moved(places: Int32Array, added: readonly RowNames[]): NameIndex {
    const [old, fresh] = [this.#nodes, nodesOf(added)];
    const rows = new Int32Array(old.rows.length + fresh.rows.length);
    const hashes = new Int32Array(rows.length);
    let [count, nth] = [0, 0];
    const take = (row: number, hash: number) => {
      rows[count] = row;
      hashes[count] = hash;
      count += 1;
    };
    const takeFreshBefore = (row: number) => {
      for (; nth < fresh.rows.length && (fresh.rows[nth] ?? 0) < row; nth++)
        take(fresh.rows[nth] ?? 0, fresh.hashes[nth] ?? 0);
    };
    for (let node = 0; node < old.rows.length; node++) {
      const row = places[old.rows[node] ?? 0] ?? -1;
      if (row < 0) continue;
      takeFreshBefore(row);
      take(row, old.hashes[node] ?? 0);
    }
    takeFreshBefore(Number.POSITIVE_INFINITY);
    return new NameIndex({ rows: rows.slice(0, count), hashes: hashes.slice(0, count) });
  }

  /** Rows that may hold the name, each once, in order; others among them are of the same hash. Ends when `look` says true. */
  search(name: string, look: (row: number) => boolean): void {
    const hash = hashOf(name);
    let last = -1;
    let node = this.#heads[hash & (this.#heads.length - 1)] ?? 0;
    while (node > 0) {
      const row = this.#nodes.rows[node - 1] ?? 0;
      // One row may have two names of one hash.
      if (this.#nodes.hashes[node - 1] === hash && row !== last) {
        if (look(row)) return;
        last = row;
      }
      node = this.#next[node - 1] ?? 0;
    }
  }
}

/** A node per row and name. */
interface Nodes {
  readonly rows: Int32Array;
  readonly hashes: Int32Array;
}

function nodesOf(named: readonly RowNames[]): Nodes {
  const rows = named.flatMap(({ row, names }) => names.map(() => row));
  const hashes = named.flatMap(({ names }) => names.map(hashOf));
  return { rows: Int32Array.from(rows), hashes: Int32Array.from(hashes) };
}

/** FNV-1a, its upper half folded into the lower. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 16);
}
