/** Template text -> pieces of plain text and actions, and the tokens inside an action. */
import { SyntaxTrouble } from './syntax.ts';

export interface Token {
  readonly kind: 'field' | 'dot' | 'variable' | 'word' | 'string' | 'number' | 'mark';
  /** Name without the dot for a field, value of a string, else the text itself. */
  readonly text: string;
  readonly at: number;
  /** Whether white space stands before it: `.a .b` is two operands, `.a.b` one. */
  readonly spaced: boolean;
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly at: number; readonly tokens: readonly Token[] };

const space = /[ \t\r\n]/;
const leadingSpace = /^[ \t\r\n]+/;
const trailingSpace = /[ \t\r\n]+$/;
const name = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const number = /[+-]?[0-9][0-9A-Za-z_.]*/y;
const comment = /\/\*[\s\S]*?\*\//y;

/** Pieces in order, with the trim markers applied and comments left out. */
export function split(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trimNext = false;
  for (;;) {
    const open = text.indexOf('{{', at);
    let plain = text.slice(at, open < 0 ? undefined : open);
    if (trimNext) plain = plain.replace(leadingSpace, '');
    if (open < 0) {
      if (plain !== '') pieces.push({ kind: 'text', text: plain });
      return pieces;
    }
    const trims = text[open + 2] === '-' && space.test(text[open + 3] ?? '');
    if (trims) plain = plain.replace(trailingSpace, '');
    if (plain !== '') pieces.push({ kind: 'text', text: plain });
    const action = readAction(text, open, open + (trims ? 3 : 2));
    if (action.tokens !== undefined) pieces.push({ kind: 'action', at: open, tokens: action.tokens });
    at = action.end;
    trimNext = action.trimsNext;
  }
}

interface Action {
  /** Absent for a comment. */
  readonly tokens?: readonly Token[];
  readonly end: number;
  readonly trimsNext: boolean;
}

function readAction(text: string, open: number, start: number): Action {
  // After a trim marker exactly one space may stand before a comment.
  const commentStart = text[start - 1] === '-' ? start + 1 : start;
  const commentText = match(comment, text, commentStart);
  if (commentText !== undefined) {
    const close = closing(text, commentStart + commentText.length);
    if (close === undefined) throw new SyntaxTrouble(open, 'a comment must end right before }}');
    return close;
  }
  if (text.startsWith('/*', commentStart)) throw new SyntaxTrouble(open, 'the comment is not closed');
  const tokens: Token[] = [];
  let at = start;
  for (;;) {
    const close = closing(text, at);
    if (close !== undefined) return { ...close, tokens };
    const next = skipSpace(text, at);
    if (next > at) {
      at = next;
      continue;
    }
    if (at >= text.length) throw new SyntaxTrouble(open, 'the action is not closed with }}');
    const read = readToken(text, at, at > start && space.test(text[at - 1] ?? ''));
    tokens.push(read.token);
    at = read.end;
  }
}

/** The end of an action at this place, with or without a trim marker. */
function closing(text: string, at: number): { end: number; trimsNext: boolean } | undefined {
  if (text.startsWith('}}', at)) return { end: at + 2, trimsNext: false };
  const marker = skipSpace(text, at);
  if (marker > at && text.startsWith('-}}', marker)) return { end: marker + 3, trimsNext: true };
  return undefined;
}

function readToken(text: string, at: number, spaced: boolean): { token: Token; end: number } {
  const first = text[at] ?? '';
  if (first === '"') return readQuoted(text, at, spaced);
  if (first === '`') {
    const end = text.indexOf('`', at + 1);
    if (end < 0) throw new SyntaxTrouble(at, 'the raw text is not closed');
    const value = text.slice(at + 1, end).replaceAll('\r', '');
    return { token: { kind: 'string', text: value, at, spaced }, end: end + 1 };
  }
  if (first === "'")
    throw new SyntaxTrouble(at, "character constants ('a') are not supported; use a text in double quotes");
  const word = match(name, text, at);
  if (word !== undefined) return { token: { kind: 'word', text: word, at, spaced }, end: at + word.length };
  if (first === '.') {
    const field = match(name, text, at + 1);
    if (field === undefined) return { token: { kind: 'dot', text: '.', at, spaced }, end: at + 1 };
    return { token: { kind: 'field', text: field, at, spaced }, end: at + 1 + field.length };
  }
  if (first === '$') {
    const variable = `$${match(name, text, at + 1) ?? ''}`;
    return { token: { kind: 'variable', text: variable, at, spaced }, end: at + variable.length };
  }
  const digits = match(number, text, at);
  if (digits !== undefined)
    return { token: { kind: 'number', text: digits, at, spaced }, end: at + digits.length };
  if (text.startsWith(':=', at)) return { token: { kind: 'mark', text: ':=', at, spaced }, end: at + 2 };
  if ('|(),='.includes(first)) return { token: { kind: 'mark', text: first, at, spaced }, end: at + 1 };
  throw new SyntaxTrouble(at, `unexpected character ${JSON.stringify(first)}`);
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};
const codeEscape = /x([0-7][0-9A-Fa-f])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})/y;

function readQuoted(text: string, start: number, spaced: boolean): { token: Token; end: number } {
  let value = '';
  let at = start + 1;
  for (;;) {
    const next = text[at];
    if (next === undefined || next === '\n') throw new SyntaxTrouble(start, 'the text is not closed');
    if (next === '"') return { token: { kind: 'string', text: value, at: start, spaced }, end: at + 1 };
    if (next !== '\\') {
      value += next;
      at += 1;
      continue;
    }
    const simple = escapes[text[at + 1] ?? ''];
    const code = simple === undefined ? match(codeEscape, text, at + 1) : undefined;
    if (simple === undefined && code === undefined)
      throw new SyntaxTrouble(at, 'this escape is not supported');
    value += simple ?? fromCode(code ?? '', at);
    at += 1 + (code?.length ?? 1);
  }
}

function fromCode(digits: string, at: number): string {
  const code = Number.parseInt(digits.slice(1), 16);
  const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!isCharacter) throw new SyntaxTrouble(at, 'this escape is no character');
  return String.fromCodePoint(code);
}

function skipSpace(text: string, at: number): number {
  let end = at;
  while (space.test(text[end] ?? '')) end += 1;
  return end;
}

function match(sticky: RegExp, text: string, at: number): string | undefined {
  const anchored = new RegExp(sticky.source, sticky.flags);
  anchored.lastIndex = at;
  return anchored.exec(text)?.[0];
}
