/** Scans the four written forms of a scalar: plain, quoted (single, double) and block (literal, folded). */
import { Unreadable } from './limits.ts';
import { isBlankOrEnd, push, type Scan } from './tokens.ts';

/** White space and ends of line between two words of a scalar that spans lines. */
interface Fold {
  /** White space on the line, kept when no end of line follows. */
  blanks: string;
  breaks: number;
}

/** What a fold reads as: one end of line is a space, more are one less. */
function unfold(fold: Fold): string {
  if (fold.breaks === 0) return fold.blanks;
  return fold.breaks === 1 ? ' ' : '\n'.repeat(fold.breaks - 1);
}

/** Skips white space and ends of line. `indent`: a tab left of this column breaks a plain scalar, -1 allows any. */
function skipFold(scan: Scan, indent: number): Fold {
  const { text, end } = scan;
  const start = scan.at;
  let blanksEnd = start;
  let breaks = 0;
  while (scan.at < end) {
    const char = text[scan.at];
    if (char === '\n' || (char === '\r' && text[scan.at + 1] === '\n')) {
      scan.at += char === '\n' ? 1 : 2;
      scan.lineStart = scan.at;
      breaks += 1;
    } else if (char === ' ' || char === '\t') {
      if (char === '\t' && breaks > 0 && scan.at - scan.lineStart < indent)
        throw new Unreadable('a tab indents the line; use spaces', scan.at);
      scan.at += 1;
      if (breaks === 0) blanksEnd = scan.at;
    } else break;
  }
  return { blanks: text.slice(start, blanksEnd), breaks };
}

export function scanPlain(scan: Scan): void {
  const { text, end } = scan;
  const start = scan.at;
  const indent = scan.indent + 1;
  // What earlier lines read as; the words of one line read as they stand.
  let content = '';
  let lineFrom = start;
  let contentEnd = start;
  let fold: Fold = { blanks: '', breaks: 0 };
  let broken = false;
  while (scan.at < end && text[scan.at] !== '#') {
    const wordStart = scan.at;
    while (scan.at < end && !isBlankOrEnd(scan, scan.at) && !endsPlain(scan)) scan.at += 1;
    if (scan.at > wordStart) {
      if (fold.breaks > 0) {
        content += text.slice(lineFrom, contentEnd) + unfold(fold);
        lineFrom = wordStart;
      }
      contentEnd = scan.at;
    }
    if (scan.at >= end || !isBlankOrEnd(scan, scan.at)) {
      // A word that ended at once leaves the fold unread: the line it begins on is a new one.
      broken = scan.at === wordStart && fold.breaks > 0;
      break;
    }
    fold = skipFold(scan, indent);
    broken = fold.breaks > 0;
    if (scan.flow === 0 && scan.at - scan.lineStart < indent) break;
  }
  push(scan, 'scalar', start, contentEnd, content + text.slice(lineFrom, contentEnd), 'plain');
  if (broken) scan.keyAllowed = true;
}

function endsPlain(scan: Scan): boolean {
  const char = scan.text[scan.at];
  if (char === ':') return isBlankOrEnd(scan, scan.at + 1);
  if (scan.flow === 0) return false;
  return char === ',' || char === '?' || char === '[' || char === ']' || char === '{' || char === '}';
}

export function scanQuoted(scan: Scan): void {
  const { text, end } = scan;
  const start = scan.at;
  const quote = text[start];
  let content = '';
  scan.at += 1;
  for (;;) {
    if (scan.at >= end) throw new Unreadable('the quoted text has no closing quote', start);
    const char = text[scan.at] ?? '';
    if (char === quote) {
      if (quote === "'" && text[scan.at + 1] === "'") {
        content += "'";
        scan.at += 2;
        continue;
      }
      break;
    }
    if (char === '\\' && quote === '"') content += scanEscape(scan);
    else if (isBlankOrEnd(scan, scan.at)) content += unfold(skipFold(scan, -1));
    else {
      const wordStart = scan.at;
      while (
        scan.at < end &&
        !isBlankOrEnd(scan, scan.at) &&
        text[scan.at] !== quote &&
        text[scan.at] !== '\\'
      )
        scan.at += 1;
      // In single quotes a backslash is an ordinary character.
      if (scan.at === wordStart) scan.at += 1;
      content += text.slice(wordStart, scan.at);
    }
  }
  scan.at += 1;
  push(scan, 'scalar', start, scan.at, content, quote === '"' ? 'double' : 'single');
}

const shortEscapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1B',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00A0',
  L: '\u2028',
  P: '\u2029',
};
const codeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function scanEscape(scan: Scan): string {
  const { text } = scan;
  const at = scan.at;
  const char = text[at + 1] ?? '';
  if (char === '\n' || (char === '\r' && text[at + 2] === '\n')) {
    scan.at += 1;
    const fold = skipFold(scan, -1);
    // The escaped end of line joins the lines; further ones stay.
    return '\n'.repeat(fold.breaks - 1);
  }
  const short = shortEscapes[char];
  if (short !== undefined) {
    scan.at += 2;
    return short;
  }
  const length = codeLengths[char];
  const digits = length === undefined ? '' : text.slice(at + 2, at + 2 + length);
  const code = Number.parseInt(digits, 16);
  if (length === undefined || digits.length < length || !/^[0-9a-fA-F]+$/.test(digits))
    throw new Unreadable(`the escape "\\${char}" is unknown`, at);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new Unreadable(`the escape "\\${char}${digits}" is no character`, at);
  scan.at += 2 + length;
  return String.fromCodePoint(code);
}

export function scanBlockScalar(scan: Scan): void {
  const { text, end } = scan;
  const start = scan.at;
  const literal = text[start] === '|';
  const header = /^[|>](?:([+-])([0-9])?|([0-9])([+-])?)?/.exec(text.slice(start, start + 3)) ?? [];
  const chomp = header[1] ?? header[4];
  const digit = header[2] ?? header[3];
  if (digit === '0') throw new Unreadable('a block of text cannot have the indentation 0', start);
  scan.at += header[0]?.length ?? 1;
  endHeader(scan, start);

  const bodyStart = scan.at;
  const parent = Math.max(scan.indent, 0);
  let indent = digit === undefined ? 0 : parent + Number(digit);
  let content = '';
  let lineBreak = '';
  let contentEnd = bodyStart;
  let blankBefore = false;
  let gap = skipBlockGap(scan, indent, start);
  if (indent === 0) indent = Math.max(gap.widest, scan.indent + 1, 1);
  while (scan.at < end && scan.at - scan.lineStart === indent) {
    const blank = text[scan.at] === ' ' || text[scan.at] === '\t';
    const folds = !literal && lineBreak !== '' && !blankBefore && !blank;
    if (!folds) content += lineBreak;
    else if (gap.breaks === 0) content += ' ';
    content += '\n'.repeat(gap.breaks);
    blankBefore = blank;
    const eol = text.indexOf('\n', scan.at);
    const lineStop = eol < 0 || eol >= end ? end : eol;
    const last =
      lineStop > scan.at && text[lineStop - 1] === '\r' && lineStop < end ? lineStop - 1 : lineStop;
    content += text.slice(scan.at, last);
    lineBreak = lineStop < end ? '\n' : '';
    scan.at = lineStop < end ? lineStop + 1 : end;
    if (lineBreak !== '') scan.lineStart = scan.at;
    contentEnd = scan.at;
    if (lineBreak === '') {
      gap = { breaks: 0, widest: 0, end: scan.at };
      break;
    }
    gap = skipBlockGap(scan, indent, start);
  }
  if (chomp !== '-') content += lineBreak;
  if (chomp === '+') {
    content += '\n'.repeat(gap.breaks);
    contentEnd = gap.end;
  }
  push(scan, 'scalar', start, contentEnd, content, literal ? 'literal' : 'folded', {
    bodyStart,
    indent,
    chomp: chomp === '-' || chomp === '+' ? chomp : '',
    indicator: digit !== undefined,
  });
}

/** Skips the rest of the header's line: white space, a comment, the end of line. */
function endHeader(scan: Scan, start: number): void {
  const { text, end } = scan;
  while (scan.at < end && (text[scan.at] === ' ' || text[scan.at] === '\t')) scan.at += 1;
  const eol = text.indexOf('\n', scan.at);
  const stop = eol < 0 || eol >= end ? end : eol;
  const rest = text.slice(scan.at, stop).trimEnd();
  if (rest !== '' && !rest.startsWith('#'))
    throw new Unreadable('text follows the "|" or ">" on its line', start);
  scan.at = stop < end ? stop + 1 : end;
  if (stop < end) scan.lineStart = scan.at;
}

/** Skips blank lines and the indentation of the next line. `indent` 0: not known yet. */
function skipBlockGap(
  scan: Scan,
  indent: number,
  start: number,
): { breaks: number; widest: number; end: number } {
  const { text, end } = scan;
  let breaks = 0;
  let widest = 0;
  let gapEnd = scan.at;
  for (;;) {
    while (scan.at < end && text[scan.at] === ' ' && (indent === 0 || scan.at - scan.lineStart < indent))
      scan.at += 1;
    const column = scan.at - scan.lineStart;
    widest = Math.max(widest, column);
    if (text[scan.at] === '\t' && scan.at < end && (indent === 0 || column < indent))
      throw new Unreadable('a tab indents the line; use spaces', start);
    const windows = text[scan.at] === '\r' && text[scan.at + 1] === '\n';
    if (scan.at >= end || (text[scan.at] !== '\n' && !windows)) break;
    scan.at += windows ? 2 : 1;
    scan.lineStart = scan.at;
    breaks += 1;
    gapEnd = scan.at;
  }
  return { breaks, widest, end: gapEnd };
}
