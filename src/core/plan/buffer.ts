/**
 * One file while a batch edits it: its text, and what stands at each position now.
 *
 * Every change goes through the text as it stands, and is proved at the end: what was not edited is byte-identical, what
 * was edited reads back as wanted.
 */
import type { IndexedDocument } from '../folder/index.ts';
import { equalJson, type JsonObject } from '../json.ts';
import {
  appendDocument,
  type EditOptions,
  type EditResult,
  editDocument,
  printDocument,
  type ReadDocument,
  readDocuments,
  removeDocument,
  splitDocuments,
} from '../yaml/index.ts';

type Slot =
  | { readonly kind: 'kept'; readonly original: number; readonly document: ReadDocument }
  | { readonly kind: 'wanted'; readonly original: number | undefined; readonly value: JsonObject };

export interface FileBuffer {
  readonly path: string;
  /** Undefined when the file is new. */
  readonly before: string | undefined;
  /** Undefined when nothing is left of the file. */
  text: string | undefined;
  slots: Slot[];
}

export type BufferChange =
  | { readonly ok: true; readonly changed: boolean }
  | Extract<EditResult, { readonly ok: false }>;

export function bufferOf(path: string, text: string, documents: readonly ReadDocument[]): FileBuffer {
  const slots = documents.map((document, original): Slot => ({ kind: 'kept', original, document }));
  return { path, before: text, text, slots };
}

export function newBuffer(path: string): FileBuffer {
  return { path, before: undefined, text: undefined, slots: [] };
}

/** Sets the document to `desired`. The text is unchanged when it says so already, or when it has no exact place. */
export function setDocument(
  buffer: FileBuffer,
  document: IndexedDocument,
  desired: JsonObject,
  options: EditOptions,
): BufferChange {
  const position = positionOf(buffer, document);
  const edited = editDocument(buffer.text ?? '', position, desired, options);
  if (!edited.ok) return edited;
  if (!edited.changed) return { ok: true, changed: false };
  buffer.text = edited.text;
  buffer.slots[position] = { kind: 'wanted', original: document.index, value: desired };
  return { ok: true, changed: true };
}

/** Takes the document out; the file goes with its last one. */
export function dropDocument(buffer: FileBuffer, document: IndexedDocument): void {
  const position = positionOf(buffer, document);
  const removed = removeDocument(buffer.text ?? '', position);
  buffer.text = removed.empty ? undefined : removed.text;
  if (removed.empty) buffer.slots = [];
  else buffer.slots.splice(position, 1);
}

/** Adds a document at the end. In a file that ends in an empty document it takes that one's place. */
export function addDocument(buffer: FileBuffer, value: JsonObject): BufferChange {
  const wanted: Slot = { kind: 'wanted', original: undefined, value };
  if (buffer.text === undefined) {
    buffer.text = printDocument(value);
    buffer.slots = [wanted];
    return { ok: true, changed: true };
  }
  const appended = appendDocument(buffer.text, value);
  if (!appended.ok) return appended;
  buffer.text = appended.text;
  const position = splitDocuments(appended.text).length - 1;
  buffer.slots = [...buffer.slots.slice(0, position), wanted];
  return { ok: true, changed: true };
}

export function isChanged(buffer: FileBuffer): boolean {
  return buffer.text !== buffer.before;
}

export type Proof =
  | { readonly ok: true; readonly documents: readonly ReadDocument[] }
  /** `problem` follows the file's name in a sentence. */
  | { readonly ok: false; readonly problem: string };

/** Reads the text as it stands: every document has to be what it should be. */
export function proveBuffer(buffer: FileBuffer): Proof {
  const { text, slots } = buffer;
  if (text === undefined) return { ok: true, documents: [] };
  const documents = readDocuments(text);
  if (documents.length !== slots.length) {
    const problem = `holds ${documents.length} documents after the edit instead of ${slots.length}`;
    return { ok: false, problem };
  }
  for (const [position, slot] of slots.entries()) {
    const now = documents[position];
    const isRight =
      now !== undefined && (slot.kind === 'wanted' ? readsAs(now, slot.value) : isKept(buffer, slot, now));
    if (!isRight) {
      const how = slot.kind === 'wanted' ? 'does not read back as wanted' : 'is not the same bytes as before';
      return { ok: false, problem: `document ${position + 1} ${how} after the edit` };
    }
  }
  return { ok: true, documents };
}

function readsAs(document: ReadDocument, value: JsonObject): boolean {
  return document.kind === 'value' && equalJson(document.value, value);
}

/**
 * The same bytes as before, but for two places where a neighbour's change must reach over: the separator of the document that
 * is first now, and the line end that an appended document needs before its own.
 */
function isKept(buffer: FileBuffer, slot: Extract<Slot, { kind: 'kept' }>, now: ReadDocument): boolean {
  const { text = '', before = '' } = buffer;
  const { slice: then } = slot.document;
  const isFirstNow = now.slice.start === 0 && then.start !== 0;
  const own = before.slice(isFirstNow ? then.bodyStart : then.start, then.end);
  const found = text.slice(isFirstNow ? now.slice.bodyStart : now.slice.start, now.slice.end);
  return found === own || (then.end === before.length && (found === `${own}\n` || found === `${own}\r\n`));
}

function positionOf(buffer: FileBuffer, document: IndexedDocument): number {
  const position = buffer.slots.findIndex((slot) => slot.original === document.index);
  if (position < 0) throw new Error(`${buffer.path} no longer holds document ${document.index + 1}`);
  return position;
}
