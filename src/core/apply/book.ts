/**
 * What happened to the objects of one GitTarget since the flush marks that still matter, and the apply windows that are open.
 *
 * A mark is taken at each flush that an answer rests on. An open answer turns it into a window of the applier that was
 * answered; a superseded one keeps it for its grant. While a mark lives, every edit is noted, so that an apply that writes
 * over it is recognised. Nothing is noted while there are none.
 */
import { knownAppliers } from '../intent/managers.ts';
import type { JsonObject } from '../json.ts';
import type { ApplierOwner } from '../sanitize/index.ts';
import { newestWriters, printOf, type WriterPrint } from './writers.ts';

export interface ApplyWindow {
  /** Whose apply it is. */
  readonly holder: ApplierOwner;
  /** The commit it applies. */
  readonly revision: string;
  readonly until: number;
}

interface Marked {
  readonly sequence: number;
  readonly until: number;
}

interface Noted {
  /** When the newest edit came; undefined: only the applier's writes were seen. */
  readonly edited: number | undefined;
  readonly print: WriterPrint;
}

export interface ApplyBook {
  /** Counts edits. */
  sequence: number;
  nextId: number;
  readonly marks: Map<number, Marked>;
  readonly windows: Map<number, Marked & ApplyWindow>;
  readonly noted: Map<string, Noted>;
}

/** One version of an object as its stream brought it. */
export interface SeenWrite {
  readonly key: string;
  readonly object: JsonObject;
  readonly owner: ApplierOwner | undefined;
}

export type WriteVerdict =
  /** A person's or a program's; to be planned. */
  | 'edit'
  /** The applier's own: it brings what Git states, so there is nothing to write. */
  | 'echo'
  /** The applier's, over an edit made after its mark: the edit is committed, this write is not. */
  | 'collision';

/** Objects noted at most; beyond that the oldest are forgotten, and an apply over them counts as an edit. */
const notedLimit = 20_000;

export function newBook(): ApplyBook {
  return { sequence: 0, nextId: 1, marks: new Map(), windows: new Map(), noted: new Map() };
}

/** Takes a mark at this very moment. Returns its id. */
export function takeMark(book: ApplyBook, until: number): number {
  const id = book.nextId++;
  book.marks.set(id, { sequence: book.sequence, until });
  return id;
}

export function dropMark(book: ApplyBook, id: number): void {
  book.marks.delete(id);
  forgetWhenIdle(book);
}

/** Opens a window that begins at a mark; the mark stays until it is dropped. Undefined: the mark is gone. */
export function openWindow(book: ApplyBook, mark: number, window: ApplyWindow): number | undefined {
  const marked = book.marks.get(mark);
  if (marked === undefined) return undefined;
  const id = book.nextId++;
  book.windows.set(id, { ...window, sequence: marked.sequence });
  return id;
}

export function closeWindow(book: ApplyBook, id: number): void {
  book.windows.delete(id);
  forgetWhenIdle(book);
}

/** Forgets what has run out. */
export function sweep(book: ApplyBook, now: number): void {
  for (const kept of [book.marks, book.windows])
    for (const [id, { until }] of kept) if (until <= now) kept.delete(id);
  forgetWhenIdle(book);
}

export function isIdle(book: ApplyBook): boolean {
  return book.marks.size === 0 && book.windows.size === 0;
}

/** Judges a write and notes it. */
export function judge(book: ApplyBook, seen: SeenWrite, now: number): WriteVerdict {
  sweep(book, now);
  if (isIdle(book)) return 'edit';
  const before = book.noted.get(seen.key);
  const windows = windowsOf(book, seen.owner);
  const writers = newestWriters(before?.print, seen.object);
  const print = printOf(seen.object);
  if (windows.length === 0 || !areAppliers(writers, seen.owner)) {
    note(book, seen.key, { edited: ++book.sequence, print });
    return 'edit';
  }
  const mark = Math.min(...windows.map(({ sequence }) => sequence));
  const overEdit = before?.edited !== undefined && before.edited > mark;
  note(book, seen.key, { edited: undefined, print });
  return overEdit ? 'collision' : 'echo';
}

/** Notes a version that changed nothing of what is mirrored, so that the next one is compared with it. */
export function noteUnchanged(book: ApplyBook, key: string, object: JsonObject): void {
  const before = book.noted.get(key);
  if (before !== undefined) book.noted.set(key, { ...before, print: printOf(object) });
}

/** Notes a delete that is not the applier's. */
export function noteDelete(book: ApplyBook, key: string, now: number): void {
  sweep(book, now);
  if (!isIdle(book)) note(book, key, { edited: ++book.sequence, print: new Map() });
}

/** Revisions that an apply of this owner may be bringing now; a disappearance that they explain is its prune. */
export function revisionsApplied(
  book: ApplyBook,
  owner: ApplierOwner | undefined,
  now: number,
): readonly string[] {
  sweep(book, now);
  return [...new Set(windowsOf(book, owner).map(({ revision }) => revision))];
}

function windowsOf(book: ApplyBook, owner: ApplierOwner | undefined): (Marked & ApplyWindow)[] {
  if (owner === undefined) return [];
  return [...book.windows.values()].filter(({ holder }) => isSame(holder, owner));
}

/** Argo CD's mark may leave the namespace of the Application out. */
function isSame(holder: ApplierOwner, owner: ApplierOwner): boolean {
  if (owner.isForeign) return false;
  const sameNamespace = owner.namespace === '' || owner.namespace === holder.namespace;
  return holder.kind === owner.kind && holder.name === owner.name && sameNamespace;
}

/** True when the applier alone wrote. A tie with anybody else is not proven. */
function areAppliers(writers: readonly string[], owner: ApplierOwner | undefined): boolean {
  if (owner === undefined || writers.length === 0) return false;
  const managers: readonly string[] = knownAppliers[owner.kind];
  return writers.every((writer) => managers.includes(writer));
}

function note(book: ApplyBook, key: string, noted: Noted): void {
  book.noted.delete(key);
  book.noted.set(key, noted);
  const oldest = book.noted.size > notedLimit ? book.noted.keys().next().value : undefined;
  if (oldest !== undefined) book.noted.delete(oldest);
}

function forgetWhenIdle(book: ApplyBook): void {
  if (isIdle(book)) book.noted.clear();
}
