/**
 * Checks a finished edit before anyone sees it: the file still has its documents, the others kept their bytes, and the edited
 * one reads as wanted, by our reader and by a second, independent one.
 */
import { isAlias, isMap, isNode, isScalar, isSeq, parseAllDocuments, type Scalar } from 'yaml';
import { equalJson, type Json, type JsonObject } from '../json.ts';
import { keyText, resolvePlain } from './dialect.ts';
import { nextLine } from './lines.ts';
import { contentStart, readTree } from './read.ts';
import { type DocumentSlice, splitDocuments } from './split.ts';
import { matches, toJson } from './value.ts';

/**
 * How an edited text reads. `exact`: as wanted. `doubtful`: as wanted by our reader, but the second one does not agree.
 * `wrong`: another value, another number of documents, or bytes of another document changed.
 */
export type Verdict = 'exact' | 'doubtful' | 'wrong';

/**
 * Judges what replaced a document. `before`: the file's text, `slice`: the document's place in it, `own`: the new text of
 * that place, `desired`: the value it is to hold.
 */
export function verify(before: string, slice: DocumentSlice, own: string, desired: JsonObject): Verdict {
  // The rest of the file is the same text; it stays the same documents when this one ends where it ended before.
  const rest = before.slice(slice.end, nextLine(before, slice.end));
  const parts = splitDocuments(own + rest);
  const [first] = parts;
  if (first === undefined || first.end !== own.length || parts.length !== (rest === '' ? 1 : 2))
    return 'wrong';
  const read = readTree(own, first);
  if (read.kind !== 'tree' || read.notEditable !== undefined || !matches(read.tree.root, desired))
    return 'wrong';
  return secondOpinion(own, first, toJson(read.tree.root)) === 'agrees' ? 'exact' : 'doubtful';
}

/** Beyond this many characters the second reader takes too long to be asked. */
const maxSecondReading = 256 * 1024;

/** What the second reader says of a document that ours reads as `value`; it is stricter, so it may not read it at all. */
export function secondOpinion(
  text: string,
  slice: DocumentSlice,
  value: Json,
): 'agrees' | 'differs' | 'cannot read' {
  const own = text.slice(contentStart(text, slice), slice.end);
  if (own.length > maxSecondReading) return 'agrees';
  // The readers differ on a block of text that the end of the file cuts off; ours is checked against Go.
  const whole = own.endsWith('\n') ? own : `${own}\n`;
  const first = whole === own ? value : firstReading(whole);
  const second = secondReading(whole);
  if (second === undefined) return 'cannot read';
  return first !== undefined && equalJson(first, second) ? 'agrees' : 'differs';
}

function firstReading(text: string): Json | undefined {
  const [slice] = splitDocuments(text);
  const read = slice === undefined ? undefined : readTree(text, slice);
  return read?.kind === 'tree' ? toJson(read.tree.root) : undefined;
}

const options = {
  schema: 'failsafe',
  uniqueKeys: false,
  logLevel: 'silent',
  strict: false,
  prettyErrors: false,
} as const;

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
