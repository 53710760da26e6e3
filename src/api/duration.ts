/** Durations as Go writes them: `5s`, `1m30s`, `0s`. A unit is mandatory. */
import * as z from 'zod';
import { type Rule, withRules } from './rules.ts';

// The API server gets the pattern as it reads: it knows no escapes of ours.
const units = 'ns|us|\u00b5s|\u03bcs|ms|s|m|h';
const durationPattern = new RegExp(`^([0-9]+(\\.[0-9]+)?(${units}))+$`);
const maxLength = 32;

const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration, or undefined when the text is none. Fractions of a millisecond are kept. */
export function parseDuration(text: string): number | undefined {
  if (text.length > maxLength || !durationPattern.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)([a-z\u00b5\u03bc]+)/g)) {
    sum += Number(amount) * (millisecondsPerUnit[unit ?? ''] ?? 0);
  }
  return sum;
}

/** A duration field with an upper bound, both inclusive and in Go's spelling. */
export function durationUpTo(bound: string, description: string, more: readonly Rule<string>[] = []) {
  const limit = parseDuration(bound);
  if (limit === undefined) throw new Error(`${bound} is no duration`);
  return withRules(
    z
      .string()
      .max(maxLength)
      .regex(durationPattern, 'must be a duration with a unit, such as 5s or 1m30s')
      .describe(description),
    [
      {
        cel: `duration(self) <= duration('${bound}')`,
        message: `must be at most ${bound}`,
        holds: (value) => (parseDuration(value) ?? Number.POSITIVE_INFINITY) <= limit,
      },
      ...more,
    ],
  );
}
