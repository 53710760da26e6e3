import type { Json } from '../../json.ts';

/**
 * Durations as Go writes them (`1h30m`, `90m0s`), compared by length.
 */

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const whole = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;
const longest = 64;

const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Nanoseconds, or undefined when the value is no duration. Digits below a nanosecond are cut, as Go does. */
export function parseDuration(value: Json | undefined): bigint | undefined {
  if (typeof value !== 'string' || value.length > longest) return undefined;
  if (value === '0') return 0n;
  if (!whole.test(value)) return undefined;
  let total = 0n;
  for (const [, amount = '', unit = ''] of value.matchAll(part)) {
    const [integer = '', fraction = ''] = amount.split('.');
    const scale = 10n ** BigInt(fraction.length);
    total += (BigInt(`${integer}${fraction}`) * (nanoseconds[unit] ?? 0n)) / scale;
  }
  return value.startsWith('-') ? -total : total;
}
