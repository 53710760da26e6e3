/**
 * The apply window: from the flush mark of an open answer until the apply has ended, the applier's writes are told from
 * edits. Values only; the worker's feeds call it for every write, the doors open and close the windows. Also here: the life of
 * an Argo CD operation, and the ways past its gate.
 */
export {
  type ApplyBook,
  type ApplyWindow,
  closeWindow,
  dropMark,
  forgetObject,
  isIdle,
  judge,
  newBook,
  noteDelete,
  noteFound,
  noteUnchanged,
  openWindow,
  revisionsApplied,
  type SeenWrite,
  takeMark,
  type WriteVerdict,
  writersOf,
} from './book.ts';
export {
  type Bypass,
  bypassesOf,
  compareBypasses,
  describeBypass,
  type GatedApplication,
  type LastSync,
} from './bypass.ts';
export { continuedForMs, type EarlierAnswer, leftToDo } from './earlier.ts';
export {
  type AfterSuperseded,
  afterSuperseded,
  combined,
  type GateChecks,
  hasEnded,
  type Since,
  type Standing,
  type SyncOperation,
  type SyncSource,
  standingOf,
  supersededMessage,
} from './operation.ts';
export { newestWriters, printOf, type WriterPrint } from './writers.ts';
