/**
 * The apply window: from the flush mark of an open answer until the apply has ended, the applier's writes are told from
 * edits. Values only; the worker's feeds call it for every write, the doors open and close the windows.
 */
export {
  type ApplyBook,
  type ApplyWindow,
  closeWindow,
  dropMark,
  isIdle,
  judge,
  newBook,
  noteDelete,
  noteUnchanged,
  openWindow,
  revisionsApplied,
  type SeenWrite,
  takeMark,
  type WriteVerdict,
} from './book.ts';
export { newestWriters, printOf, type WriterPrint } from './writers.ts';
