/**
 * Lines two lists up by content, for lists whose items have no key: the longest run of items that agree stays in pairs, and
 * what lies between two such pairs is paired in order. So one inserted item does not shift all the others.
 */
import { isObject, type Json, type Path } from '../../json.ts';
import { equalScalars } from './equal.ts';
import type { KindSchema } from './kind-schema.ts';

/** More comparisons than this are not worth it; such lists pair by position. */
const mostComparisons = 10_000;

/** For each item of `left` the position of its partner in `right`; positions only rise. */
export function alignItems(
  schema: KindSchema,
  path: Path,
  left: readonly Json[],
  right: readonly Json[],
): (number | undefined)[] {
  const agree = (a: number, b: number): boolean => agrees(schema, [...path, a], left[a], right[b]);
  const bound = Math.min(left.length, right.length);
  let head = 0;
  while (head < bound && agree(head, head)) head += 1;
  let tail = 0;
  while (tail < bound - head && agree(left.length - 1 - tail, right.length - 1 - tail)) tail += 1;
  const middle = { from: head, left: left.length - tail, right: right.length - tail };
  const pairs: (number | undefined)[] = left.map((_item, index) => {
    if (index < head) return index;
    return index >= middle.left ? index - left.length + right.length : undefined;
  });
  const size = (middle.left - head) * (middle.right - head);
  const anchors = size === 0 || size > mostComparisons ? [] : longestRun(middle, agree);
  let from = { left: head, right: head };
  for (const anchor of [...anchors, { left: middle.left, right: middle.right }]) {
    for (let step = 0; from.left + step < anchor.left && from.right + step < anchor.right; step += 1) {
      pairs[from.left + step] = from.right + step;
    }
    if (anchor.left < middle.left) pairs[anchor.left] = anchor.right;
    from = { left: anchor.left + 1, right: anchor.right + 1 };
  }
  return pairs;
}

interface Middle {
  readonly from: number;
  readonly left: number;
  readonly right: number;
}

interface Anchor {
  readonly left: number;
  readonly right: number;
}

/** The longest common subsequence of the two middles. */
function longestRun(middle: Middle, agree: (a: number, b: number) => boolean): Anchor[] {
  const width = middle.right - middle.from + 1;
  const height = middle.left - middle.from + 1;
  // Cell (a, b) holds the length of the best run of the items from a and b on.
  const lengths = new Uint16Array(width * height);
  const matches = new Uint8Array(width * height);
  const cell = (a: number, b: number): number => (a - middle.from) * width + (b - middle.from);
  for (let a = middle.left - 1; a >= middle.from; a -= 1) {
    for (let b = middle.right - 1; b >= middle.from; b -= 1) {
      const match = agree(a, b);
      matches[cell(a, b)] = match ? 1 : 0;
      lengths[cell(a, b)] = match
        ? 1 + (lengths[cell(a + 1, b + 1)] ?? 0)
        : Math.max(lengths[cell(a + 1, b)] ?? 0, lengths[cell(a, b + 1)] ?? 0);
    }
  }
  const run: Anchor[] = [];
  let a = middle.from;
  let b = middle.from;
  while (a < middle.left && b < middle.right) {
    if (matches[cell(a, b)] === 1) {
      run.push({ left: a, right: b });
      a += 1;
      b += 1;
    } else if ((lengths[cell(a + 1, b)] ?? 0) >= (lengths[cell(a, b + 1)] ?? 0)) a += 1;
    else b += 1;
  }
  return run;
}

/** Everything that both state is the same; what only one states may be a default of the server. */
function agrees(schema: KindSchema, path: Path, a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined || a === null || b === null) return true;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => agrees(schema, [...path, index], item, b[index]))
    );
  }
  if (isObject(a)) {
    if (!isObject(b)) return false;
    const shared = Object.keys(a).filter((key) => Object.hasOwn(b, key));
    return shared.every((key) => agrees(schema, [...path, key], a[key], b[key]));
  }
  return !isObject(b) && !Array.isArray(b) && equalScalars(a, b, schema.meaning(path));
}
