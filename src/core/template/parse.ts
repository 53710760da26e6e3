/** Pieces -> tree. Everything outside the supported part of the language stops here, with its place. */
import { countVerbs, parseFormat } from './format.ts';
import { functions, leftOut } from './functions.ts';
import { type Piece, split, type Token } from './lex.ts';
import { type Command, type Node, type Operand, type Pipe, SyntaxTrouble } from './syntax.ts';
import { TemplateFailure } from './value.ts';

const maxDepth = 32;
const notSupported = new Set(['block', 'break', 'continue', 'define', 'template']);
const keywords = new Set(['else', 'end', 'if', 'range', 'with', 'nil', 'true', 'false', ...notSupported]);

/** Throws SyntaxTrouble. */
export function parseTree(text: string): Node[] {
  const state: State = { pieces: split(text), next: 0, variables: ['$'], depth: 0, end: text.length };
  const { nodes, stop } = parseList(state);
  if (stop !== undefined) throw new SyntaxTrouble(stop.at, `${stop.word} without if, with or range`);
  return nodes;
}

interface State {
  readonly pieces: readonly Piece[];
  next: number;
  /** Variables in scope; a scope ends by cutting the list. */
  variables: string[];
  depth: number;
  readonly end: number;
}

/** `{{else}}` or `{{end}}`, which end a list. */
interface Stop {
  readonly word: 'else' | 'end';
  readonly at: number;
  /** What follows the word. */
  readonly rest: readonly Token[];
}

function parseList(state: State): { nodes: Node[]; stop?: Stop } {
  const nodes: Node[] = [];
  for (;;) {
    const piece = state.pieces[state.next];
    if (piece === undefined) return { nodes };
    state.next += 1;
    if (piece.kind === 'text') {
      nodes.push(piece);
      continue;
    }
    const [first, ...rest] = piece.tokens;
    if (first === undefined) throw new SyntaxTrouble(piece.at, 'the action is empty');
    if (first.kind === 'word' && (first.text === 'else' || first.text === 'end')) {
      return { nodes, stop: { word: first.text, at: first.at, rest } };
    }
    if (first.kind === 'word' && (first.text === 'if' || first.text === 'with' || first.text === 'range')) {
      nodes.push(parseControl(state, first.text, first.at, rest));
      continue;
    }
    nodes.push({ kind: 'action', pipe: parseWholePipe(state, piece.tokens, piece.at, 1) });
  }
}

function parseControl(
  state: State,
  kind: 'if' | 'with' | 'range',
  at: number,
  tokens: readonly Token[],
): Node {
  enter(state, at);
  const scope = state.variables.length;
  const pipe = parseWholePipe(state, tokens, at, kind === 'range' ? 2 : 1);
  const body = parseScope(state);
  let otherwise: Node[] = [];
  let { stop } = body;
  if (stop?.word === 'else') {
    const [word, ...rest] = stop.rest;
    if (word === undefined) {
      const list = parseScope(state);
      otherwise = list.nodes;
      stop = list.stop;
      if (stop?.word === 'else') throw new SyntaxTrouble(stop.at, 'a second else');
    } else {
      if (kind === 'range' || word.kind !== 'word' || word.text !== kind) {
        throw new SyntaxTrouble(word.at, `unexpected ${word.text} after else`);
      }
      // else if shares the end of the first if.
      otherwise = [parseControl(state, kind, word.at, rest)];
      state.variables.length = scope;
      state.depth -= 1;
      return { kind, pipe, body: body.nodes, otherwise };
    }
  }
  if (stop === undefined) throw new SyntaxTrouble(at, `${kind} has no end`);
  const [extra] = stop.rest;
  if (extra !== undefined) throw new SyntaxTrouble(extra.at, `unexpected ${extra.text} after end`);
  state.variables.length = scope;
  state.depth -= 1;
  return { kind, pipe, body: body.nodes, otherwise };
}

function parseScope(state: State): { nodes: Node[]; stop?: Stop } {
  const scope = state.variables.length;
  const list = parseList(state);
  state.variables.length = scope;
  return list;
}

function enter(state: State, at: number): void {
  state.depth += 1;
  if (state.depth > maxDepth) throw new SyntaxTrouble(at, `nested deeper than ${maxDepth}`);
}

function parseWholePipe(state: State, tokens: readonly Token[], at: number, mostVariables: number): Pipe {
  const cursor: Cursor = { tokens, next: 0, at };
  const head = parseVariables(state, cursor, mostVariables);
  const pipe = parseCommands(state, cursor, false);
  if (!head.assigns) state.variables.push(...head.variables);
  return { ...pipe, ...head };
}

interface Cursor {
  readonly tokens: readonly Token[];
  next: number;
  /** Place for messages when the tokens end. */
  readonly at: number;
}

function parseVariables(
  state: State,
  cursor: Cursor,
  most: number,
): { variables: string[]; assigns: boolean } {
  const [first, second, third, fourth] = cursor.tokens;
  if (first?.kind !== 'variable') return { variables: [], assigns: false };
  if (isMark(second, ':=') || isMark(second, '=')) {
    cursor.next = 2;
    if (second?.text === '=') {
      if (most > 1) throw new SyntaxTrouble(second.at, 'range takes new variables only (:=)');
      known(state, first);
    }
    return { variables: [declarable(first)], assigns: second?.text === '=' };
  }
  if (!isMark(second, ',')) return { variables: [], assigns: false };
  if (most < 2) throw new SyntaxTrouble(first.at, 'only range takes two variables');
  if (third?.kind !== 'variable' || !isMark(fourth, ':=')) {
    throw new SyntaxTrouble(first.at, 'range takes its variables as $index, $value := ...');
  }
  cursor.next = 4;
  return { variables: [declarable(first), declarable(third)], assigns: false };
}

function declarable(token: Token): string {
  if (token.text === '$') throw new SyntaxTrouble(token.at, '$ is the data itself and cannot be set');
  return token.text;
}

function known(state: State, token: Token): void {
  if (!state.variables.includes(token.text)) {
    throw new SyntaxTrouble(token.at, `undefined variable ${token.text}`);
  }
}

/** Commands up to the end of the tokens, or up to the closing parenthesis. */
function parseCommands(state: State, cursor: Cursor, inner: boolean): Pipe {
  const commands: Command[] = [];
  let operands: Operand[] = [];
  let at = cursor.tokens[cursor.next]?.at ?? cursor.at;
  const start = at;
  for (;;) {
    const token = cursor.tokens[cursor.next];
    const closes = token === undefined ? !inner : inner && isMark(token, ')');
    if (closes || isMark(token, '|')) {
      commands.push(finished({ at, operands }, commands.length));
      if (closes) {
        cursor.next += inner ? 1 : 0;
        return { at: start, variables: [], assigns: false, commands };
      }
      cursor.next += 1;
      operands = [];
      at = cursor.tokens[cursor.next]?.at ?? at;
      continue;
    }
    if (token === undefined) throw new SyntaxTrouble(cursor.at, 'a parenthesis is not closed');
    if (operands.length > 0 && !token.spaced) {
      throw new SyntaxTrouble(token.at, `unexpected ${token.text}: operands are separated by spaces`);
    }
    operands.push(parseOperand(state, cursor, token));
  }
}

function parseOperand(state: State, cursor: Cursor, token: Token): Operand {
  cursor.next += 1;
  switch (token.kind) {
    case 'string':
      return literal(cursor, token.text);
    case 'number':
      return literal(cursor, readNumber(token));
    case 'dot':
      return { kind: 'field', names: [] };
    case 'field':
      return { kind: 'field', names: [token.text, ...fieldsAfter(cursor)] };
    case 'variable':
      known(state, token);
      return { kind: 'variable', name: token.text, names: fieldsAfter(cursor) };
    case 'word':
      return parseWord(cursor, token);
    case 'mark': {
      if (token.text !== '(') throw new SyntaxTrouble(token.at, `unexpected ${token.text}`);
      enter(state, token.at);
      const pipe = parseCommands(state, cursor, true);
      state.depth -= 1;
      return { kind: 'pipe', pipe, names: fieldsAfter(cursor) };
    }
  }
}

function parseWord(cursor: Cursor, token: Token): Operand {
  const { text, at } = token;
  if (text === 'true' || text === 'false') return literal(cursor, text === 'true');
  if (notSupported.has(text) || text === 'nil') throw new SyntaxTrouble(at, `${text} is not supported`);
  if (keywords.has(text)) throw new SyntaxTrouble(at, `unexpected ${text}`);
  if (leftOut.has(text)) throw new SyntaxTrouble(at, `the function ${text} is not supported`);
  if (text !== 'and' && text !== 'or' && !Object.hasOwn(functions, text)) {
    throw new SyntaxTrouble(at, `there is no function ${text}`);
  }
  return { kind: 'function', name: text };
}

function literal(cursor: Cursor, value: string | number | boolean): Operand {
  const [field] = fieldsAfter(cursor);
  if (field !== undefined) throw new SyntaxTrouble(cursor.at, `a constant has no field ${field}`);
  return { kind: 'literal', value };
}

function fieldsAfter(cursor: Cursor): string[] {
  const names: string[] = [];
  for (;;) {
    const token = cursor.tokens[cursor.next];
    if (token?.kind !== 'field' || token.spaced) return names;
    names.push(token.text);
    cursor.next += 1;
  }
}

function readNumber({ text, at }: Token): number {
  const value = Number(text);
  if (!/^[+-]?(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(value)) {
    throw new SyntaxTrouble(at, `${text} is not supported; numbers are decimal integers`);
  }
  return value;
}

/** Checks a command that is complete: what may be called, and with how many arguments. */
function finished(command: Command, stage: number): Command {
  const [first, ...rest] = command.operands;
  if (first === undefined) throw new SyntaxTrouble(command.at, 'a command is missing');
  const loose = rest.find((operand) => operand.kind === 'function');
  if (loose?.kind === 'function') {
    throw new SyntaxTrouble(command.at, `the function ${loose.name} as an argument needs parentheses`);
  }
  const constant = first.kind === 'literal' || (first.kind === 'field' && first.names.length === 0);
  if (constant && stage > 0) throw new SyntaxTrouble(command.at, 'a value cannot take the result of a pipe');
  if (first.kind !== 'function') {
    const callable = first.kind !== 'literal' && first.names.length > 0;
    if (rest.length > 0 && !callable) throw new SyntaxTrouble(command.at, 'a value takes no arguments');
    return command;
  }
  const given = rest.length + (stage > 0 ? 1 : 0);
  const { least, most } = functions[first.name] ?? { least: 1, most: Number.POSITIVE_INFINITY };
  if (given < least || given > most) {
    throw new SyntaxTrouble(
      command.at,
      `${first.name} takes ${least === most ? least : `at least ${least}`} arguments and gets ${given}`,
    );
  }
  if (first.name === 'printf') checkFormat(command, rest[0], given - 1);
  return command;
}

function checkFormat(command: Command, format: Operand | undefined, given: number): void {
  if (format?.kind !== 'literal' || typeof format.value !== 'string') return;
  try {
    const wanted = countVerbs(parseFormat(format.value));
    if (wanted !== given) {
      throw new TemplateFailure(`printf: the format takes ${wanted} values and gets ${given}`);
    }
  } catch (error) {
    if (error instanceof TemplateFailure) throw new SyntaxTrouble(command.at, error.message);
    throw error;
  }
}

function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}
