/**
 * Checks a finished edit before anyone sees it: the file still has its documents, the others kept their bytes, and the edited
 * one reads as wanted, by our reader and by a second, independent one.
 */
import { isAlias, isMap, isNode, isScalar, isSeq, parseAllDocuments, type Scalar } from 'yaml';
import { equalJson, type Json, type JsonObject } from '../json.ts';
import { keyText, resolvePlain } from './dialect.ts';
import { contentStart, readTree } from './read.ts';
import { type DocumentSlice, splitDocuments } from './split.ts';
import { matches, toJson } from './value.ts';

/** Whether document `index` of `after` holds `desired` and nothing else changed against `before`. */
export function isExact(before: string, after: string, index: number, desired: JsonObject): boolean {
  const old = splitDocuments(before);
  const now = splitDocuments(after);
  const slice = now[index];
  const oldSlice = old[index];
  if (slice === undefined || oldSlice === undefined || now.length !== old.length) return false;
  if (slice.start !== oldSlice.start || after.length - slice.end !== before.length - oldSlice.end)
    return false;
  if (!after.startsWith(before.slice(0, slice.start)) || !after.endsWith(before.slice(oldSlice.end)))
    return false;
  const read = readTree(after, slice);
  if (read.kind !== 'tree' || read.notEditable !== undefined || !matches(read.tree.root, desired))
    return false;
  return isReadAlike(after, slice, toJson(read.tree.root));
}

/** Whether the second reader sees the same value in the document. */
export function isReadAlike(text: string, slice: DocumentSlice, value: Json): boolean {
  const own = text.slice(contentStart(text, slice), slice.end);
  // The readers differ on a block of text that the end of the file cuts off; ours is checked against Go.
  const whole = own.endsWith('\n') ? own : `${own}\n`;
  const known = whole === own ? value : firstReading(whole);
  return known !== undefined && equalJson(known, secondReading(whole));
}

function firstReading(text: string): Json | undefined {
  const [slice] = splitDocuments(text);
  const read = slice === undefined ? undefined : readTree(text, slice);
  return read?.kind === 'tree' ? toJson(read.tree.root) : undefined;
}

const options = { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent', strict: false } as const;

/** The value of a one-document text by the `yaml` library; undefined when it reads no such thing. */
function secondReading(text: string): Json | undefined {
  try {
    const [document, ...others] = parseAllDocuments(text, options);
    if (document === undefined || others.length > 0 || document.errors.length > 0) return undefined;
    return plainValue(document.contents, new Map());
  } catch {
    // A library that gives up has not confirmed anything.
    return undefined;
  }
}

/** Anchors are met before their aliases, so one walk in order knows them all. */
function plainValue(node: unknown, anchors: Map<string, Json>): Json {
  if (isAlias(node)) return anchors.get(node.source) ?? null;
  let value: Json = null;
  if (isScalar(node)) value = scalarOf(node);
  else if (isSeq(node)) value = node.items.map((item) => plainValue(item, anchors));
  else if (isMap(node)) {
    const members = node.items.map((pair): [string, Json] => {
      const key = keyText(plainValue(pair.key, anchors));
      return [key, plainValue(pair.value, anchors)];
    });
    value = Object.fromEntries(members);
  }
  if (isNode(node) && 'anchor' in node && node.anchor !== undefined) anchors.set(node.anchor, value);
  return value;
}

function scalarOf(node: Scalar): Json {
  const text = String(node.value ?? '');
  return node.type === 'PLAIN' && node.tag !== 'tag:yaml.org,2002:str' ? resolvePlain(text) : text;
}
