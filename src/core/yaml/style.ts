/** Finds out how a document is written, so that what we add looks like what stands there. */
import { houseStyle, type Style } from './emit.ts';
import { columnOf, dominantEol } from './lines.ts';
import type { Node, Tree } from './nodes.ts';

interface Tally {
  steps: Map<number, number>;
  offsets: Map<number, number>;
  gaps: Map<number, number>;
}

/** The style of a document; what it does not show is taken from the file, then from the house style. */
export function detectStyle(tree: Tree, file: string): Style {
  const tally: Tally = { steps: new Map(), offsets: new Map(), gaps: new Map() };
  measure(tree.text, tree.root, undefined, tally);
  return {
    eol: dominantEol(file),
    step: mostFrequent(tally.steps) ?? houseStyle.step,
    listOffset: mostFrequent(tally.offsets) ?? offsetInFile(file) ?? houseStyle.listOffset,
    gap: mostFrequent(tally.gaps) ?? houseStyle.gap,
    literals: true,
  };
}

/** `parent`: column of the key the node stands below. */
function measure(text: string, node: Node, parent: number | undefined, tally: Tally): void {
  if (node.kind === 'map' && !node.flow) {
    const column = columnOf(text, node.start);
    if (parent !== undefined) count(tally.steps, column - parent);
    for (const pair of node.pairs) measure(text, pair.value, column, tally);
  } else if (node.kind === 'list' && !node.flow) {
    const column = columnOf(text, node.start);
    if (parent !== undefined) count(tally.offsets, column - parent);
    for (const { start, value } of node.items) {
      const isOnDashLine =
        value.kind === 'map' && !value.flow && !text.slice(start, value.start).includes('\n');
      if (isOnDashLine) count(tally.gaps, value.start - start);
      measure(text, value, undefined, tally);
    }
  }
}

function count(counts: Map<number, number>, key: number): void {
  if (key < 0 || key > 9) return;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function mostFrequent(counts: Map<number, number>): number | undefined {
  let best: number | undefined;
  for (const [key, times] of counts) {
    if (best === undefined || times > (counts.get(best) ?? 0)) best = key;
  }
  return best;
}

function offsetInFile(file: string): number | undefined {
  const found = /^( *)[^\s#-][^\n]*:[ \t]*\r?\n( *)- /m.exec(file);
  if (found === null) return undefined;
  const offset = (found[2]?.length ?? 0) - (found[1]?.length ?? 0);
  return offset >= 0 && offset <= 9 ? offset : undefined;
}
