/** Commit windows: what is gathered into one commit, and when that ends. */
import type {
  Author,
  BranchState,
  ObjectChange,
  Reconcile,
  Sweep,
  TargetKey,
  Window,
  Write,
} from './state.ts';

/**
 * Decides an applier's own write at once, as a write of its own. An edit of the same object that still gathers is decided
 * before it, so that neither replaces the other.
 */
export function gatherEcho(
  state: BranchState,
  at: number,
  target: TargetKey,
  change: ObjectChange,
): BranchState {
  if (!state.targets.has(target)) return state;
  const next = closeHolders(state, at, target, change.key);
  return decide(next, at, put(openWindow(target, 'live', noAuthor, at), change, at), undefined, undefined);
}

/** Adds a live change; another author or target closes the open window first. */
export function gatherLive(
  state: BranchState,
  at: number,
  target: TargetKey,
  author: Author,
  change: ObjectChange,
): BranchState {
  const settings = state.targets.get(target);
  if (settings === undefined) return state;
  let next = closeSnapshotHolders(state, at, target, change.key);
  if (next.live !== undefined && !(next.live.target === target && sameAuthor(next.live.author, author))) {
    next = closeLive(next, at);
  }
  const window = next.live ?? openWindow(target, 'live', author, at);
  next = { ...next, live: { ...put(window, change, at), author: joinManagers(window.author, author) } };
  if (settings.idleTimeoutMs === 0 || heldBytes(next) > next.byteCap) return closeLive(next, at);
  return next;
}

/** Adds an object of a snapshot that has not settled yet. Snapshots of different collections gather side by side. */
export function gatherSnapshot(
  state: BranchState,
  at: number,
  target: TargetKey,
  collection: string,
  change: ObjectChange,
): BranchState {
  if (!state.targets.has(target)) return state;
  const ready = closeLiveHolder(state, at, target, change.key);
  const key = windowKey(target, collection);
  const window = ready.snapshots.get(key) ?? openWindow(target, 'snapshot', noAuthor, at);
  const next = { ...ready, snapshots: new Map(ready.snapshots).set(key, put(window, change, at)) };
  // At half the cap of its own, so that the stream goes on while the first half is planned and pushed.
  const full = (next.snapshots.get(key)?.bytes ?? 0) > next.byteCap / 2 || heldBytes(next) > next.byteCap;
  return full ? closeSnapshot(next, at, target, collection) : next;
}

/** An object that gathers elsewhere is decided there first: writes of one object keep the order they came in. */
function closeHolders(state: BranchState, at: number, target: TargetKey, key: string): BranchState {
  return closeSnapshotHolders(closeLiveHolder(state, at, target, key), at, target, key);
}

function closeLiveHolder(state: BranchState, at: number, target: TargetKey, key: string): BranchState {
  return state.live?.target === target && state.live.changes.has(key) ? closeLive(state, at) : state;
}

function closeSnapshotHolders(state: BranchState, at: number, target: TargetKey, key: string): BranchState {
  let next = state;
  for (const [open, window] of state.snapshots) {
    if (window.target === target && window.changes.has(key)) next = closeWindow(next, at, open, window);
  }
  return next;
}

export function closeLive(state: BranchState, at: number): BranchState {
  if (state.live === undefined) return state;
  return decide({ ...state, live: undefined }, at, state.live, undefined, undefined);
}

/** Closes the window of a target's collection. A sweep is decided even when the snapshot brought no change. */
export function closeSnapshot(
  state: BranchState,
  at: number,
  target: TargetKey,
  collection: string,
  settled: { readonly reconcile?: Reconcile; readonly sweep?: Sweep | undefined } = {},
): BranchState {
  const key = windowKey(target, collection);
  const sweeps = settled.sweep !== undefined && state.targets.has(target);
  const window =
    state.snapshots.get(key) ?? (sweeps ? openWindow(target, 'snapshot', noAuthor, at) : undefined);
  return window === undefined ? state : closeWindow(state, at, key, window, settled);
}

/** Decides whatever a target still gathers. */
export function closeTarget(state: BranchState, at: number, target: TargetKey): BranchState {
  let next = state.live?.target === target ? closeLive(state, at) : state;
  for (const [key, window] of state.snapshots) {
    if (window.target === target) next = closeWindow(next, at, key, window);
  }
  return next;
}

function closeWindow(
  state: BranchState,
  at: number,
  key: string,
  window: Window,
  settled: { readonly reconcile?: Reconcile; readonly sweep?: Sweep | undefined } = {},
): BranchState {
  const snapshots = new Map(state.snapshots);
  snapshots.delete(key);
  return decide({ ...state, snapshots }, at, window, settled.reconcile, settled.sweep);
}

/** Two targets of one branch may watch the same collection, of one cluster or of two. */
function windowKey(target: TargetKey, collection: string): string {
  return `${target} ${collection}`;
}

export function closeAll(state: BranchState, at: number): BranchState {
  let next = closeLive(state, at);
  for (const [key, window] of state.snapshots) next = closeWindow(next, at, key, window);
  return next;
}

/** When the open live window closes by itself; undefined without one. */
export function liveDeadline(state: BranchState): number | undefined {
  if (state.live === undefined) return undefined;
  const settings = state.targets.get(state.live.target);
  if (settings === undefined) return state.live.lastAt;
  return Math.min(state.live.lastAt + settings.idleTimeoutMs, state.live.openedAt + settings.maxDurationMs);
}

/** Bytes of objects held in memory: open windows and writes the remote has not confirmed. */
export function heldBytes(state: BranchState): number {
  let bytes = state.live?.bytes ?? 0;
  for (const window of state.snapshots.values()) bytes += window.bytes;
  for (const write of state.queue) bytes += write.bytes;
  return bytes;
}

/** True while streams should wait before they bring more. */
export function underPressure(state: BranchState): boolean {
  return heldBytes(state) > state.byteCap;
}

const noAuthor: Author = { managers: [], proof: 'none' };

function openWindow(target: TargetKey, origin: Window['origin'], author: Author, at: number): Window {
  return { target, origin, author, openedAt: at, lastAt: at, bytes: 0, changes: new Map() };
}

function put(window: Window, change: ObjectChange, at: number): Window {
  const before = window.changes.get(change.key);
  const created = before?.operation === 'CREATE' && change.operation === 'UPDATE';
  window.changes.set(change.key, created ? { ...change, operation: 'CREATE' } : change);
  return { ...window, lastAt: at, bytes: window.bytes + change.bytes - (before?.bytes ?? 0) };
}

function decide(
  state: BranchState,
  at: number,
  window: Window,
  reconcile: Reconcile | undefined,
  sweep: Sweep | undefined,
): BranchState {
  const write: Write = {
    sequence: state.nextSequence,
    target: window.target,
    targetUid: state.targets.get(window.target)?.uid ?? '',
    author: window.author,
    changes: [...window.changes.values()],
    reconcile: reconcile ?? (window.origin === 'snapshot' ? reconcileOf(window) : undefined),
    sweep,
    bytes: window.bytes,
    decidedAt: at,
    commit: undefined,
  };
  return { ...state, nextSequence: state.nextSequence + 1, queue: [...state.queue, write] };
}

/** A snapshot window closed early (byte cap, flush) speaks for what it gathered so far. */
function reconcileOf(window: Window): Reconcile | undefined {
  const first = window.changes.values().next().value;
  if (first === undefined) return undefined;
  return { resource: first.resource, namespace: undefined, resourceVersion: '' };
}

function sameAuthor(a: Author, b: Author): boolean {
  return a.proof === b.proof && a.git?.name === b.git?.name && a.git?.email === b.git?.email;
}

function joinManagers(a: Author, b: Author): Author {
  const managers = [...new Set([...a.managers, ...b.managers])].sort();
  return { ...a, managers };
}
