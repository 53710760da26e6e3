/** One watch connection, from its opening to its end. It keeps no state between connections; `watch.ts` does. */
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../core/json.ts';
import { type KubeClient, resourceVersionOf } from './client.ts';
import type { Clock } from './clock.ts';
import type { Collection } from './collection.ts';
import { lineSplitter } from './lines.ts';
import { describeRef, type Query } from './resource.ts';
import { failureOf, type KubeFailure } from './result.ts';

export type WatchEvent =
  | { readonly type: 'upsert' | 'delete'; readonly object: JsonObject }
  /** `initialEnd`: the objects that existed at the opening have all been told. */
  | { readonly type: 'bookmark'; readonly resourceVersion: string; readonly initialEnd: boolean };

export type SessionEnd =
  /** The server ended it or the connection broke. Both are resumed. */
  | { readonly kind: 'closed' }
  /** Neither an event nor a bookmark for too long. */
  | { readonly kind: 'stalled'; readonly message: string }
  | { readonly kind: 'malformed'; readonly message: string }
  | KubeFailure;

export interface Session {
  readonly client: KubeClient;
  readonly collection: Collection;
  readonly query: Query;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly lineLimit: number;
  /** Asked anew before each wait, because a snapshot has less patience than a quiet stream. */
  stallMs(): number;
  onOpen(): void | Promise<void>;
  /** An end returned is the session's end. */
  onEvent(event: WatchEvent): SessionEnd | undefined | Promise<SessionEnd | undefined>;
  /** Asked after each event: what is returned is awaited, so that others have their turn. */
  turn(): Promise<void> | undefined;
}

const openDeadlineMs = 30_000;
const initialEndAnnotation = 'k8s.io/initial-events-end';

export async function runSession(session: Session): Promise<SessionEnd> {
  const { client, collection, signal } = session;
  const what = `watch ${describeRef(collection)}`;
  const controller = new AbortController();
  const end = (): void => controller.abort();
  if (signal.aborted) return { kind: 'aborted', message: `${what}: called off` };
  signal.addEventListener('abort', end, { once: true });
  try {
    const opened = await client.watch(collection, session.query, {
      signal: controller.signal,
      deadlineMs: openDeadlineMs,
    });
    if (opened.kind !== 'ok') return opened;
    await session.onOpen();
    return await read(session, opened.response.body, controller, what);
  } finally {
    signal.removeEventListener('abort', end);
    controller.abort();
  }
}

async function read(
  session: Session,
  body: AsyncIterable<Uint8Array>,
  controller: AbortController,
  what: string,
): Promise<SessionEnd> {
  const { signal } = session;
  const splitter = lineSplitter(session.lineLimit);
  const chunks = body[Symbol.asyncIterator]();
  while (true) {
    const next = await nextChunk(session, chunks, controller);
    if (signal.aborted) return { kind: 'aborted', message: `${what}: called off` };
    if (next === 'stalled')
      return { kind: 'stalled', message: `${what}: silent for ${session.stallMs()} ms` };
    if (next === 'closed') return { kind: 'closed' };
    const { lines, tooLong } = splitter.push(next);
    for (const line of lines) {
      const event = readEvent(line, what);
      if ('kind' in event) return event;
      const told = session.onEvent(event);
      const answer = told instanceof Promise ? await told : told;
      if (signal.aborted) return { kind: 'aborted', message: `${what}: called off` };
      if (answer !== undefined) return answer;
      const turn = session.turn();
      if (turn !== undefined) {
        await turn;
        if (signal.aborted) return { kind: 'aborted', message: `${what}: called off` };
      }
    }
    if (tooLong) {
      return { kind: 'malformed', message: `${what}: a line exceeds ${session.lineLimit} bytes` };
    }
  }
}

// The timer runs only while we wait for the server: the time our handler takes is not the server's silence.
async function nextChunk(
  session: Session,
  chunks: AsyncIterator<Uint8Array>,
  controller: AbortController,
): Promise<Uint8Array | 'stalled' | 'closed'> {
  let stalled = false;
  const cancel = session.clock.after(session.stallMs(), () => {
    stalled = true;
    controller.abort();
  });
  try {
    const next = await chunks.next();
    return next.done ? 'closed' : next.value;
  } catch {
    return stalled ? 'stalled' : 'closed';
  } finally {
    cancel();
  }
}

function readEvent(line: string, what: string): WatchEvent | SessionEnd {
  const event = parse(line);
  if (!isObject(event) || !isObject(event.object)) {
    return { kind: 'malformed', message: `${what}: a line of ${line.length} characters is no watch event` };
  }
  const { type, object } = event;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'upsert', object };
    case 'DELETED':
      return { type: 'delete', object };
    case 'BOOKMARK':
      return {
        type: 'bookmark',
        resourceVersion: resourceVersionOf(object),
        initialEnd: marksInitialEnd(object),
      };
    case 'ERROR':
      return failureOf(
        what,
        typeof object.code === 'number' ? object.code : 500,
        printJson(object),
        undefined,
      );
    default:
      return { kind: 'malformed', message: `${what}: an event of an unknown type` };
  }
}

function marksInitialEnd({ metadata }: JsonObject): boolean {
  if (!isObject(metadata) || !isObject(metadata.annotations)) return false;
  return metadata.annotations[initialEndAnnotation] === 'true';
}

function parse(line: string): Json | undefined {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}
