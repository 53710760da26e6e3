/** What a document states and where: every scalar and every entry with its place in the text, as npm `yaml` reads it. */
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml';
import type { Path } from '../../src/core/json.ts';
import type { Manifest } from './manifests.ts';

/** Offsets in the file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Stated {
  readonly path: Path;
  /** The value's own text. */
  readonly value: Span;
  /** From the key or the dash's item to the end of the value. */
  readonly entry: Span;
  readonly kind: 'scalar' | 'map' | 'list';
  /** Whether it is written as `{}` or `[]`. */
  readonly flow: boolean;
  readonly size: number;
}

/** Everything below the root of a document, outer places first. */
export function statedIn(text: string, { slice }: Pick<Manifest, 'slice'>): Stated[] {
  const document = parseDocument(text.slice(slice.bodyStart, slice.bodyEnd), { logLevel: 'silent' });
  const found: Stated[] = [];
  const visit = (node: unknown, path: Path, entryStart: number | undefined): void => {
    if (!isNode(node) || node.range === null || node.range === undefined) return;
    const value = { start: node.range[0] + slice.bodyStart, end: node.range[1] + slice.bodyStart };
    const start = entryStart === undefined ? value.start : entryStart + slice.bodyStart;
    if (path.length > 0) found.push({ path, value, entry: { start, end: value.end }, ...shapeOf(node) });
    if (isMap(node)) {
      for (const pair of node.items as Pair[]) {
        const { key } = pair;
        if (isScalar(key)) visit(pair.value, [...path, String(key.value)], key.range?.[0]);
      }
    }
    if (isSeq(node))
      for (const [index, item] of node.items.entries()) visit(item, [...path, index], undefined);
  };
  visit(document.contents, [], undefined);
  return found;
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value);
}

function shapeOf(node: Node): Pick<Stated, 'kind' | 'flow' | 'size'> {
  if (isMap(node)) return { kind: 'map', flow: node.flow === true, size: node.items.length };
  if (isSeq(node)) return { kind: 'list', flow: node.flow === true, size: node.items.length };
  return { kind: 'scalar', flow: false, size: 0 };
}
