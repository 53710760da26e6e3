/** One file of the folder with all that the index derives from it. */
import type { ObjectId } from '../identity.ts';
import type { FileDocument, ParsedFile, ScaleTarget } from './parsed-file.ts';
import type { TreeEntry } from './tree.ts';

export interface IndexedDocument {
  /** As written: the namespace is '' when the document states none. */
  readonly id: ObjectId;
  readonly apiVersion: string;
  readonly path: string;
  /** Position among the documents of the file, empty ones counted. */
  readonly index: number;
  readonly notEditable?: string;
  readonly encrypted: boolean;
  /** The workload whose size this object sets. */
  readonly scales?: ScaleTarget;
}

export interface Skipped {
  readonly path: string;
  /** A short phrase for a person. */
  readonly reason: string;
}

export interface IndexedFile {
  readonly entry: TreeEntry;
  readonly documents: readonly IndexedDocument[];
  /** Documents of any kind, those without content left out. */
  readonly filled: number;
  /** Only of a file that holds more than records: most files do not, and there are many. */
  readonly parsed?: ParsedFile;
  /** Holds text that could describe an object although it gave no record. */
  readonly isUnclear: boolean;
  /** The first reason why the file, or a part of it, is not read. */
  readonly skipped?: Skipped;
}

export function indexFile(entry: TreeEntry, parsed: ParsedFile): IndexedFile {
  const { path } = entry;
  if (!parsed.ok) {
    const skipped = { path, reason: `not readable: ${parsed.message}` };
    return { entry, documents: [], filled: 0, parsed, isUnclear: true, skipped };
  }
  const skipped = skippedPart(path, parsed.documents);
  const isRead = parsed.documents.every(({ kind }) => kind === 'record' || kind === 'empty');
  return {
    entry,
    // The copy is as long as it has to be; flatMap leaves room to grow, in memory for every file.
    documents: parsed.documents.flatMap((document, index) => indexDocument(document, path, index)).slice(),
    filled: parsed.documents.filter(({ kind }) => kind !== 'empty').length,
    isUnclear: parsed.documents.some(isUnclear),
    ...(isRead ? {} : { parsed }),
    ...(skipped === undefined ? {} : { skipped }),
  };
}

/** The same content at another path, or with another mode. */
export function placedAt(file: IndexedFile, entry: TreeEntry): IndexedFile {
  const { path, mode } = entry;
  if (file.entry.path === path && file.entry.mode === mode) return file;
  return {
    ...file,
    entry,
    documents: file.documents.map((document) => ({ ...document, path })),
    ...(file.skipped === undefined ? {} : { skipped: { ...file.skipped, path } }),
  };
}

function indexDocument(document: FileDocument, path: string, index: number): IndexedDocument[] {
  if (document.kind !== 'record') return [];
  const { kind: _kind, ...facts } = document;
  return [{ ...facts, path, index }];
}

function isUnclear(document: FileDocument): boolean {
  if (document.kind === 'record') return isVariable(document.id.name) || isVariable(document.id.namespace);
  return document.kind !== 'empty';
}

/** A name that something replaces after Git: not yet the name of an object. */
function isVariable(text: string): boolean {
  return text.includes('${') || text.includes('{{');
}

function skippedPart(path: string, documents: readonly FileDocument[]): Skipped | undefined {
  for (const [index, document] of documents.entries()) {
    const where = documents.length > 1 ? `document ${index + 1}: ` : '';
    if (document.kind === 'unreadable') return { path, reason: `${where}not readable: ${document.reason}` };
    if (document.kind === 'other') return { path, reason: `${where}${document.reason}` };
  }
  return undefined;
}
