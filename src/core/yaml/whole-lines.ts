/** Makes a document's text end in an end of line while it is edited, and takes it away again. */
import type { Node, Tree } from './nodes.ts';
import { parseTree } from './parse.ts';

/** A text that ends in an end of line, and the ways back to one that does not. */
export interface WholeLines {
  tree: Tree;
  /** Texts that may stand for the edited one in the file, best first. */
  restore(edited: string): string[];
}

/**
 * Splicing works on whole lines, so a missing end of line at the end of the file is added, and taken away again. A block of
 * text cut off by the end of the file has no final end of line in its value: its header says so meanwhile.
 */
export function inWholeLines(tree: Tree, bodyEnd: number, eol: string): WholeLines {
  const { text } = tree;
  if (text === '' || text.endsWith('\n')) return { tree, restore: (edited) => [edited] };
  const cut = bodyEnd === text.length ? lastBlockScalar(tree.root) : undefined;
  const header = cut === undefined ? '' : (/^[|>][-+0-9]*/.exec(text.slice(cut))?.[0] ?? '');
  const stripped = `${header.replace(/[-+]/, '')}-`;
  const whole = cut === undefined ? text : text.slice(0, cut) + stripped + text.slice(cut + header.length);
  const from = tree.bodyStart;
  const parsed = parseTree(whole + eol, from, bodyEnd === text.length ? whole.length + eol.length : bodyEnd);
  if (!parsed.ok) return { tree, restore: (edited) => [edited] };
  const tail = cut === undefined ? '' : stripped + text.slice(cut + header.length) + eol;
  return {
    tree: parsed.tree,
    restore: (edited) => {
      const bare = edited.endsWith(eol) ? edited.slice(0, -eol.length) : edited;
      if (cut === undefined || !edited.endsWith(tail)) return [bare, edited];
      return [edited.slice(0, -tail.length) + text.slice(cut), bare, edited];
    },
  };
}

/** Offset of the block scalar the document ends with. */
function lastBlockScalar(node: Node): number | undefined {
  if (node.kind === 'scalar') return node.block === undefined ? undefined : node.start;
  if (node.kind === 'map') return node.flow ? undefined : lastOf(node.pairs);
  if (node.kind === 'list') return node.flow ? undefined : lastOf(node.items);
  return undefined;
}

function lastOf(entries: readonly { value: Node }[]): number | undefined {
  const last = entries.at(-1);
  return last === undefined ? undefined : lastBlockScalar(last.value);
}
