/** What the scanner makes, and where it stands while it does. */
import type { BlockScalar, ScalarStyle } from './nodes.ts';

export type TokenKind =
  | 'map-start'
  | 'list-start'
  | 'block-end'
  | 'key'
  | 'colon'
  | 'dash'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | 'scalar'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly style: ScalarStyle;
  readonly block: BlockScalar | undefined;
}

/** Something that becomes a key should a `:` follow on its line. */
export interface PossibleKey {
  token: number;
  at: number;
  lineStart: number;
  required: boolean;
}

export interface Scan {
  readonly text: string;
  readonly end: number;
  at: number;
  lineStart: number;
  /** Open brackets. */
  flow: number;
  /** Column of the block collection we are in, -1 at the root. */
  indent: number;
  readonly outerIndents: number[];
  readonly tokens: Token[];
  /** One place per open bracket and one for the block context. */
  readonly possibleKeys: (PossibleKey | undefined)[];
  keyAllowed: boolean;
}

/** Whether a separator of words stands at `at`: white space, an end of line, or the end of the document. */
export function isBlankOrEnd(scan: Scan, at: number): boolean {
  if (at >= scan.end) return true;
  const char = scan.text[at];
  return char === ' ' || char === '\n' || char === '\t' || (char === '\r' && scan.text[at + 1] === '\n');
}

export function push(
  scan: Scan,
  kind: TokenKind,
  start: number,
  end: number,
  text = '',
  style: ScalarStyle = 'plain',
  block?: BlockScalar,
): void {
  scan.tokens.push({ kind, start, end, text, style, block });
}
