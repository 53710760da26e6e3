/** Tokens that Flux replaces after the build: `${NAME}`, with a default or not. Comments are no values, so they never count. */
import { isObject, type Json } from '../json.ts';

const token = /\$\{[^{}]+\}/;

/** The first token in any string of the value; undefined when there is none. */
export function tokenIn(value: Json): string | undefined {
  if (typeof value === 'string') return token.exec(value)?.[0];
  const members = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  for (const member of members) {
    const found = tokenIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
}
