/** Adds a document to a file and takes one away; the bytes of the others stay. */
import { equalJson, type JsonObject } from '../json.ts';
import type { EditResult } from './edit.ts';
import { houseStyle } from './emit.ts';
import { dominantEol, nextLine } from './lines.ts';
import { printDocument } from './print.ts';
import { readDocuments } from './read.ts';
import { splitDocuments } from './split.ts';

/** Appends a document: with the file's end of line, after a `---` unless the file holds no document yet. */
export function appendDocument(text: string, value: JsonObject): EditResult {
  const eol = dominantEol(text);
  const printed = printDocument(value, { ...houseStyle, eol });
  const before = readDocuments(text);
  const last = before.at(-1);
  const joins = last?.kind === 'empty' && !/^\.\.\./m.test(text.slice(last.slice.start));
  const start = text === '' || text === '\uFEFF' || text.endsWith('\n') ? text : text + eol;
  const result = start + (joins ? '' : `---${eol}`) + printed;
  const after = readDocuments(result);
  const index = joins ? before.length - 1 : before.length;
  const added = after[index];
  const isAdded = after.length === index + 1 && added?.kind === 'value' && equalJson(added.value, value);
  const others = before.slice(0, index);
  if (isAdded && others.every((document, at) => isSame(document, after[at])))
    return { ok: true, text: result, changed: true };
  const message = 'the file does not end in a way that a document can follow; end its last line';
  return { ok: false, reason: 'VerificationFailed', message };
}

type Read = ReturnType<typeof readDocuments>[number];

function isSame(a: Read, b: Read | undefined): boolean {
  if (a.kind !== b?.kind) return false;
  return a.kind !== 'value' || b.kind !== 'value' || equalJson(a.value, b.value);
}

/**
 * Removes document `index` with its separator. When the first goes, the next one's bare separator goes too, unless the file
 * began with one. `empty`: no document with content is left.
 */
export function removeDocument(text: string, index: number): { text: string; empty: boolean } {
  const slices = splitDocuments(text);
  const slice = slices[index];
  if (slice === undefined) return { text, empty: isWithoutContent(text) };
  const mark = slice.start === 0 && text.startsWith('\uFEFF') ? 1 : 0;
  let rest = text.slice(slice.end);
  if (
    index === 0 &&
    !hasSeparator(text.slice(slice.start + mark, slice.bodyStart)) &&
    /^---[ \t]*\r?\n/.test(rest)
  )
    rest = rest.slice(nextLine(rest, 0));
  const result = text.slice(0, slice.start + mark) + rest;
  return { text: result, empty: isWithoutContent(result) };
}

function hasSeparator(head: string): boolean {
  return /^---/m.test(head);
}

function isWithoutContent(text: string): boolean {
  return readDocuments(text).every((document) => document.kind === 'empty');
}
