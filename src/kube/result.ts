/** What a call to the API server can come to. Every failure is a value; only bugs throw. */
import { isObject, type Json, parseJson } from '../core/json.ts';

export type KubeFailure =
  /** 404: the object, or the whole resource, is not there. */
  | { readonly kind: 'not-found'; readonly message: string }
  /** 409 on create: the name is taken. */
  | { readonly kind: 'exists'; readonly message: string }
  /** 409 otherwise: the resourceVersion is old, or another field manager owns a field. */
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'forbidden'; readonly message: string }
  | { readonly kind: 'unauthorized'; readonly message: string }
  /** 410: the resourceVersion or the continue token is too old. */
  | { readonly kind: 'gone'; readonly message: string }
  /** 400, 422 and every other 4xx: the same request will fail again. */
  | { readonly kind: 'invalid'; readonly message: string; readonly status: number }
  | { readonly kind: 'too-many-requests'; readonly message: string; readonly retryAfterMs: number }
  /** The answer is larger than we read. */
  | { readonly kind: 'too-large'; readonly message: string }
  /** No answer in time, no connection, an answer that is not JSON, or 5xx. Nothing is known, the write may have happened. */
  | { readonly kind: 'unreachable'; readonly message: string; readonly status?: number }
  /** The caller's signal aborted. */
  | { readonly kind: 'aborted'; readonly message: string };

const messageLimit = 1000;
const defaultRetryAfterMs = 1000;
const retryAfterLimitMs = 60_000;

/** Reads a status code with its body (a `Status` object, or anything else) as a failure. `what` names the call. */
export function failureOf(
  what: string,
  status: number,
  body: string,
  retryAfter: string | undefined,
): KubeFailure {
  const said = readStatus(body);
  const message = bounded(`${what}: ${said.message === '' ? `HTTP status ${status}` : said.message}`);
  switch (status) {
    case 401:
      return { kind: 'unauthorized', message };
    case 403:
      return { kind: 'forbidden', message };
    case 404:
      return { kind: 'not-found', message };
    case 409:
      return { kind: said.reason === 'AlreadyExists' ? 'exists' : 'conflict', message };
    case 410:
      return { kind: 'gone', message };
    case 429:
      return { kind: 'too-many-requests', message, retryAfterMs: retryAfterMs(retryAfter) };
    default:
      return status >= 400 && status < 500
        ? { kind: 'invalid', message, status }
        : { kind: 'unreachable', message, status };
  }
}

/** A failure of the connection itself. The error's own text never holds a header or a body. */
export function unreachable(what: string, error: unknown): KubeFailure {
  return { kind: 'unreachable', message: bounded(`${what}: ${describe(error)}`) };
}

export function aborted(what: string): KubeFailure {
  return { kind: 'aborted', message: `${what}: called off` };
}

function readStatus(body: string): { message: string; reason: string } {
  const status = tryParse(body);
  if (!isObject(status) || status.kind !== 'Status') return { message: '', reason: '' };
  return {
    message: typeof status.message === 'string' ? status.message : '',
    reason: typeof status.reason === 'string' ? status.reason : '',
  };
}

function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

// Only the seconds form: the API server never sends a date.
function retryAfterMs(header: string | undefined): number {
  if (header === undefined || !/^\d+$/.test(header)) return defaultRetryAfterMs;
  return Math.min(Number(header) * 1000, retryAfterLimitMs);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { code } = error as { code?: unknown };
  const text = error.message === '' ? error.name : error.message;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
}

function bounded(message: string): string {
  return message.length <= messageLimit ? message : `${message.slice(0, messageLimit)}…`;
}
