/** Two sequences side by side: what is common to both, and what may stay in place when the order changes. */

/** Work bound for the exact comparison; beyond it only the common beginning and end are found. */
const maxCells = 4_000_000;

/** Pairs of positions of a longest common subsequence of two lists of texts, rising in both. */
export function commonSubsequence(a: readonly string[], b: readonly string[]): [number, number][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let aEnd = a.length;
  let bEnd = b.length;
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd -= 1;
    bEnd -= 1;
  }
  const pairs: [number, number][] = [];
  for (let at = 0; at < start; at += 1) pairs.push([at, at]);
  if ((aEnd - start) * (bEnd - start) <= maxCells)
    for (const pair of middle(a, b, start, aEnd, bEnd)) pairs.push(pair);
  for (let at = 0; aEnd + at < a.length; at += 1) pairs.push([aEnd + at, bEnd + at]);
  return pairs;
}

function middle(
  a: readonly string[],
  b: readonly string[],
  start: number,
  aEnd: number,
  bEnd: number,
): [number, number][] {
  const rows = aEnd - start;
  const columns = bEnd - start;
  if (rows === 0 || columns === 0) return [];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const cell = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const equal = a[start + row] === b[start + column];
      lengths[row * width + column] = equal
        ? cell(row + 1, column + 1) + 1
        : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (a[start + row] === b[start + column]) {
      pairs.push([start + row, start + column]);
      row += 1;
      column += 1;
    } else if (cell(row + 1, column) >= cell(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** A longest rising run of distinct numbers, as the numbers themselves. */
export function risingRun(values: readonly number[]): number[] {
  // tails[k]: position of the smallest value that ends a run of k + 1; before[i]: the position before i in its run.
  const tails: number[] = [];
  const before: number[] = [];
  values.forEach((value, position) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const half = (low + high) >> 1;
      if ((values[tails[half] ?? 0] ?? 0) < value) low = half + 1;
      else high = half;
    }
    before[position] = tails[low - 1] ?? -1;
    tails[low] = position;
  });
  const run: number[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) run.push(values[at] ?? 0);
  return run.reverse();
}
