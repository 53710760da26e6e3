/** Tokens that Flux replaces after the build: `${NAME}`, with a default or not. Comments are no values, so they never count. */
import { isObject, type Json } from '../json.ts';

/**
 * The first token in any string of the old value that the new value has nowhere; undefined when there is none. A text that still
 * holds its tokens was not filled in.
 */
export function lostToken(before: Json | undefined, after: Json | undefined): string | undefined {
  const kept = new Set(tokensIn(after));
  return tokensIn(before).find((token) => !kept.has(token));
}

function tokensIn(value: Json | undefined): string[] {
  if (typeof value === 'string') return value.match(/\$\{[^{}]+\}/g) ?? [];
  const members = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return members.flatMap(tokensIn);
}
