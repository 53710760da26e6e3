/** Tokens of one document to its tree of placed nodes. */
import { maxDepth, quote, Unreadable } from './limits.ts';
import type { AliasNode, ItemNode, MapNode, Node, PairNode, Tree } from './nodes.ts';
import { scanTokens } from './scan.ts';
import type { Token, TokenKind } from './tokens.ts';

export type Parsed = { ok: true; tree: Tree } | { ok: false; message: string; at: number };

interface Composer {
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
  readonly anchors: Map<string, Node>;
  hasAlias: boolean;
}

interface Props {
  propsStart: number;
  end: number;
  anchor: string | undefined;
  tag: string | undefined;
}

/**
 * Parses the document in `text` between two offsets; the text around them is separator, directives and end mark.
 * A text that is not YAML, or is nested too deeply, is a message with the offset it is about.
 */
export function parseTree(text: string, from: number, to: number): Parsed {
  try {
    const separated = from > 0 && text[from - 1] !== '\n';
    const tokens = scanTokens(text, from, to, !separated);
    const composer: Composer = { tokens, next: 0, depth: 0, anchors: new Map(), hasAlias: false };
    const root = peek(composer).kind === 'end' ? absent(from) : composeNode(composer, true, false);
    const rest = peek(composer);
    if (rest.kind !== 'end')
      throw new Unreadable('the document ends here, but more text follows', rest.start);
    return { ok: true, tree: { text, bodyStart: from, root, hasAlias: composer.hasAlias } };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, message: error.message, at: error.at };
    throw error;
  }
}

const endToken: Token = { kind: 'end', start: 0, end: 0, text: '', style: 'plain', block: undefined };

function peek(composer: Composer): Token {
  return composer.tokens[composer.next] ?? endToken;
}

function take(composer: Composer): Token {
  const token = peek(composer);
  composer.next += 1;
  return token;
}

function isNext(composer: Composer, ...kinds: TokenKind[]): boolean {
  return kinds.includes(peek(composer).kind);
}

function absent(at: number): Node {
  return { kind: 'absent', start: at, end: at, propsStart: at, anchor: undefined, tag: undefined };
}

/** One value. `block`: block collections may begin; `flush`: a list may begin at the column of its key. */
function composeNode(composer: Composer, block: boolean, flush: boolean): Node {
  if (isNext(composer, 'alias')) return composeAlias(composer);
  const props = takeProps(composer);
  const token = peek(composer);
  if (token.kind === 'scalar') {
    take(composer);
    const { start, end, style, text } = token;
    return named(composer, {
      kind: 'scalar',
      start,
      end,
      style,
      text,
      block: token.block,
      ...spread(props, start),
    });
  }
  composer.depth += 1;
  if (composer.depth > maxDepth)
    throw new Unreadable(`values are nested more than ${maxDepth} deep`, token.start);
  const node = composeCollection(composer, token, props, block, flush);
  composer.depth -= 1;
  if (node !== undefined) return node;
  if (props === undefined) throw new Unreadable('a value is expected here', token.start);
  return named(composer, { kind: 'absent', start: props.end, end: props.end, ...spread(props, props.end) });
}

function composeCollection(
  composer: Composer,
  token: Token,
  props: Props | undefined,
  block: boolean,
  flush: boolean,
): Node | undefined {
  if (token.kind === '[') return composeFlowList(composer, props);
  if (token.kind === '{') return composeFlowMap(composer, props);
  if (block && token.kind === 'list-start') return composeList(composer, props, false);
  if (block && token.kind === 'map-start') return composeMap(composer, props);
  if (flush && token.kind === 'dash') return composeList(composer, props, true);
  return undefined;
}

function spread(props: Props | undefined, start: number): Pick<Node, 'propsStart' | 'anchor' | 'tag'> {
  return { propsStart: props?.propsStart ?? start, anchor: props?.anchor, tag: props?.tag };
}

function named<T extends Node>(composer: Composer, node: T): T {
  if (node.anchor !== undefined) composer.anchors.set(node.anchor, node);
  return node;
}

function composeAlias(composer: Composer): AliasNode {
  const { start, end, text } = take(composer);
  const target = composer.anchors.get(text);
  if (target === undefined) throw new Unreadable(`the alias ${quote(text)} has no anchor before it`, start);
  composer.hasAlias = true;
  return { kind: 'alias', start, end, propsStart: start, anchor: undefined, tag: undefined, target };
}

function takeProps(composer: Composer): Props | undefined {
  let props: Props | undefined;
  while (isNext(composer, 'anchor', 'tag')) {
    const token = take(composer);
    props ??= { propsStart: token.start, end: token.end, anchor: undefined, tag: undefined };
    if ((token.kind === 'anchor' ? props.anchor : props.tag) !== undefined)
      throw new Unreadable(`the value has two ${token.kind}s`, token.start);
    if (token.kind === 'anchor') props.anchor = token.text;
    else props.tag = token.text;
    props.end = token.end;
  }
  return props;
}

function composeList(composer: Composer, props: Props | undefined, flush: boolean): Node {
  if (!flush) take(composer);
  const items: ItemNode[] = [];
  while (isNext(composer, 'dash')) {
    const dash = take(composer);
    const empty = isNext(composer, 'dash', 'block-end') || (flush && isNext(composer, 'key', 'colon'));
    const value = empty ? absent(dash.end) : composeNode(composer, true, false);
    items.push({ start: dash.start, value, end: Math.max(value.end, dash.end) });
  }
  if (!flush) expect(composer, 'block-end', 'a "-" is expected here');
  const start = items[0]?.start ?? 0;
  const end = items.at(-1)?.end ?? start;
  return named(composer, { kind: 'list', flow: false, items, start, end, ...spread(props, start) });
}

function composeMap(composer: Composer, props: Props | undefined): Node {
  take(composer);
  const pairs: PairNode[] = [];
  while (isNext(composer, 'key', 'colon')) pairs.push(composePair(composer));
  expect(composer, 'block-end', 'a key is expected here');
  const start = pairs[0]?.start ?? 0;
  const end = pairs.at(-1)?.end ?? start;
  return named(composer, { kind: 'map', flow: false, pairs, start, end, ...spread(props, start) });
}

function composePair(composer: Composer): PairNode {
  const mark = peek(composer);
  let key = absent(mark.start);
  if (mark.kind === 'key') {
    take(composer);
    if (!isNext(composer, 'key', 'colon', 'block-end')) key = composeNode(composer, true, true);
  }
  const start = mark.end > mark.start ? mark.start : Math.min(mark.start, key.propsStart);
  if (!isNext(composer, 'colon')) return { key, start, colon: -1, value: absent(key.end), end: key.end };
  const colon = take(composer).end;
  const empty = isNext(composer, 'key', 'colon', 'block-end');
  const value = empty ? absent(colon) : composeNode(composer, true, true);
  return { key, start, colon, value, end: Math.max(value.end, colon) };
}

function composeFlowList(composer: Composer, props: Props | undefined): Node {
  const open = take(composer);
  const items: ItemNode[] = [];
  while (!isNext(composer, ']')) {
    const value = isNext(composer, 'key')
      ? composeFlowPairMap(composer)
      : composeNode(composer, false, false);
    items.push({ start: value.propsStart, value, end: value.end });
    if (!isNext(composer, ']')) expect(composer, ',', 'a "," or "]" is expected here');
  }
  const end = take(composer).end;
  return named(composer, {
    kind: 'list',
    flow: true,
    items,
    start: open.start,
    end,
    ...spread(props, open.start),
  });
}

/** `[a: 1]`: a list item that is a map of one pair without braces. */
function composeFlowPairMap(composer: Composer): MapNode {
  const pair = composeFlowPair(composer, ']');
  const { start, end } = pair;
  return {
    kind: 'map',
    flow: true,
    pairs: [pair],
    start,
    end,
    propsStart: start,
    anchor: undefined,
    tag: undefined,
  };
}

function composeFlowMap(composer: Composer, props: Props | undefined): Node {
  const open = take(composer);
  const pairs: PairNode[] = [];
  while (!isNext(composer, '}')) {
    pairs.push(composeFlowPair(composer, '}'));
    if (!isNext(composer, '}')) expect(composer, ',', 'a "," or "}" is expected here');
  }
  const end = take(composer).end;
  return named(composer, {
    kind: 'map',
    flow: true,
    pairs,
    start: open.start,
    end,
    ...spread(props, open.start),
  });
}

function composeFlowPair(composer: Composer, close: '}' | ']'): PairNode {
  const mark = peek(composer);
  if (mark.kind !== 'key') {
    const key = composeNode(composer, false, false);
    return { key, start: key.propsStart, colon: -1, value: absent(key.end), end: key.end };
  }
  take(composer);
  const key = isNext(composer, 'colon', ',', close) ? absent(mark.end) : composeNode(composer, false, false);
  const start = mark.end > mark.start ? mark.start : Math.min(mark.start, key.propsStart);
  if (!isNext(composer, 'colon')) return { key, start, colon: -1, value: absent(key.end), end: key.end };
  const colon = take(composer).end;
  const value = isNext(composer, ',', close) ? absent(colon) : composeNode(composer, false, false);
  return { key, start, colon, value, end: Math.max(value.end, colon) };
}

function expect(composer: Composer, kind: TokenKind, message: string): void {
  const token = peek(composer);
  if (token.kind !== kind) throw new Unreadable(message, token.start);
  composer.next += 1;
}
