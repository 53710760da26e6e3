/** Prints a new document in the house style: the same emitter as every edit, so the first edit changes only its own lines. */
import { isObject, type Json, type JsonObject } from '../json.ts';
import { houseStyle, mapLines, pairLines, type Style, sortedKeys } from './emit.ts';

const topKeys = ['apiVersion', 'kind', 'metadata'];
const metadataKeys = ['name', 'namespace', 'labels', 'annotations'];

/**
 * The text of a new document: apiVersion, kind, metadata (name, namespace, labels, annotations, the rest) first, all other
 * keys sorted, two spaces, lists indented under their key, no line folded, an end of line at the end.
 */
export function printDocument(value: JsonObject, style: Style = houseStyle): string {
  if (Object.keys(value).length === 0) return `{}${style.eol}`;
  const lines = ordered(topKeys)(value).flatMap((key) => topLines(key, value[key] ?? null, style));
  return lines.map((line) => line + style.eol).join('');
}

function topLines(key: string, value: Json, style: Style): string[] {
  if (key !== 'metadata' || !isObject(value) || Object.keys(value).length === 0)
    return pairLines(key, value, 0, style);
  return ['metadata:', ...mapLines(value, style.step, style, ordered(metadataKeys))];
}

function ordered(first: string[]): (object: JsonObject) => string[] {
  return (object) => [
    ...first.filter((key) => Object.hasOwn(object, key)),
    ...sortedKeys(object).filter((key) => !first.includes(key)),
  ];
}
