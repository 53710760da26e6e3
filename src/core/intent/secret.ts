/**
 * Secrets: the server folds `stringData` into `data`, so a document is compared in that form and changed in its own.
 */
import { isObject, type Json, type JsonObject } from '../json.ts';
import { isMissing, member } from './place.ts';

/** A document as the server would hold it, and the way back. */
export interface SecretView {
  readonly document: JsonObject;
  /** The document in its own form, given the viewed one after the edits. */
  restore(edited: JsonObject): JsonObject;
}

export function isSecret(document: JsonObject): boolean {
  return document.apiVersion === 'v1' && document.kind === 'Secret';
}

export function viewSecret(document: JsonObject): SecretView {
  const stated = isObject(document.stringData) ? document.stringData : undefined;
  const data = isObject(document.data) ? document.data : undefined;
  if (stated === undefined && data === undefined) return { document, restore: (edited) => edited };
  const folded = { ...canonical(data), ...encoded(stated) };
  const { stringData: _own, ...rest } = document;
  const view = { ...rest, data: folded };
  return {
    document: view,
    restore: (edited) => (edited === view ? document : unfold(document, edited, folded)),
  };
}

function unfold(document: JsonObject, edited: JsonObject, folded: JsonObject): JsonObject {
  const stated = isObject(document.stringData) ? document.stringData : undefined;
  const data = isObject(document.data) ? document.data : undefined;
  const now = isObject(edited.data) ? edited.data : {};
  const [plain, coded]: [[string, Json][], [string, Json][]] = [[], []];
  for (const [key, value] of Object.entries(now)) {
    const own = member(stated, key) ?? member(data, key);
    const isPlain =
      !isMissing(member(stated, key)) ||
      (stated !== undefined && isMissing(member(data, key)) && data === undefined);
    const text = isPlain ? decodeText(value) : undefined;
    if (value === folded[key] && own !== undefined) {
      if (!isMissing(member(stated, key))) plain.push([key, own]);
      if (!isMissing(member(data, key))) coded.push([key, member(data, key) ?? null]);
    } else if (text !== undefined) {
      plain.push([key, text]);
      // What the plain text hides stays hidden.
      if (!isMissing(member(data, key))) coded.push([key, member(data, key) ?? null]);
    } else {
      coded.push([key, value]);
    }
  }
  return rebuild(document, edited, inOrder(stated, plain), inOrder(data, coded));
}

/** The edited document with both maps where they stood; a map that lost its last key goes, a new one comes last. */
function rebuild(
  document: JsonObject,
  edited: JsonObject,
  plain: JsonObject | undefined,
  coded: JsonObject | undefined,
): JsonObject {
  const maps: Record<string, JsonObject | undefined> = { stringData: plain, data: coded };
  const members: [string, Json][] = [];
  for (const key of new Set([...Object.keys(document), ...Object.keys(edited), 'data', 'stringData'])) {
    const value = key === 'data' || key === 'stringData' ? maps[key] : member(edited, key);
    if (value !== undefined) members.push([key, value]);
  }
  return Object.fromEntries(members);
}

function inOrder(
  own: JsonObject | undefined,
  entries: readonly (readonly [string, Json])[],
): JsonObject | undefined {
  if (entries.length === 0) return own !== undefined && Object.keys(own).length === 0 ? own : undefined;
  const found = new Map(entries);
  const keys = [...Object.keys(own ?? {}).filter((key) => found.has(key)), ...found.keys()];
  return Object.fromEntries([...new Set(keys)].map((key) => [key, found.get(key) ?? null]));
}

function encoded(map: JsonObject | undefined): JsonObject {
  return mapValues(map, (value) =>
    typeof value === 'string' ? Buffer.from(value, 'utf8').toString('base64') : value,
  );
}

/** Base64 without the line breaks people put into it. */
function canonical(map: JsonObject | undefined): JsonObject {
  return mapValues(map, (value) => (typeof value === 'string' ? value.replace(/\s+/g, '') : value));
}

function mapValues(map: JsonObject | undefined, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(map ?? {}).map(([key, value]) => [key, change(value)]));
}

/** The text behind base64, or undefined when it is no text. */
function decodeText(value: Json): string | undefined {
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}
