/**
 * Keeps one collection in view for as long as it runs: a snapshot first, then every change in order, over any number
 * of connections. It tells a handler and decides nothing about edits; `stream-set.ts` runs many of these.
 */
import { isObject, type JsonObject } from '../core/json.ts';
import { afterSession, type Backoff, delayMs, longestBackoff, noBackoff } from './backoff.ts';
import { type KubeClient, resourceVersionOf } from './client.ts';
import { type Clock, pause, systemClock } from './clock.ts';
import type { Collection, Snapshot, StreamHandler, StreamReason, StreamState } from './collection.ts';
import { compareResourceVersions, describeRef, type Query } from './resource.ts';
import { type StreamTurn, streamTurns } from './turns.ts';
import { runSession, type SessionEnd, type WatchEvent } from './watch-session.ts';

export interface StreamOptions {
  readonly client: KubeClient;
  readonly collection: Collection;
  readonly handler: StreamHandler;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** A resourceVersion up to which everything was handled: no snapshot unless the server has forgotten it. */
  readonly resumeFrom?: string;
  /** Silence after which a connection counts as dead. Bookmarks come about every minute. Default 90 s. */
  readonly stallMs?: number;
  /** Bytes of one event. Default 32 MiB. */
  readonly lineLimit?: number;
  /** Asked before each snapshot, so that not all are read at once; the function it gives releases. */
  readonly replaySlot?: (signal: AbortSignal) => Promise<() => void>;
  /** Turns between events; of its own when absent. */
  readonly turn?: StreamTurn;
}

/** What has happened so far, for metrics and tests. */
export interface StreamCounts {
  sessions: number;
  snapshots: number;
  events: number;
  bookmarks: number;
  stalls: number;
}

interface Replay {
  readonly startedAt: number;
  readonly keys: Set<string>;
  readonly via: Snapshot['via'];
  readonly release: () => void;
}

const defaultStallMs = 90_000;
const defaultLineLimit = 32 * 1024 * 1024;
/** How long a server may be silent inside its first streaming list before we take it not to know streaming lists. */
const firstWatchListPatienceMs = 10_000;
/** A server that refused streaming lists is asked again after this; it may have been upgraded. */
const watchListRetryMs = 3_600_000;

export class CollectionStream {
  readonly collection: Collection;
  readonly counts: StreamCounts = { sessions: 0, snapshots: 0, events: 0, bookmarks: 0, stalls: 0 };
  readonly #options: StreamOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #turn: StreamTurn;
  readonly #stopped = new AbortController();
  #attempt = new AbortController();
  #running: Promise<void> | undefined;
  #state: StreamState = { phase: 'replaying' };
  #stateTold = false;
  #resourceVersion: string;
  #replay: Replay | undefined;
  #backoff: Backoff = noBackoff;
  #leastDelayMs = 0;
  #watchList: 'untried' | 'served' | 'refused' = 'untried';
  #watchListRefusedAt = 0;
  #brokenWatchLists = 0;
  #openedAt: number | undefined;
  #resyncWanted = false;
  #pausing = false;

  constructor(options: StreamOptions) {
    this.collection = options.collection;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#turn = options.turn ?? streamTurns(this.#clock);
    this.#resourceVersion = options.resumeFrom ?? '';
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Everything up to here was told; '' before the first snapshot settled. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Runs until `stop`. Rejects with what the handler threw: that is a bug, and nothing is told after it. */
  run(): Promise<void> {
    this.#running ??= this.#loop();
    return this.#running;
  }

  /** Ends the connection. When it resolves, no handler call is going on and none will follow. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#attempt.abort();
    // A failure of the handler belongs to whoever called `run`.
    await this.#running?.catch(() => undefined);
  }

  /** Reads a new snapshot at once. */
  resync(): void {
    this.#resyncWanted = true;
    this.#attempt.abort();
  }

  /** Ends the wait for the next attempt: somebody knows that the server answers again. */
  hurry(): void {
    if (!this.#pausing) return;
    this.#backoff = noBackoff;
    this.#attempt.abort();
  }

  async #loop(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      if (this.#resyncWanted) {
        this.#resyncWanted = false;
        this.#resourceVersion = '';
        this.#backoff = noBackoff;
      }
      const delay = Math.max(delayMs(this.#backoff, this.#random()), this.#leastDelayMs);
      this.#leastDelayMs = 0;
      this.#attempt = new AbortController();
      if (delay > 0) await this.#pause(delay);
      if (this.#attempt.signal.aborted) continue;
      this.#openedAt = undefined;
      try {
        const end = await this.#connect(this.#attempt.signal);
        if (!this.#attempt.signal.aborted) await this.#conclude(end);
      } finally {
        this.#endReplay();
        this.#attempt.abort();
      }
    }
  }

  async #pause(delay: number): Promise<void> {
    this.#pausing = true;
    await pause(this.#clock, delay, this.#attempt.signal);
    this.#pausing = false;
  }

  async #connect(signal: AbortSignal): Promise<SessionEnd> {
    if (this.#resourceVersion !== '') return this.#resume(signal);
    if (this.#mayTryWatchList()) {
      await this.#beginReplay('watch-list', signal);
      const end = await this.#session(signal, {
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
      });
      if (this.#replay === undefined || signal.aborted || !this.#speaksAgainstWatchList(end)) return end;
      this.#watchList = 'refused';
      this.#watchListRefusedAt = this.#clock.now();
      this.#endReplay();
    }
    await this.#beginReplay('pages', signal);
    const failure = await this.#readPages(signal);
    return failure ?? this.#resume(signal);
  }

  #resume(signal: AbortSignal): Promise<SessionEnd> {
    return this.#session(signal, { resourceVersion: this.#resourceVersion });
  }

  #session(signal: AbortSignal, query: Query): Promise<SessionEnd> {
    this.counts.sessions += 1;
    const stallMs = this.#options.stallMs ?? defaultStallMs;
    return runSession({
      client: this.#options.client,
      collection: this.collection,
      query: {
        ...query,
        labelSelector: this.collection.labelSelector,
        allowWatchBookmarks: true,
        // Spread over five minutes, so that streams opened together do not end together.
        timeoutSeconds: 300 + Math.floor(this.#random() * 300),
      },
      clock: this.#clock,
      signal,
      lineLimit: this.#options.lineLimit ?? defaultLineLimit,
      stallMs: () =>
        this.#replay !== undefined && this.#watchList === 'untried'
          ? Math.min(firstWatchListPatienceMs, stallMs)
          : stallMs,
      onOpen: async () => {
        this.#openedAt = this.#clock.now();
        if (this.#replay === undefined) await this.#tell({ phase: 'streaming' });
      },
      onEvent: (event) => this.#onEvent(event),
      turn: () => this.#turn(this.#replay === undefined ? 'live' : 'long'),
    });
  }

  #onEvent(event: WatchEvent): SessionEnd | undefined | Promise<SessionEnd | undefined> {
    if (event.type === 'bookmark') return this.#onBookmark(event.resourceVersion, event.initialEnd);
    this.counts.events += 1;
    const { handler } = this.#options;
    const { object } = event;
    const replay = this.#replay;
    const key = replay === undefined ? '' : snapshotKey(object);
    if (event.type === 'delete') replay?.keys.delete(key);
    else replay?.keys.add(key);
    const told =
      event.type === 'delete'
        ? handler.delete(object)
        : handler.upsert(object, replay === undefined ? 'live' : 'snapshot');
    if (told instanceof Promise) return told.then(() => this.#handled(object));
    return this.#handled(object);
  }

  // Inside a snapshot the order of versions means nothing yet.
  #handled(object: JsonObject): undefined {
    if (this.#replay === undefined)
      this.#resourceVersion = resourceVersionOf(object) || this.#resourceVersion;
    return undefined;
  }

  async #onBookmark(resourceVersion: string, initialEnd: boolean): Promise<SessionEnd | undefined> {
    this.counts.bookmarks += 1;
    const what = `watch ${describeRef(this.collection)}`;
    if (this.#replay !== undefined) {
      if (initialEnd) {
        this.#watchList = 'served';
        await this.#settle(resourceVersion);
      } else if (this.#watchList === 'untried') {
        return { kind: 'invalid', status: 0, message: `${what}: the server ignores sendInitialEvents` };
      }
      return undefined;
    }
    // Only a cluster restored from a backup goes back. What was told since is not there any more.
    if ((compareResourceVersions(resourceVersion, this.#resourceVersion) ?? 0) < 0) {
      return {
        kind: 'gone',
        message: `${what}: the server is at an older resourceVersion than we were told`,
      };
    }
    this.#resourceVersion = resourceVersion;
    await this.#options.handler.progress(resourceVersion);
    return undefined;
  }

  async #readPages(signal: AbortSignal): Promise<SessionEnd | undefined> {
    const { client, handler } = this.#options;
    let resourceVersion = '';
    for await (const page of client.list(this.collection, {
      labelSelector: this.collection.labelSelector,
      signal,
    })) {
      if (page.kind !== 'ok') return page;
      resourceVersion = page.resourceVersion;
      for (const object of page.items) {
        this.#replay?.keys.add(snapshotKey(object));
        const told = handler.upsert(object, 'snapshot');
        if (told instanceof Promise) await told;
        const turn = this.#turn('long');
        if (turn !== undefined) await turn;
        if (signal.aborted) return { kind: 'aborted', message: 'called off' };
      }
    }
    await this.#settle(resourceVersion);
    return undefined;
  }

  #mayTryWatchList(): boolean {
    if (this.#watchList !== 'refused') return true;
    if (this.#clock.now() - this.#watchListRefusedAt < watchListRetryMs) return false;
    this.#watchList = 'untried';
    return true;
  }

  #speaksAgainstWatchList(end: SessionEnd): boolean {
    if (this.#watchList === 'served') return false;
    if (end.kind === 'closed') {
      // Once may be bad luck.
      this.#brokenWatchLists += 1;
      return this.#brokenWatchLists > 1;
    }
    return end.kind === 'invalid' || end.kind === 'stalled';
  }

  async #beginReplay(via: Snapshot['via'], signal: AbortSignal): Promise<void> {
    const release = (await this.#options.replaySlot?.(signal)) ?? (() => undefined);
    this.#replay = { startedAt: this.#clock.now(), keys: new Set(), via, release };
    await this.#tell({ phase: 'replaying' });
  }

  async #settle(resourceVersion: string): Promise<void> {
    const replay = this.#replay;
    if (replay === undefined) return;
    const { keys, via, startedAt } = replay;
    const durationMs = this.#clock.now() - startedAt;
    await this.#options.handler.settled({ resourceVersion, count: keys.size, keys, via, durationMs });
    this.counts.snapshots += 1;
    this.#resourceVersion = resourceVersion;
    this.#endReplay();
    await this.#tell({ phase: 'streaming' });
  }

  #endReplay(): void {
    this.#replay?.release();
    this.#replay = undefined;
  }

  async #conclude(end: SessionEnd): Promise<void> {
    const lived = this.#openedAt === undefined ? 0 : this.#clock.now() - this.#openedAt;
    this.#backoff = afterSession(this.#backoff, lived);
    switch (end.kind) {
      case 'closed':
        // A session that ends in its time is no news, unless its snapshot was not whole.
        if (this.#replay === undefined) return;
        return this.#block('Unreachable', 'the connection closed before the snapshot was whole');
      case 'gone':
        this.#resourceVersion = '';
        return;
      case 'stalled':
        this.counts.stalls += 1;
        return this.#block('Unreachable', end.message);
      case 'malformed':
        return this.#block('MalformedStream', end.message);
      case 'forbidden':
      case 'unauthorized':
        this.#backoff = longestBackoff;
        return this.#block('WatchNotPermitted', end.message);
      case 'not-found':
        return this.#block('NotServed', end.message);
      case 'too-many-requests':
        this.#leastDelayMs = end.retryAfterMs;
        return this.#block('Throttled', end.message);
      case 'invalid':
        // Whatever it dislikes, a new snapshot asks for nothing special.
        this.#resourceVersion = '';
        return this.#block('Unreachable', end.message);
      default:
        return this.#block('Unreachable', end.message);
    }
  }

  #block(reason: StreamReason, message: string): Promise<void> {
    return this.#tell({ phase: 'blocked', reason, message });
  }

  async #tell(state: StreamState): Promise<void> {
    const same =
      state.phase === this.#state.phase &&
      (state.phase !== 'blocked' || (this.#state.phase === 'blocked' && state.reason === this.#state.reason));
    if (same && this.#stateTold) return;
    this.#state = state;
    this.#stateTold = true;
    await this.#options.handler.state(state);
  }
}

function snapshotKey({ metadata }: JsonObject): string {
  if (!isObject(metadata)) return '';
  const { namespace, name } = metadata;
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : `${name}`;
}
