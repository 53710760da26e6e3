/**
 * Writes scalars. Every string that some reader of YAML 1.1 or 1.2 could take for another type or another text is quoted;
 * lines are never folded.
 */
import type { Json } from '../json.ts';
import { resolvePlain } from './dialect.ts';
import type { ScalarStyle } from './nodes.ts';

export type Primitive = Exclude<Json, object> | null;

export function isPrimitive(value: Json): value is Primitive {
  return value === null || typeof value !== 'object';
}

/**
 * One line of text for a scalar. `style`: how the scalar it replaces was written; it is kept where the value allows.
 * `flow`: it stands inside brackets, where fewer characters are safe.
 */
export function scalarText(value: Primitive, style: ScalarStyle | undefined, flow: boolean): string {
  if (typeof value !== 'string') return plainText(value);
  if (style === 'double') return doubleQuoted(value);
  if (style === 'single' && !special.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return isPlainSafe(value, flow) ? value : doubleQuoted(value);
}

/** A map key. `quoted`: the keys around it are in double quotes. */
export function keyScalar(key: string, quoted: boolean, flow: boolean): string {
  return scalarText(key, quoted ? 'double' : undefined, flow);
}

function plainText(value: null | boolean | number | bigint): string {
  if (typeof value !== 'number') return String(value);
  // A long integer in a double prints with all its digits, not with the shortest that read back.
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) return String(BigInt(value));
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return '.nan';
  return value > 0 ? '.inf' : '-.inf';
}

/** Characters that only an escape carries safely: controls, the line ends of YAML 1.1, byte order marks. */
const special = /[\0-\x1F\x7F-\x9F\u2028\u2029\uFEFF\uFFFE\uFFFF]/;
const specials = new RegExp(special, 'g');

/** JSON's escapes are all escapes of YAML too. */
function doubleQuoted(value: string): string {
  return JSON.stringify(value).replace(specials, escapeOf);
}

function escapeOf(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Whether a string can stand without quotes and is the same string to every reader. */
export function isPlainSafe(value: string, flow: boolean): boolean {
  if (value === '' || special.test(value) || /^\s|\s$/.test(value)) return false;
  if (/^[,[\]{}#&*!|>'"%@`?:]/.test(value) || /^(?:-(?:[\s-]|$)|---|\.\.\.)/.test(value)) {
    // `--flag` is the one word that may begin with two dashes.
    if (!/^--[A-Za-z0-9]/.test(value)) return false;
  }
  if (/:(?:\s|$)|\s#/.test(value)) return false;
  if (flow && /[,[\]{}?]|:$/.test(value)) return false;
  return !looksTyped(value);
}

const words = /^(?:y|n|yes|no|on|off|true|false|null|~|=|<<)$/i;
const number =
  /^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9_][0-9_,]*(?:\.[0-9_]*)?(?:e[-+]?[0-9_]+)?|\.[0-9_]*(?:e[-+]?[0-9_]+)?)$/i;
const exponent = /^[-+]?\.?e[-+]?[0-9_]+$/i;
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-9]{1,2})+(?:\.[0-9_]*)?$/;
const date = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt\s])/;
const notFinite = /^[-+]?\.(?:inf|nan)$/i;

/** Whether any reader could take the bare text for something that is no string. */
function looksTyped(value: string): boolean {
  if (words.test(value) || resolvePlain(value) !== value) return true;
  if (!/^[-+.eE0-9_]/.test(value)) return false;
  return [number, exponent, sexagesimal, date, notFinite].some((pattern) => pattern.test(value));
}

export interface LiteralText {
  header: string;
  /** Lines of content without indentation. */
  lines: string[];
}

/**
 * The string as a literal block, or undefined when a block cannot carry it the same way for all readers: one line, controls,
 * nothing but white space, several ends of line at the end, or a last or first line of white space.
 */
export function literalText(value: string, indicator: number): LiteralText | undefined {
  if (!fitsLiteral(value) || value.endsWith('\n\n')) return undefined;
  const ends = value.endsWith('\n');
  const body = ends ? value.slice(0, -1) : value;
  const digit = needsIndicator(value) ? String(indicator) : '';
  if (digit !== '' && indicator > 9) return undefined;
  return { header: `|${digit}${ends ? '' : '-'}`, lines: body.split('\n') };
}

const notInLiteral = /[\0-\x08\x0B-\x1F\x7F-\x9F\u2028\u2029\uFEFF\uFFFE\uFFFF]/;

export function fitsLiteral(value: string): boolean {
  if (notInLiteral.test(value) || value.trim() === '') return false;
  return !/^[ \t]+\n|\n[ \t]+\n*$/.test(value);
}

/** Whether a block must state its indentation because its first line does not show it. */
export function needsIndicator(value: string): boolean {
  return /^[ \t\n]/.test(value);
}
