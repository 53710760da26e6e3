/**
 * What a plain scalar means. Kubernetes tools read YAML 1.1 the Go way (sigs.k8s.io/yaml over go-yaml v2): `yes` and `on` are
 * booleans, `0777` is octal, `1_000` a number, while dates and `12:30:00` stay strings. kustomize reads the same but for the
 * boolean words, which it takes for strings. The rules are go-yaml's resolve.go; test/core/yaml compares with kubectl.
 */
import type { Json } from '../json.ts';

const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['', null],
  ['~', null],
  ...spellings('null', null),
  ...spellings('true', true),
  ...spellings('false', false),
  ['.nan', Number.NaN],
  ['.NaN', Number.NaN],
  ['.NAN', Number.NaN],
  ...['', '+'].flatMap((sign) => infinities(sign, Number.POSITIVE_INFINITY)),
  ...infinities('-', Number.NEGATIVE_INFINITY),
]);

/** Words only the older reader takes for booleans. */
const switches: ReadonlyMap<string, boolean> = new Map([
  ['y', true],
  ['Y', true],
  ['n', false],
  ['N', false],
  ...spellings('yes', true),
  ...spellings('no', false),
  ...spellings('on', true),
  ...spellings('off', false),
]);

function spellings<T>(word: string, value: T): [string, T][] {
  const title = word.slice(0, 1).toUpperCase() + word.slice(1);
  return [word, title, word.toUpperCase()].map((spelling) => [spelling, value]);
}

function infinities(sign: string, value: number): [string, number][] {
  return ['.inf', '.Inf', '.INF'].map((spelling) => [sign + spelling, value]);
}

/** The value of a plain scalar as kubectl, Argo CD and Flux read it. NaN and infinities come back as such: no JSON holds them. */
export function resolvePlain(text: string): Json {
  const toggle = switches.get(text);
  return toggle === undefined ? resolveCommon(text) : toggle;
}

/** The value of a plain scalar as kustomize reads it. */
export function resolvePlainKustomize(text: string): Json {
  return switches.has(text) ? text : resolveCommon(text);
}

function resolveCommon(text: string): Json {
  const first = text.charCodeAt(0);
  const numeric = first === 0x2b || first === 0x2d || (first >= 0x30 && first <= 0x39);
  const word = text.length > 5 ? undefined : words.get(text);
  if (word !== undefined) return word;
  if (first === 0x2e) return dotFloat.test(text) ? finiteOr(text.replaceAll('_', ''), text) : text;
  if (!numeric || isTimestamp(text)) return text;
  return resolveNumber(text);
}

const dotFloat = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/;

function resolveNumber(text: string): Json {
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  const match = integer.exec(digits);
  const value = match === null ? undefined : integerOf(match);
  if (value !== undefined && fitsInt64(value, digits)) return narrow(value);
  if (float.test(digits)) return finiteOr(digits, text);
  // A hexadecimal or binary number too long for 64 bits stays exact, unless it has a sign.
  return value !== undefined && /^[0-9]/.test(digits) ? narrow(value) : text;
}

function integerOf([, sign, hex, binary, octal, decimal]: RegExpExecArray): bigint {
  let value = BigInt(decimal ?? 0);
  if (hex !== undefined) value = BigInt(`0x${hex}`);
  if (binary !== undefined) value = BigInt(`0b${binary}`);
  if (octal !== undefined) value = BigInt(`0o${octal}`);
  return sign === '-' ? -value : value;
}

/** 64 bits with a sign, or 64 without when none is written. */
function fitsInt64(value: bigint, digits: string): boolean {
  if (value >= -(1n << 63n) && value < 1n << 63n) return true;
  return /^[0-9]/.test(digits) && value < 1n << 64n;
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Go prints whole doubles below this without an exponent, so they come back from JSON as integers. */
const printsWhole = 1e21;

/** A number too large for a double is a string to this reader. */
function finiteOr(digits: string, text: string): number | bigint | string {
  const value = Number(digits);
  if (!Number.isFinite(value)) return text;
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < printsWhole;
  return isLong ? BigInt(String(value)) : value;
}

const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})?)?$/;

/** Dates and times stay the strings they were written as. */
function isTimestamp(text: string): boolean {
  return text.length > 7 && timestamp.test(text);
}

/** A map key as JSON text, the way the Go reader prints keys that are no strings. */
export function keyText(value: Json): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return floatKey(value);
  return String(value);
}

/** Go prints a float key in 32-bit precision, with an exponent from seven digits on. */
function floatKey(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  const single = Math.fround(value);
  let text = single.toExponential(8);
  for (let digits = 0; digits < 9; digits += 1) {
    const shorter = single.toExponential(digits);
    if (Math.fround(Number(shorter)) !== single) continue;
    text = shorter;
    break;
  }
  const [mantissa = '', exponent = '0'] = text.split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) {
    const places = Math.max((mantissa.split('.')[1]?.length ?? 0) - power, 0);
    return Number(text).toFixed(places);
  }
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
