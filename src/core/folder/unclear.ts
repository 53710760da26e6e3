/**
 * Text that gave no readable record, asked whether an object may be described by it all the same. Where it may, no second
 * document is written beside it.
 */
import { identify, type ObjectId } from '../identity.ts';
import { isObject, type Json, parseJson } from '../json.ts';

/**
 * `path` tells JSON from YAML. Errs towards true for YAML; JSON is read, so there it is exact.
 *
 * `isRendered`: an applier made the object, yet no readable document describes it. Then a template of its kind whose name is
 * all expression (`{{ include "fullname" . }}`) is where it comes from.
 */
export function couldDescribe(path: string, text: string, id: ObjectId, isRendered = false): boolean {
  return path.endsWith('.json') ? isInJson(text, id) : standsInText(text, id, isRendered);
}

/** Appliers read JSON manifests, and lists of them; any other JSON is none of our business. */
function isInJson(text: string, id: ObjectId): boolean {
  if (!text.includes(id.name)) return false;
  try {
    return objectsIn(parseJson(text)).some((object) => isSame(identify(object), id));
  } catch {
    // Not JSON: nobody applies it.
    return false;
  }
}

function objectsIn(value: Json): Json[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (isObject(value) && Array.isArray(value.items)) return [value, ...value.items];
  return [value];
}

function isSame(found: ObjectId | undefined, id: ObjectId): boolean {
  if (found === undefined || found.group !== id.group || found.kind !== id.kind || found.name !== id.name)
    return false;
  return found.namespace === id.namespace || found.namespace === '';
}

/** The kind stands there as a word, and so does the name, whole or as a template with a fixed part. */
function standsInText(text: string, id: ObjectId, isRendered: boolean): boolean {
  if (!holdsWord(text, id.kind, /[A-Za-z0-9]/)) return false;
  if (holdsWord(text, id.name, /[A-Za-z0-9.-]/)) return true;
  // A name that is all expression says nothing about an object that may come from anywhere.
  return templatedNames(text).some((parts) => fits(parts, id.name) && (isRendered || hasFixedPart(parts)));
}

function holdsWord(text: string, word: string, letter: RegExp): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!letter.test(text[at - 1] ?? ' ') && !letter.test(text[at + word.length] ?? ' ')) return true;
  }
  return false;
}

const expression = /\{\{[^\n]*?\}\}|\$\{[^\n}]*\}/g;
const gap = '\u0000';

/** The fixed parts of names with an expression in them: `{{ .Release.Name }}-web` is '' and '-web'. */
function templatedNames(text: string): string[][] {
  const names: string[][] = [];
  for (const match of text.matchAll(/\bname["']?\s*:[ \t]*([^\n]+)/g)) {
    // Expressions first: their own braces and commas end nothing.
    const value = (match[1] ?? '')
      .replace(expression, gap)
      .replace(/^["']/, '')
      .replace(/["',}#\s].*$/, '');
    const parts = value.split(gap);
    if (parts.length > 1) names.push(parts);
  }
  return names;
}

function hasFixedPart(parts: readonly string[]): boolean {
  return /[A-Za-z0-9]/.test(parts.join(''));
}

/** The fixed parts stand in the name in this order, the first at its beginning and the last at its end. */
function fits(parts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
