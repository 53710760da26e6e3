/**
 * What happened to the objects of one GitTarget since the flush marks that still matter, and the apply windows that are open.
 *
 * A mark is taken at each flush that an answer rests on. An open answer turns it into a window of the applier that was
 * answered; a superseded one keeps it for its grant. While a mark lives, every edit is noted, so that an apply that writes
 * over it is recognised. While there are none, only the time of the applier's last write of each object is kept.
 */
import { knownAppliers } from '../intent/managers.ts';
import type { JsonObject } from '../json.ts';
import type { ApplierOwner } from '../sanitize/index.ts';
import { type Kept, keptOf, ownersOfChange, ownersOfRemoval } from './same-second.ts';
import { lastWriteOf, newestWriters, printOf, type WriterPrint } from './writers.ts';

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

/** After an edit, a version in which managers gained fields and no value changed: Flux writes one just before it applies. */
interface TakeOver {
  readonly managers: readonly string[];
  /** Milliseconds. */
  readonly at: number;
}

interface Noted {
  /** When the newest edit came; undefined: only the applier's writes were seen. */
  readonly edited: number | undefined;
  readonly print: WriterPrint;
  /** Of the newest version, where that was an edit's; undefined when it is too long to be kept. */
  readonly kept: Kept | undefined;
  readonly tookOver: TakeOver | undefined;
}

export interface ApplyBook {
  /** Counts edits. */
  sequence: number;
  nextId: number;
  readonly marks: Map<number, Marked>;
  readonly windows: Map<number, Marked & ApplyWindow>;
  readonly noted: Map<string, Noted>;
  /**
   * By object: when its applier last wrote it, as the newest version says. A field that a person takes away leaves no entry
   * behind, so that the applier's seems the newest: it made the write only if its time is another one.
   */
  readonly lastWrites: Map<string, number>;
  /** Characters of all that is kept of edits. */
  keptLength: number;
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
/** The apply follows a take-over at once; were it later, its time would show. */
const takeOverMs = 1_000;
/** Characters kept of edits at most; beyond that a write that managedFields do not show counts as an edit. */
const keptLimit = 16 * 1024 * 1024;

export function newBook(): ApplyBook {
  return {
    sequence: 0,
    nextId: 1,
    marks: new Map(),
    windows: new Map(),
    noted: new Map(),
    lastWrites: new Map(),
    keptLength: 0,
  };
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
  const verdict = isIdle(book) ? 'edit' : judgeNow(book, seen, now);
  noteLastWrite(book, seen);
  return verdict;
}

function judgeNow(book: ApplyBook, seen: SeenWrite, now: number): WriteVerdict {
  const { key, object } = seen;
  const windows = windowsOf(book, seen.owner);
  const before = book.noted.get(key);
  if (windows.length === 0 || !isAppliers(book, seen, now)) {
    noteEdit(book, key, object);
    return 'edit';
  }
  const mark = Math.min(...windows.map(({ sequence }) => sequence));
  const overEdit = before?.edited !== undefined && before.edited > mark;
  note(book, key, { edited: undefined, print: printOf(object), kept: undefined, tookOver: undefined });
  return overEdit ? 'collision' : 'echo';
}

/** Notes what a snapshot brought: who wrote it is not known, so it counts as an edit. */
export function noteFound(book: ApplyBook, seen: SeenWrite, now: number): void {
  sweep(book, now);
  if (!isIdle(book)) noteEdit(book, seen.key, seen.object);
  noteLastWrite(book, seen);
}

/** Notes a version that changed nothing of what is mirrored, so that the next one is compared with it. */
export function noteUnchanged(book: ApplyBook, seen: SeenWrite, now: number): void {
  const { key, object } = seen;
  noteLastWrite(book, seen);
  const before = book.noted.get(key);
  if (before === undefined) return;
  const managers = before.edited === undefined ? [] : newestWriters(before.print, object);
  replace(book, key, {
    edited: before.edited,
    print: printOf(object),
    kept: before.kept === undefined ? undefined : keepable(book, before, object, before.kept.managed),
    tookOver: managers.length === 0 ? before.tookOver : { managers, at: now },
  });
}

/** Managers that made the newest write of an object, as far as it and what was noted tell; empty when nothing does. */
export function writersOf(
  book: ApplyBook,
  { key, object }: Pick<SeenWrite, 'key' | 'object'>,
  now: number,
): readonly string[] {
  const before = book.noted.get(key);
  const shown = newestWriters(before?.print, object);
  if (shown.length > 0 || before?.kept === undefined) return shown;
  const { kept, tookOver } = before;
  const changed = ownersOfChange(kept, object);
  if (changed.length > 0 || tookOver === undefined || now - tookOver.at >= takeOverMs) return changed;
  // Nothing was set, so something was taken away: by who took just that over, or by somebody unknown.
  const owned = ownersOfRemoval(kept, object);
  const wasTaken = owned.length > 0 && !owned.some((one) => one === '' || tookOver.managers.includes(one));
  return wasTaken ? tookOver.managers : [];
}

/** The object is gone, whoever took it away. */
export function forgetObject(book: ApplyBook, key: string): void {
  book.lastWrites.delete(key);
}

/** Notes a delete that is not the applier's. */
export function noteDelete(book: ApplyBook, key: string, now: number): void {
  sweep(book, now);
  if (!isIdle(book))
    note(book, key, { edited: ++book.sequence, print: new Map(), kept: undefined, tookOver: undefined });
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
function isAppliers(book: ApplyBook, seen: SeenWrite, now: number): boolean {
  const { key, object, owner } = seen;
  if (owner === undefined) return false;
  const managers: readonly string[] = knownAppliers[owner.kind];
  const writers = writersOf(book, seen, now);
  if (writers.length === 0 || !writers.every((writer) => managers.includes(writer))) return false;
  return book.noted.has(key) || book.lastWrites.get(key) !== lastWriteOf(managers, object);
}

function noteLastWrite(book: ApplyBook, { key, object, owner }: SeenWrite): void {
  const time = owner === undefined ? undefined : lastWriteOf(knownAppliers[owner.kind], object);
  if (time === undefined) book.lastWrites.delete(key);
  else book.lastWrites.set(key, time);
}

function noteEdit(book: ApplyBook, key: string, object: JsonObject): void {
  const kept = keepable(book, book.noted.get(key), object);
  note(book, key, { edited: ++book.sequence, print: printOf(object), kept, tookOver: undefined });
}

function note(book: ApplyBook, key: string, noted: Noted): void {
  forget(book, key);
  replace(book, key, noted);
  const oldest = book.noted.size > notedLimit ? book.noted.keys().next().value : undefined;
  if (oldest !== undefined) forget(book, oldest);
}

function replace(book: ApplyBook, key: string, noted: Noted): void {
  book.keptLength += lengthOf(noted.kept) - lengthOf(book.noted.get(key)?.kept);
  book.noted.set(key, noted);
}

function forget(book: ApplyBook, key: string): void {
  book.keptLength -= lengthOf(book.noted.get(key)?.kept);
  book.noted.delete(key);
}

/** @param managed managedFields to keep instead of the object's own */
function keepable(
  book: ApplyBook,
  before: Noted | undefined,
  object: JsonObject,
  managed?: string,
): Kept | undefined {
  const own = keptOf(object);
  const kept = managed === undefined ? own : { ...own, managed };
  return book.keptLength - lengthOf(before?.kept) + lengthOf(kept) > keptLimit ? undefined : kept;
}

function lengthOf(kept: Kept | undefined): number {
  return kept === undefined ? 0 : kept.values.length + kept.managed.length;
}

function forgetWhenIdle(book: ApplyBook): void {
  if (!isIdle(book)) return;
  book.noted.clear();
  book.keptLength = 0;
}
