/** Adds a document to a file and takes one away; the bytes of the others stay. */
import { equalJson, type JsonObject } from '../json.ts';
import type { EditResult } from './edit.ts';
import { houseStyle } from './emit.ts';
import { dominantEol, nextLine } from './lines.ts';
import { printDocument } from './print.ts';
import { contentStart, type ReadDocument, readDocuments } from './read.ts';
import { splitDocuments } from './split.ts';
import { isWritable } from './value.ts';

/** Appends a document: with the file's end of line, after a `---` unless the file's last document is still empty. */
export function appendDocument(text: string, value: JsonObject): EditResult {
  if (!isWritable(value)) {
    const message = 'the value is nested too deeply, or a string in it holds half a character';
    return { ok: false, reason: 'UnplaceableEdit', message };
  }
  const eol = dominantEol(text);
  const printed = printDocument(value, { ...houseStyle, eol });
  const last = splitDocuments(text).at(-1);
  const end = last === undefined ? '' : text.slice(contentStart(text, last));
  const [before] = readDocuments(end);
  const joins = before?.kind === 'empty' && !/^\.\.\./m.test(end);
  const added = (end === '' || end.endsWith('\n') ? '' : eol) + (joins ? '' : `---${eol}`) + printed;
  const after = readDocuments(end + added);
  const made = after.at(-1);
  const isMade = made?.kind === 'value' && equalJson(made.value, value) && after.length === (joins ? 1 : 2);
  if (isMade && (joins || (before !== undefined && isSame(before, after[0]))))
    return { ok: true, text: text + added, changed: true };
  const message = 'the file does not end in a way that a document can follow; end its last line';
  return { ok: false, reason: 'VerificationFailed', message };
}

function isSame(a: ReadDocument, b: ReadDocument | undefined): boolean {
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
