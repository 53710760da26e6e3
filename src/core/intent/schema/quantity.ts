import type { Json } from '../../json.ts';

/**
 * Resource quantities as exact fractions, so that `1000m`, `1` and `1e0` compare equal and nothing is rounded.
 *
 * A quantity is a decimal number with one optional suffix: n u m k M G T P E, Ki..Ei, or a decimal exponent.
 */

/** numerator / denominator; the denominator is positive. */
export interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const shape = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;
/** The server refuses longer ones; the bound keeps the arithmetic small. */
const longest = 64;
const largestExponent = 64;

const decimalPower: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binaryPower: Readonly<Record<string, bigint>> = {
  Ki: 10n,
  Mi: 20n,
  Gi: 30n,
  Ti: 40n,
  Pi: 50n,
  Ei: 60n,
};

/** Reads a quantity from its text or from a YAML number. Returns undefined when it is none. */
export function parseQuantity(value: Json | undefined): Quantity | undefined {
  if (typeof value === 'bigint') return { numerator: value, denominator: 1n };
  if (typeof value === 'number') return Number.isFinite(value) ? parseText(String(value)) : undefined;
  return typeof value === 'string' ? parseText(value) : undefined;
}

/** Negative, zero or positive as a is below, equal to or above b. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

/** The server stores resource amounts no finer than a thousandth, rounded away from zero. */
export function roundToMilli(quantity: Quantity): Quantity {
  const scaled = quantity.numerator * 1000n;
  const whole = scaled / quantity.denominator;
  const rest = scaled % quantity.denominator;
  if (rest === 0n) return { numerator: whole, denominator: 1000n };
  return { numerator: rest > 0n ? whole + 1n : whole - 1n, denominator: 1000n };
}

function parseText(text: string): Quantity | undefined {
  if (text.length > longest) return undefined;
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  const binary = binaryPower[suffix];
  const power = binary === undefined ? decimalPowerOf(suffix) : 0;
  if (Math.abs(power) > largestExponent) return undefined;
  const numerator = digits * (binary === undefined ? 1n : 2n ** binary) * 10n ** BigInt(Math.max(power, 0));
  return { numerator, denominator: 10n ** BigInt(fraction.length + Math.max(-power, 0)) };
}

function decimalPowerOf(suffix: string): number {
  if (suffix === '') return 0;
  // `E` alone is exa; with digits it is an exponent.
  if (suffix.length > 1) return Number(suffix.slice(1));
  return decimalPower[suffix] ?? 0;
}
