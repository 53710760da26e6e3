/** The part of Go's fmt verbs that templates use: %s %v %q %d %t %x %%, with width, `-`, `0`, `+` and `%.Ns`. */
import { bounded, describeValue, isList, printNested, TemplateFailure, type TemplateValue } from './value.ts';

interface Directive {
  readonly left: boolean;
  readonly zero: boolean;
  readonly plus: boolean;
  readonly width: number;
  readonly precision: number | undefined;
  readonly verb: string;
}

type FormatPart = { readonly kind: 'text'; readonly text: string } | ({ readonly kind: 'verb' } & Directive);

const directive = /%([-0+]*)([0-9]*)(?:\.([0-9]+))?([\s\S])/uy;
const maxWidth = 256;

/** Reads a format. Throws TemplateFailure with what is wrong with it. */
export function parseFormat(format: string): FormatPart[] {
  const parts: FormatPart[] = [];
  let at = 0;
  for (;;) {
    const next = format.indexOf('%', at);
    const text = format.slice(at, next < 0 ? undefined : next);
    if (text !== '') parts.push({ kind: 'text', text });
    if (next < 0) return parts;
    const sticky = new RegExp(directive.source, directive.flags);
    sticky.lastIndex = next;
    const found = sticky.exec(format);
    if (found === null) throw new TemplateFailure('printf: the format ends inside a verb');
    parts.push(readDirective(found));
    at = sticky.lastIndex;
  }
}

/** How many arguments a format takes. */
export function countVerbs(parts: readonly FormatPart[]): number {
  return parts.filter((part) => part.kind === 'verb').length;
}

export function printf(format: string, values: readonly TemplateValue[]): string {
  const parts = parseFormat(format);
  const wanted = countVerbs(parts);
  if (wanted !== values.length) {
    throw new TemplateFailure(`printf: the format takes ${wanted} values and gets ${values.length}`);
  }
  let text = '';
  let used = 0;
  for (const part of parts) {
    if (part.kind === 'text') text += part.text;
    else {
      text += formatValue(values[used] ?? '', part);
      used += 1;
    }
    bounded(text);
  }
  return text;
}

function readDirective([whole, flags = '', width, precision, verb = '']: RegExpExecArray): FormatPart {
  if (whole === '%%') return { kind: 'text', text: '%' };
  const read = {
    kind: 'verb',
    left: flags.includes('-'),
    zero: flags.includes('0'),
    plus: flags.includes('+'),
    width: Number(width ?? 0),
    precision: precision === undefined ? undefined : Number(precision),
    verb,
  } as const satisfies FormatPart;
  if (!'svqdtx'.includes(verb))
    throw new TemplateFailure(`printf: ${whole} is not supported; use %s %v %q %d %t %x or %%`);
  const flagsFit = (!read.zero || verb === 'd' || verb === 'x') && (!read.plus || verb === 'd');
  if (!flagsFit || (read.precision !== undefined && verb !== 's')) {
    throw new TemplateFailure(`printf: ${whole}: 0 goes with %d and %x, + with %d, a precision with %s`);
  }
  if (read.width > maxWidth) throw new TemplateFailure(`printf: ${whole}: the width is at most ${maxWidth}`);
  return read;
}

function formatValue(value: TemplateValue, how: Directive): string {
  return printNested(value, (scalar) => pad(formatScalar(scalar, how, value), how));
}

function formatScalar(scalar: string | number | boolean, how: Directive, whole: TemplateValue): string {
  const { verb } = how;
  if (typeof scalar === 'string') {
    if (verb === 'v') return scalar;
    if (verb === 's')
      return how.precision === undefined ? scalar : [...scalar].slice(0, how.precision).join('');
    if (verb === 'q') return quote(scalar);
    if (verb === 'x' && !how.zero) return hex(scalar);
  }
  if (typeof scalar === 'number') {
    if (verb === 'v') return String(scalar);
    if (verb === 'd') return signed(scalar, String(Math.abs(scalar)), how);
    if (verb === 'x') return signed(scalar, Math.abs(scalar).toString(16), how);
  }
  if (typeof scalar === 'boolean' && (verb === 'v' || verb === 't')) return String(scalar);
  const about = isList(whole) ? describeValue(scalar) : describeValue(whole);
  throw new TemplateFailure(`printf: %${verb} cannot print ${about}`);
}

function signed(value: number, digits: string, { zero, left, plus, width }: Directive): string {
  const sign = value < 0 ? '-' : plus ? '+' : '';
  return zero && !left ? sign + digits.padStart(width - sign.length, '0') : sign + digits;
}

function pad(text: string, { width, left }: Directive): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  return left ? text + ' '.repeat(missing) : ' '.repeat(missing) + text;
}

function hex(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

function quote(text: string): string {
  return `"${[...text].map(quoteCharacter).join('')}"`;
}

function quoteCharacter(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
