/**
 * Text of one document to tokens. Follows the rules of the reader Kubernetes tools use (libyaml, by way of Go), because a
 * file must mean to us what it means to them; `parse.ts` makes the tree.
 */
import { maxTokens, Unreadable } from './limits.ts';
import { lineStart } from './lines.ts';
import { scanBlockScalar, scanPlain, scanQuoted } from './scan-scalar.ts';
import { isBlankOrEnd, type PossibleKey, push, type Scan, type Token, type TokenKind } from './tokens.ts';

/** A key's `:` must stand on its line, no further than this. */
const maxKeyLength = 1024;

/**
 * Scans `text` from `from` to `to`. `keyAllowed` is false when the content begins on the line of a `---`.
 * Throws Unreadable.
 */
export function scanTokens(text: string, from: number, to: number, keyAllowed: boolean): Token[] {
  const scan: Scan = {
    text,
    end: to,
    at: from,
    lineStart: lineStart(text, from),
    flow: 0,
    indent: -1,
    outerIndents: [],
    tokens: [],
    possibleKeys: [undefined],
    keyAllowed,
  };
  while (scanToken(scan)) {
    if (scan.tokens.length > maxTokens) throw new Unreadable('the document has too many values', scan.at);
  }
  return scan.tokens;
}

function scanToken(scan: Scan): boolean {
  skipToToken(scan);
  closeBlocks(scan, scan.at - scan.lineStart);
  if (scan.at >= scan.end) {
    closeBlocks(scan, -1);
    dropPossibleKey(scan);
    push(scan, 'end', scan.at, scan.at);
    return false;
  }
  const char = scan.text[scan.at] ?? '';
  const blankAfter = isBlankOrEnd(scan, scan.at + 1);
  switch (char) {
    case '[':
    case '{':
      offerKey(scan);
      scan.possibleKeys.push(undefined);
      scan.flow += 1;
      scan.keyAllowed = true;
      pushMark(scan, char);
      return true;
    case ']':
    case '}':
      dropPossibleKey(scan);
      if (scan.flow > 0) {
        scan.flow -= 1;
        scan.possibleKeys.pop();
      }
      scan.keyAllowed = false;
      pushMark(scan, char);
      return true;
    case ',':
      dropPossibleKey(scan);
      scan.keyAllowed = true;
      pushMark(scan, char);
      return true;
    case '-':
      if (!blankAfter) return scanPlainToken(scan);
      openBlock(scan, 'list-start', 'a list item cannot begin here');
      pushMark(scan, 'dash');
      scan.keyAllowed = true;
      return true;
    case '?':
      if (scan.flow === 0 && !blankAfter) return scanPlainToken(scan);
      openBlock(scan, 'map-start', 'a key cannot begin here');
      pushMark(scan, 'key');
      scan.keyAllowed = scan.flow === 0;
      return true;
    case ':':
      if (scan.flow === 0 && !blankAfter) return scanPlainToken(scan);
      scanColon(scan);
      return true;
    case '*':
    case '&':
      offerKey(scan);
      scan.keyAllowed = false;
      scanName(scan, char === '*' ? 'alias' : 'anchor');
      return true;
    case '!':
      offerKey(scan);
      scan.keyAllowed = false;
      scanTag(scan);
      return true;
    case '|':
    case '>':
      if (scan.flow > 0) throw new Unreadable(`"${char}" cannot begin a value here`, scan.at);
      dropPossibleKey(scan);
      scan.keyAllowed = true;
      scanBlockScalar(scan);
      return true;
    case '"':
    case "'":
      offerKey(scan);
      scan.keyAllowed = false;
      scanQuoted(scan);
      return true;
    case '\t':
      throw new Unreadable('a tab indents the line; use spaces', scan.at);
    case '%':
    case '@':
    case '`':
      throw new Unreadable(`"${char}" cannot begin a value; quote it`, scan.at);
    default:
      return scanPlainToken(scan);
  }
}

function scanPlainToken(scan: Scan): true {
  offerKey(scan);
  scan.keyAllowed = false;
  scanPlain(scan);
  return true;
}

/** Skips white space, ends of line and comments. A tab may not stand where a key could begin. */
function skipToToken(scan: Scan): void {
  const { text, end } = scan;
  while (scan.at < end) {
    const char = text[scan.at];
    if (char === ' ') scan.at += 1;
    else if (char === '\t' && (scan.flow > 0 || !scan.keyAllowed)) scan.at += 1;
    else if (char === '#') {
      const eol = text.indexOf('\n', scan.at);
      scan.at = eol < 0 || eol > end ? end : eol;
    } else if (char === '\n' || (char === '\r' && text[scan.at + 1] === '\n')) {
      scan.at += char === '\n' ? 1 : 2;
      scan.lineStart = scan.at;
      if (scan.flow === 0) scan.keyAllowed = true;
    } else return;
  }
}

function scanColon(scan: Scan): void {
  const key = scan.possibleKeys.at(-1);
  if (key !== undefined && isStillKey(scan, key)) {
    insert(scan, key.token, 'key', key.at);
    if (scan.flow === 0 && scan.indent < key.at - key.lineStart) {
      enterBlock(scan, key.at - key.lineStart);
      insert(scan, key.token, 'map-start', key.at);
    }
    scan.possibleKeys[scan.possibleKeys.length - 1] = undefined;
    scan.keyAllowed = false;
  } else {
    if (scan.flow === 0) {
      if (!scan.keyAllowed) throw new Unreadable('":" cannot stand here; quote the text', scan.at);
      openBlock(scan, 'map-start', '');
    }
    scan.keyAllowed = scan.flow === 0;
  }
  pushMark(scan, 'colon');
}

function isStillKey(scan: Scan, key: PossibleKey): boolean {
  if (key.lineStart === scan.lineStart && scan.at - key.at <= maxKeyLength) return true;
  if (key.required) throw new Unreadable('a ":" is missing after the key', key.at);
  return false;
}

/** Remembers that a key may begin at this place. */
function offerKey(scan: Scan): void {
  if (!scan.keyAllowed) return;
  dropPossibleKey(scan);
  const required = scan.flow === 0 && scan.indent === scan.at - scan.lineStart;
  const key = { token: scan.tokens.length, at: scan.at, lineStart: scan.lineStart, required };
  scan.possibleKeys[scan.possibleKeys.length - 1] = key;
}

function dropPossibleKey(scan: Scan): void {
  const last = scan.possibleKeys.length - 1;
  const key = scan.possibleKeys[last];
  if (key?.required) throw new Unreadable('a ":" is missing after the key', key.at);
  scan.possibleKeys[last] = undefined;
}

/** Opens the block collection that a `-`, `?` or bare `:` at this column begins, when it is a new one. */
function openBlock(scan: Scan, kind: 'map-start' | 'list-start', problem: string): void {
  if (scan.flow === 0) {
    if (!scan.keyAllowed) throw new Unreadable(problem, scan.at);
    const column = scan.at - scan.lineStart;
    if (scan.indent < column) {
      enterBlock(scan, column);
      push(scan, kind, scan.at, scan.at);
    }
  }
  dropPossibleKey(scan);
}

function enterBlock(scan: Scan, column: number): void {
  scan.outerIndents.push(scan.indent);
  scan.indent = column;
}

function closeBlocks(scan: Scan, column: number): void {
  if (scan.flow > 0) return;
  while (scan.indent > column) {
    push(scan, 'block-end', scan.at, scan.at);
    scan.indent = scan.outerIndents.pop() ?? -1;
  }
}

function scanName(scan: Scan, kind: 'alias' | 'anchor'): void {
  const start = scan.at;
  const at = Math.min(endOf(/[\w-]*/y, scan.text, start + 1), scan.end);
  if (at === start + 1 || !(isBlankOrEnd(scan, at) || '?:,]}%@`'.includes(scan.text[at] ?? '')))
    throw new Unreadable(`the name of the ${kind} is not made of letters, digits, "_" and "-"`, start);
  scan.at = at;
  push(scan, kind, start, at, scan.text.slice(start + 1, at));
}

/** Where a sticky pattern that matches at `at` ends. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return Math.max(pattern.lastIndex, at);
}

const coreTag = 'tag:yaml.org,2002:';

function scanTag(scan: Scan): void {
  const start = scan.at;
  let at = start + 1;
  if (scan.text[at] === '<') {
    while (at < scan.end && scan.text[at] !== '>' && !isBlankOrEnd(scan, at)) at += 1;
    if (scan.text[at] !== '>') throw new Unreadable('the tag has no ">"', start);
    at += 1;
  } else {
    at = Math.min(endOf(scan.flow > 0 ? /[^\s,[\]{}]*/y : /\S*/y, scan.text, at), scan.end);
  }
  if (!isBlankOrEnd(scan, at) && !(scan.flow > 0 && ',]}'.includes(scan.text[at] ?? '')))
    throw new Unreadable('white space is missing after the tag', start);
  const written = scan.text.slice(start, at);
  const long = `!<${coreTag}`;
  scan.at = at;
  push(scan, 'tag', start, at, written.startsWith(long) ? `!!${written.slice(long.length, -1)}` : written);
}

function pushMark(scan: Scan, kind: TokenKind): void {
  push(scan, kind, scan.at, scan.at + 1);
  scan.at += 1;
}

function insert(scan: Scan, index: number, kind: TokenKind, at: number): void {
  scan.tokens.splice(index, 0, { kind, start: at, end: at, text: '', style: 'plain', block: undefined });
}
