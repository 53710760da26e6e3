/** Changes the text of a literal block line by line: lines that stay keep their bytes. */
import type { Style } from './emit.ts';
import { nextLine } from './lines.ts';
import type { ScalarNode } from './nodes.ts';
import { fitsLiteral, needsIndicator } from './scalar.ts';
import { commonSubsequence } from './sequence.ts';
import type { Splice } from './splice.ts';

/**
 * Splices that make the literal block hold `desired`; undefined when it cannot stay a literal block.
 * `parent`: the column its indentation indicator counts from.
 */
export function mergeLiteral(
  text: string,
  node: ScalarNode,
  desired: string,
  parent: number,
  style: Style,
): Splice[] | undefined {
  const { block } = node;
  if (block === undefined || node.style !== 'literal' || !fitsLiteral(desired)) return undefined;
  const lines = rawLines(text, block.bodyStart, node.end);
  const depth = block.indent - parent;
  if (lines.length === 0 || (needsIndicator(desired) && (depth < 1 || depth > 9))) return undefined;

  const ends = desired.length - desired.replace(/\n+$/, '').length;
  if (ends > 1 && block.chomp !== '+') return undefined;
  const chomp = ends === 0 ? '-' : block.chomp === '+' ? '+' : '';
  const wanted = (ends === 0 ? desired : desired.slice(0, -1)).split('\n');
  const digit = block.indicator || needsIndicator(desired) ? String(depth) : '';
  const splices = changedLines(text, lines, wanted, block.indent, node.end, style.eol);
  if (chomp !== block.chomp || (digit !== '') !== block.indicator) {
    const header = /^\|[-+0-9]*/.exec(text.slice(node.start, block.bodyStart))?.[0] ?? '|';
    splices.push({ start: node.start, end: node.start + header.length, text: `|${digit}${chomp}` });
  }
  return splices;
}

interface RawLine {
  start: number;
  end: number;
}

function rawLines(text: string, start: number, end: number): RawLine[] {
  const lines: RawLine[] = [];
  for (let at = start; at < end; ) {
    const next = Math.min(nextLine(text, at), end);
    lines.push({ start: at, end: next });
    at = next;
  }
  return lines;
}

function changedLines(
  text: string,
  lines: readonly RawLine[],
  wanted: readonly string[],
  indent: number,
  end: number,
  eol: string,
): Splice[] {
  const current = lines.map((line) =>
    text
      .slice(line.start, line.end)
      .replace(/\r?\n$/, '')
      .slice(indent),
  );
  const pad = ' '.repeat(indent);
  const splices: Splice[] = [];
  let [left, right] = [0, 0];
  for (const [at, position] of [
    ...commonSubsequence(current, wanted),
    [lines.length, wanted.length] as const,
  ]) {
    if (at > left || position > right) {
      const added = wanted.slice(right, position).map((line) => (line === '' ? '' : pad + line) + eol);
      const start = lines[left]?.start ?? end;
      splices.push({ start, end: lines[at]?.start ?? end, text: added.join('') });
    }
    [left, right] = [at + 1, position + 1];
  }
  return splices;
}
