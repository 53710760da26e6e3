/** Writes a value anew in the place of an old one, keeping the key, the comment on its line and the old scalar's style. */
import { isObject, type Json } from '../json.ts';
import { removeEntries } from './arrange.ts';
import { collectionLines, flowText, isEmptyCollection, itemContentLines } from './emit.ts';
import { entriesOf, literalMayEnd, tailEnd } from './entry.ts';
import { lineEnd } from './lines.ts';
import type { Node, ScalarStyle } from './nodes.ts';
import { forgetAnchors, type Merge, type Slot } from './place.ts';
import { isPrimitive, literalText, scalarText } from './scalar.ts';
import type { Splice } from './splice.ts';

/** Undefined when the place cannot take the value. */
export function replaceValue(merge: Merge, slot: Slot, node: Node, desired: Json): Splice[] | undefined {
  forgetAnchors(merge, node);
  if (slot.flow !== undefined) return [replaceInFlow(slot, node, desired, slot.flow)];
  if (slot.at < 0) return undefined;
  if (isPrimitive(desired) && spansLines(desired, node)) {
    const literal = replaceByLiteral(merge, slot, node, desired);
    if (literal !== undefined) return [literal];
  }
  if (isPrimitive(desired))
    return [replaceByText(merge, slot, node, desired, scalarText(desired, styleOf(node), false))];
  if (isEmptyCollection(desired))
    return (
      emptyBlock(merge, slot, node, desired) ?? [
        replaceByText(merge, slot, node, desired, Array.isArray(desired) ? '[]' : '{}'),
      ]
    );
  return [replaceByCollection(merge, slot, node, desired)];
}

/** Takes the entries out of a block collection; comments apart from them stay. Undefined for anything else. */
function emptyBlock(merge: Merge, slot: Slot, node: Node, desired: Json): Splice[] | undefined {
  const { text } = merge.tree;
  const parts = partsOf(node, desired);
  if (parts === undefined || node.propsStart < node.start || node.start <= lineEnd(text, slot.at))
    return undefined;
  const layout = { text, eol: merge.style.eol, entries: entriesOf(text, parts, false) };
  const brackets = { start: slot.at, end: slot.at, text: Array.isArray(desired) ? ' []' : ' {}' };
  return [brackets, ...removeEntries(layout, 0, parts.length)];
}

/** The entries of a block collection of the same kind as `desired`. */
function partsOf(node: Node, desired: Json): readonly { start: number; end: number }[] | undefined {
  if (node.kind === 'list' && !node.flow && Array.isArray(desired)) return node.items;
  return node.kind === 'map' && !node.flow && isObject(desired) ? node.pairs : undefined;
}

function styleOf(node: Node): ScalarStyle | undefined {
  return node.kind === 'scalar' ? node.style : undefined;
}

/** Whether a string is to be a literal block: it was a block, or it has several lines and was not quoted. */
function spansLines(desired: Json, node: Node): desired is string {
  const style = styleOf(node);
  if (typeof desired !== 'string' || style === 'single' || style === 'double') return false;
  return style === 'literal' || style === 'folded' || desired.includes('\n');
}

function replaceInFlow(
  slot: Slot,
  node: Node,
  desired: Json,
  flow: { json: boolean; padded: boolean; colonMissing: boolean },
): Splice {
  const own = styleOf(node);
  const style = flow.json && own !== 'single' ? 'double' : own;
  const text = isPrimitive(desired) ? scalarText(desired, style, true) : flowText(desired, flow);
  if (node.kind !== 'absent' || node.end > node.propsStart)
    return { start: node.propsStart, end: node.end, text };
  return { start: slot.at, end: slot.at, text: `${flow.colonMissing ? ':' : ''} ${text}` };
}

/** The value's text fits on the line of its key or dash. */
function replaceByText(merge: Merge, slot: Slot, node: Node, desired: Json, text: string): Splice {
  if (!isBlock(node)) {
    if (node.end === node.propsStart) return { start: slot.at, end: slot.at, text: ` ${text}` };
    // An anchor stays with a scalar whose value changes; a tag says something about the old value.
    const keepsAnchor = node.kind === 'scalar' && node.anchor !== undefined && node.tag === undefined;
    if (keepsAnchor) merge.anchors.set(node, desired);
    return { start: keepsAnchor ? node.start : node.propsStart, end: node.end, text };
  }
  const { start, space, comment, end } = surroundings(merge, slot, node);
  return { start, end, text: `${space}${text}${comment}` };
}

function replaceByLiteral(merge: Merge, slot: Slot, node: Node, desired: string): Splice | undefined {
  const { style, tree } = merge;
  const literal = style.literals ? literalText(desired, style.step) : undefined;
  const column = slot.indent + style.step;
  const { start, space, comment, end } = surroundings(merge, slot, node);
  if (literal === undefined || !literalMayEnd(tree.text, tailEnd(tree.text, end, slot.indent), column))
    return undefined;
  const pad = ' '.repeat(column);
  const lines = literal.lines.map((line) => style.eol + (line === '' ? '' : pad + line));
  return { start, end, text: `${space}${literal.header}${comment}${lines.join('')}` };
}

function replaceByCollection(merge: Merge, slot: Slot, node: Node, desired: Json): Splice {
  const { style } = merge;
  const { comment, end } = surroundings(merge, slot, node);
  if (slot.kind === 'pair') {
    const lines = collectionLines(desired, slot.indent, style);
    return { start: slot.at, end, text: comment + lines.map((line) => style.eol + line).join('') };
  }
  const lines = itemContentLines(desired, slot.indent, style);
  const text =
    comment === '' ? lines.join(style.eol).slice(slot.indent + 1) : [comment, ...lines].join(style.eol);
  return { start: slot.at, end, text };
}

function isBlock(node: Node): boolean {
  if (node.kind === 'scalar') return node.block !== undefined;
  return (node.kind === 'map' || node.kind === 'list') && !node.flow;
}

interface Surroundings {
  /** Where the stretch to replace begins, and the space a value needs there. */
  start: number;
  space: string;
  /** The comment on the value's line, with the space before it. */
  comment: string;
  /** Where the value's last line ends. */
  end: number;
}

function surroundings(merge: Merge, slot: Slot, node: Node): Surroundings {
  const { text } = merge.tree;
  const start = slot.at;
  const space = ' ';
  if (!isBlock(node)) {
    const from = Math.max(node.end, slot.at);
    const end = lineEnd(text, from);
    return { start, space, comment: commentIn(text.slice(from, end)), end };
  }
  const headEnd = lineEnd(text, slot.at);
  const startsBelow = node.start > headEnd;
  if (node.kind === 'scalar') {
    const comment = commentIn(text.slice(node.start, lineEnd(text, node.start)));
    const end = lineEnd(text, node.end - 1);
    return startsBelow ? { start: node.propsStart, space: '', comment, end } : { start, space, comment, end };
  }
  const comment = startsBelow ? commentIn(text.slice(slot.at, headEnd)) : '';
  return { start, space, comment, end: lineEnd(text, tailEnd(text, node.end, slot.indent) - 1) };
}

function commentIn(line: string): string {
  const found = /(^|[ \t]+)#.*$/.exec(line.trimEnd());
  if (found === null) return '';
  return found[1] === '' ? ` ${found[0]}` : found[0];
}
