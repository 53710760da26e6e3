/**
 * JSON values as the API server means them: integers beyond 2^53 are bigint, never a rounded number.
 *
 * Every room passes objects around in this form; nothing else parses or prints JSON of Kubernetes objects.
 */

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** Where a value sits: map keys as strings, list positions as numbers. Never joined with dots, keys may hold them. */
export type Path = readonly (string | number)[];

const mayHoldLongInteger = /\d{16}/;
const integer = /^-?\d+$/;

/** Parses JSON text. Integers that a double cannot hold exactly come back as bigint. Throws SyntaxError. */
export function parseJson(text: string): Json {
  if (!mayHoldLongInteger.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source: string }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    const source = context?.source ?? '';
    return integer.test(source) ? BigInt(source) : value;
  });
}

/** Prints JSON text on one line; bigint prints as an integer. Keys keep their order. */
export function printJson(value: Json): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${printJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Prints JSON text with sorted keys, so that equal values have equal text. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return printJson(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Equal as JSON: key order does not matter, list order does, 1 and 1n are equal. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' || typeof b === 'bigint') return sameNumber(a, b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  );
}

/** The value at a path, or undefined when a step is missing. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at[step] : undefined;
    else at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

function sameNumber(a: Json | undefined, b: Json | undefined): boolean {
  if (!isNumeric(a) || !isNumeric(b)) return false;
  // A bigint equals a number only when the number is that very integer; BigInt() throws on fractions.
  return Number.isInteger(Number(a)) && Number.isInteger(Number(b)) && BigInt(a) === BigInt(b);
}

function isNumeric(value: Json | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
