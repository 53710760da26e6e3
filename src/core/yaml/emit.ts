/** Writes fresh values: block style as lines, flow style as one line. */
import { isObject, type Json, type JsonObject } from '../json.ts';
import { isPrimitive, keyScalar, literalText, scalarText } from './scalar.ts';

/** How the file around a fresh value is written. */
export interface Style {
  eol: string;
  /** Columns a nested map is indented by. */
  step: number;
  /** Columns a list's dashes are indented below their key; 0 is flush with it. */
  listOffset: number;
  /** Columns from a dash to the item. */
  gap: number;
  /** Whether strings of several lines may be written as literal blocks. */
  literals: boolean;
}

export const houseStyle: Style = { eol: '\n', step: 2, listOffset: 2, gap: 2, literals: true };

export function isEmptyCollection(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The pairs of a map as lines, keys in the given order. */
export function mapLines(
  value: JsonObject,
  indent: number,
  style: Style,
  order: (object: JsonObject) => string[] = sortedKeys,
): string[] {
  return order(value).flatMap((key) => pairLines(key, value[key] ?? null, indent, style));
}

export function sortedKeys(value: JsonObject): string[] {
  return Object.keys(value).sort();
}

/** One pair as lines. */
export function pairLines(key: string, value: Json, indent: number, style: Style): string[] {
  const head = `${' '.repeat(indent)}${keyScalar(key, false, false)}:`;
  if (isPrimitive(value) || isEmptyCollection(value)) return leafLines(head, value, indent, style);
  return [head, ...collectionLines(value, indent, style)];
}

/** The lines of a collection that stands below a key at column `indent`. */
export function collectionLines(value: Json, indent: number, style: Style): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, indent + style.listOffset, style));
  return isObject(value) ? mapLines(value, indent + style.step, style) : [];
}

/** One list item as lines, its dash at column `indent`. */
export function itemLines(value: Json, indent: number, style: Style): string[] {
  const head = `${' '.repeat(indent)}-`;
  if (isPrimitive(value) || isEmptyCollection(value)) return leafLines(head, value, indent, style);
  const [first = '', ...rest] = itemContentLines(value, indent, style);
  return [head + first.slice(indent + 1), ...rest];
}

/** The lines of a collection that is a list item, its dash at column `indent`; the first one is to share the dash's line. */
export function itemContentLines(value: Json, indent: number, style: Style): string[] {
  const column = indent + style.gap;
  if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, column, style));
  return isObject(value) ? mapLines(value, column, style) : [];
}

function leafLines(head: string, value: Json, indent: number, style: Style): string[] {
  if (!isPrimitive(value)) return [`${head} ${Array.isArray(value) ? '[]' : '{}'}`];
  if (typeof value === 'string' && style.literals && value.includes('\n')) {
    const literal = literalText(value, style.step);
    if (literal !== undefined) {
      const pad = ' '.repeat(indent + style.step);
      return [`${head} ${literal.header}`, ...literal.lines.map((line) => (line === '' ? '' : pad + line))];
    }
  }
  return [`${head} ${scalarText(value, undefined, false)}`];
}

/** How a flow collection is written. */
export interface FlowStyle {
  /** Keys and strings in double quotes, as in JSON. */
  json: boolean;
  /** A space inside the braces of maps. */
  padded: boolean;
}

/** The value on one line, with brackets. */
export function flowText(value: Json, style: FlowStyle): string {
  if (isPrimitive(value)) return scalarText(value, style.json ? 'double' : undefined, true);
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, style)).join(', ')}]`;
  const pairs = sortedKeys(value).map((key) => flowPair(key, value[key] ?? null, style));
  if (pairs.length === 0) return '{}';
  return style.padded ? `{ ${pairs.join(', ')} }` : `{${pairs.join(', ')}}`;
}

export function flowPair(key: string, value: Json, style: FlowStyle): string {
  return `${keyScalar(key, style.json, true)}: ${flowText(value, style)}`;
}
