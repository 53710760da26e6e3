/** One call to the API server: a deadline, a size limit, the rate limit, and every outcome as a value. */
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../core/json.ts';
import type { Clock } from './clock.ts';
import { aborted, failureOf, type KubeFailure, unreachable } from './result.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For the whole call, waiting for the rate limit included. */
  readonly deadlineMs?: number;
}

export interface Call extends CallOptions {
  readonly method: HttpRequest['method'];
  readonly path: string;
  /** For messages: `get deployments.apps/shop/web`. */
  readonly what: string;
  readonly body?: Json;
  readonly contentType?: string;
  readonly accept?: string;
}

export type Answer = { readonly kind: 'ok'; readonly object: JsonObject } | KubeFailure;

/** What came, unread. */
export interface Content {
  readonly status: number;
  /** The media type it says it is. */
  readonly type: string;
  readonly bytes: Buffer;
}

export type ContentAnswer = (Content & { readonly kind: 'ok' }) | KubeFailure;

export type Opened = { readonly kind: 'ok'; readonly response: HttpResponse } | KubeFailure;

export interface Caller {
  call(call: Call): Promise<Answer>;
  /** The same for whoever reads the content: in another form than JSON, or piece by piece. */
  content(call: Call): Promise<ContentAnswer>;
  /** Opens a stream. The deadline ends with the headers; the signal ends the stream. */
  open(call: Call): Promise<Opened>;
}

export interface CallerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly mayStart: (signal: AbortSignal) => Promise<void>;
  readonly deadlineMs: number;
  readonly responseLimit: number;
}

/** An error answer longer than this is read only so far. */
const errorLimit = 64 * 1024;

type Read = { readonly kind: 'ok'; readonly bytes: Buffer } | { readonly kind: 'too-large' };

export function createCaller(options: CallerOptions): Caller {
  return {
    async call(call) {
      const answer = await leashed(call, (signal) => readContent(call, signal));
      if (answer.kind !== 'ok') return answer;
      const object = objectOf(answer);
      return object === undefined
        ? {
            kind: 'unreachable',
            message: `${call.what}: the answer is not a JSON object`,
            status: answer.status,
          }
        : { kind: 'ok', object };
    },
    content: (call) => leashed(call, (signal) => readContent(call, signal)),
    async open(call) {
      // The stream outlives the call, so it has a signal of its own.
      const stream = new AbortController();
      const end = (): void => stream.abort();
      call.signal?.addEventListener('abort', end, { once: true });
      const opened = await leashed(call, async (signal): Promise<Opened> => {
        signal.addEventListener('abort', end, { once: true });
        const response = await send(call, signal, stream.signal);
        if (response.status >= 300) return failed(call, response);
        signal.removeEventListener('abort', end);
        return { kind: 'ok', response };
      });
      if (opened.kind !== 'ok') {
        call.signal?.removeEventListener('abort', end);
        return opened;
      }
      return {
        kind: 'ok',
        response: releasing(opened.response, () => call.signal?.removeEventListener('abort', end)),
      };
    },
  };

  async function readContent(call: Call, signal: AbortSignal): Promise<ContentAnswer> {
    const response = await send(call, signal, signal);
    if (response.status >= 300) return failed(call, response);
    const read = await readBytes(response, options.responseLimit);
    if (read.kind === 'ok')
      return {
        kind: 'ok',
        status: response.status,
        type: response.header('content-type') ?? '',
        bytes: read.bytes,
      };
    return {
      kind: 'too-large',
      message: `${call.what}: the answer exceeds ${options.responseLimit} bytes`,
    };
  }

  async function send(call: Call, waiting: AbortSignal, signal: AbortSignal): Promise<HttpResponse> {
    await options.mayStart(waiting);
    const headers: Record<string, string> = {
      accept: call.accept ?? 'application/json',
      'user-agent': options.userAgent,
    };
    if (call.body === undefined) {
      return options.transport.send({ method: call.method, path: call.path, headers, signal });
    }
    headers['content-type'] = call.contentType ?? 'application/json';
    const body = printJson(call.body);
    return options.transport.send({ method: call.method, path: call.path, headers, body, signal });
  }

  // Runs a call under its deadline and its caller's signal, and takes its exceptions for what they are: no answer.
  async function leashed<Result>(
    call: Call,
    run: (signal: AbortSignal) => Promise<Result | KubeFailure>,
  ): Promise<Result | KubeFailure> {
    if (call.signal?.aborted) return aborted(call.what);
    const deadlineMs = call.deadlineMs ?? options.deadlineMs;
    const controller = new AbortController();
    let late = false;
    const end = (): void => controller.abort();
    const cancel = options.clock.after(deadlineMs, () => {
      late = true;
      controller.abort();
    });
    call.signal?.addEventListener('abort', end, { once: true });
    try {
      // Getting the credentials cannot be called off, so it is left behind when time is up.
      return await Promise.race([run(controller.signal), rejectedBy(controller.signal)]);
    } catch (error) {
      if (late) return { kind: 'unreachable', message: `${call.what}: no answer within ${deadlineMs} ms` };
      return call.signal?.aborted ? aborted(call.what) : unreachable(call.what, error);
    } finally {
      cancel();
      call.signal?.removeEventListener('abort', end);
    }
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

async function failed(call: Call, response: HttpResponse): Promise<KubeFailure> {
  const read = await readBytes(response, errorLimit);
  const body = read.kind === 'ok' ? read.bytes.toString('utf8') : '';
  return failureOf(call.what, response.status, body, response.header('retry-after'));
}

async function readBytes(response: HttpResponse, limit: number): Promise<Read> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > limit) {
      response.discard();
      return { kind: 'too-large' };
    }
    chunks.push(chunk);
  }
  return { kind: 'ok', bytes: Buffer.concat(chunks, size) };
}

/** The JSON object that the content is; undefined for anything else. */
export function objectOf({ bytes }: Content): JsonObject | undefined {
  try {
    const value = parseJson(bytes.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// Streams come and go by the hundred under one long-lived signal: each must take its listener off again.
function releasing(response: HttpResponse, release: () => void): HttpResponse {
  return {
    status: response.status,
    header: response.header,
    discard() {
      release();
      response.discard();
    },
    body: {
      async *[Symbol.asyncIterator]() {
        try {
          yield* response.body;
        } finally {
          release();
        }
      },
    },
  };
}
