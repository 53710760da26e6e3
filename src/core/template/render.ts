/** Walks the tree over the data. Steps and output are bounded. */
import { functions } from './functions.ts';
import { type Command, type Node, type Operand, type Pipe, SyntaxTrouble } from './syntax.ts';
import {
  describeValue,
  isList,
  isTrue,
  maxText,
  printValue,
  sortedEntries,
  TemplateFailure,
  type TemplateValue,
} from './value.ts';

const maxSteps = 1_000_000;
const maxCount = 10_000;

/** Ends the walk when the output is full. */
class OutputFull extends Error {}

interface Walk {
  output: string[];
  length: number;
  steps: number;
  /** Innermost last. */
  variables: { name: string; value: TemplateValue }[];
}

export interface Output {
  readonly text: string;
  /** The text reached its bound and is not whole. */
  readonly cut: boolean;
}

/** Throws SyntaxTrouble with the place of what failed. */
export function renderTree(nodes: readonly Node[], data: TemplateValue): Output {
  const walk: Walk = { output: [], length: 0, steps: 0, variables: [{ name: '$', value: data }] };
  try {
    walkList(walk, nodes, data);
  } catch (error) {
    if (!(error instanceof OutputFull)) throw error;
    return { text: walk.output.join(''), cut: true };
  }
  return { text: walk.output.join(''), cut: false };
}

function walkList(walk: Walk, nodes: readonly Node[], dot: TemplateValue): void {
  const scope = walk.variables.length;
  for (const node of nodes) walkNode(walk, node, dot);
  walk.variables.length = scope;
}

function walkNode(walk: Walk, node: Node, dot: TemplateValue): void {
  if (node.kind === 'text') {
    write(walk, node.text);
    return;
  }
  const value = failingAt(node.pipe.at, () => evaluatePipe(walk, node.pipe, dot));
  if (node.kind === 'action') {
    if (node.pipe.variables.length === 0)
      write(
        walk,
        failingAt(node.pipe.at, () => printValue(value)),
      );
    return;
  }
  const scope = walk.variables.length;
  if (node.kind === 'range') walkRange(walk, node, value, dot);
  else if (isTrue(value)) walkList(walk, node.body, node.kind === 'with' ? value : dot);
  else walkList(walk, node.otherwise, dot);
  // The pipe itself may have declared variables, which end with the control.
  walk.variables.length = scope - (node.pipe.assigns ? 0 : node.pipe.variables.length);
}

function walkRange(
  walk: Walk,
  node: Exclude<Node, { kind: 'text' | 'action' }>,
  value: TemplateValue,
  dot: TemplateValue,
): void {
  const items = failingAt(node.pipe.at, () => itemsOf(value, node.pipe.variables.length));
  if (items.length === 0) walkList(walk, node.otherwise, dot);
  const [first, second] = node.pipe.variables;
  for (const [key, item] of items) {
    failingAt(node.pipe.at, () => step(walk));
    if (second !== undefined) setVariable(walk, second, item);
    if (first !== undefined) setVariable(walk, first, second === undefined ? item : key);
    walkList(walk, node.body, item);
  }
}

function itemsOf(value: TemplateValue, variables: number): (readonly [TemplateValue, TemplateValue])[] {
  if (typeof value === 'object') {
    if (isList(value)) return value.map((item, index) => [index, item] as const);
    if (value.kind === 'map') return sortedEntries(value);
  }
  if (typeof value !== 'number') throw new TemplateFailure(`range cannot go through ${describeValue(value)}`);
  if (variables > 1) throw new TemplateFailure('range over a number takes one variable');
  if (value > maxCount) throw new TemplateFailure(`range counts at most to ${maxCount}`);
  return Array.from({ length: Math.max(value, 0) }, (_, index) => [index, index] as const);
}

function evaluatePipe(walk: Walk, pipe: Pipe, dot: TemplateValue): TemplateValue {
  let value: TemplateValue | undefined;
  for (const command of pipe.commands) value = evaluateCommand(walk, command, dot, value);
  const result = value ?? '';
  for (const name of pipe.variables) {
    if (pipe.assigns) setVariable(walk, name, result);
    else walk.variables.push({ name, value: result });
  }
  return result;
}

function evaluateCommand(
  walk: Walk,
  { operands }: Command,
  dot: TemplateValue,
  piped: TemplateValue | undefined,
): TemplateValue {
  const [first, ...rest] = operands;
  if (first === undefined) return '';
  step(walk);
  if (first.kind === 'function') return callFunction(walk, first.name, rest, dot, piped);
  const values = rest.map((operand) => evaluateOperand(walk, operand, dot, []));
  return evaluateOperand(walk, first, dot, piped === undefined ? values : [...values, piped]);
}

function callFunction(
  walk: Walk,
  name: string,
  operands: readonly Operand[],
  dot: TemplateValue,
  piped: TemplateValue | undefined,
): TemplateValue {
  if (name === 'and' || name === 'or') {
    let value: TemplateValue = piped ?? '';
    for (const operand of operands) {
      value = evaluateOperand(walk, operand, dot, []);
      if (isTrue(value) === (name === 'or')) return value;
    }
    return piped ?? value;
  }
  const values = operands.map((operand) => evaluateOperand(walk, operand, dot, []));
  const called = functions[name];
  if (called === undefined) throw new TemplateFailure(`there is no function ${name}`);
  return called.call(piped === undefined ? values : [...values, piped]);
}

function evaluateOperand(
  walk: Walk,
  operand: Operand,
  dot: TemplateValue,
  given: readonly TemplateValue[],
): TemplateValue {
  switch (operand.kind) {
    case 'literal':
      return operand.value;
    case 'field':
      return follow(dot, operand.names, given);
    case 'variable':
      return follow(variable(walk, operand.name).value, operand.names, given);
    case 'pipe':
      return follow(evaluatePipe(walk, operand.pipe, dot), operand.names, given);
    case 'function':
      return callFunction(walk, operand.name, [], dot, undefined);
  }
}

/** Goes through fields; the arguments belong to the last one, which then has to be a method. */
function follow(
  start: TemplateValue,
  names: readonly string[],
  given: readonly TemplateValue[],
): TemplateValue {
  if (names.length === 0 && given.length > 0) throw new TemplateFailure('a value takes no arguments');
  let value = start;
  for (const [index, name] of names.entries()) {
    value = fieldOf(value, name, index === names.length - 1 ? given : []);
  }
  return value;
}

function fieldOf(value: TemplateValue, name: string, given: readonly TemplateValue[]): TemplateValue {
  if (typeof value !== 'object' || isList(value)) {
    throw new TemplateFailure(`there is no field ${name} in ${describeValue(value)}`);
  }
  if (value.kind === 'map') {
    if (given.length > 0) throw new TemplateFailure(`${name} is no method and takes no arguments`);
    const entry = value.entries.get(name);
    if (entry === undefined) throw new TemplateFailure(`the map has no key ${name}`);
    return entry;
  }
  const method = value.methods && Object.hasOwn(value.methods, name) ? value.methods[name] : undefined;
  if (method !== undefined) {
    const [argument] = given;
    if (given.length !== 1 || typeof argument !== 'string')
      throw new TemplateFailure(`${name} takes one text`);
    return method(argument);
  }
  const field = Object.hasOwn(value.fields, name) ? value.fields[name] : undefined;
  if (field === undefined) {
    const known = [...Object.keys(value.fields), ...Object.keys(value.methods ?? {})].sort().join(', ');
    throw new TemplateFailure(`there is no field ${name} here; there are ${known}`);
  }
  if (given.length > 0) throw new TemplateFailure(`${name} is no method and takes no arguments`);
  return field;
}

function variable(walk: Walk, name: string): { name: string; value: TemplateValue } {
  const found = walk.variables.findLast((entry) => entry.name === name);
  if (found === undefined) throw new TemplateFailure(`undefined variable ${name}`);
  return found;
}

function setVariable(walk: Walk, name: string, value: TemplateValue): void {
  variable(walk, name).value = value;
}

function write(walk: Walk, text: string): void {
  walk.output.push(text);
  walk.length += text.length;
  if (walk.length > maxText) throw new OutputFull();
}

function step(walk: Walk): void {
  walk.steps += 1;
  if (walk.steps > maxSteps) throw new TemplateFailure('the template takes too many steps');
}

/** Gives a failure its place in the template. */
function failingAt<Result>(at: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateFailure) throw new SyntaxTrouble(at, error.message);
    throw error;
  }
}
