/**
 * Answers of Flux's servers, asked for and carried on by the artifact listener. A body of known length goes from socket to
 * socket through one buffer: a stream makes a new one for every 64 KiB, and collecting those costs more than the bytes do.
 */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { request as requestTls } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { Wire } from './wire.ts';

export interface UpstreamRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Silence after which it is given up, also that of a fetcher who takes nothing. */
  readonly idleMs: number;
}

export interface Upstream {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingMessage['headers'];
  /**
   * Streams the body into the answer, whose head must be written, and ends it.
   * Rejects when either side broke off; the answer is destroyed then, so that it never seems whole.
   */
  carry(): Promise<void>;
}

/** @param answer what it is for: when that closes, the connection goes as well */
export function openUpstream(
  url: URL,
  { method, headers, idleMs }: UpstreamRequest,
  answer: ServerResponse,
): Promise<Upstream | Error> {
  return new Promise((resolve) => {
    let wire: Wire | undefined;
    const asked =
      url.protocol === 'https:'
        ? requestTls(url, { method, headers, timeout: idleMs, agent: false })
        : request(url, {
            ...{ method, headers },
            createConnection({ host, port }) {
              wire = new Wire({ host: host ?? '', port: Number(port) }, idleMs);
              return wire;
            },
          });
    asked.on('response', (message) => {
      const { statusCode: status = 502, statusMessage: reason = '' } = message;
      resolve({ status, reason, headers: message.headers, carry: () => carry(message, wire, answer) });
    });
    asked.on('timeout', () => asked.destroy(new Error('silent for too long')));
    asked.on('error', resolve);
    answer.on('close', () => {
      asked.destroy();
      // The client leaves a connection open whose answer is whole.
      wire?.destroy();
    });
    asked.end();
  });
}

async function carry(
  message: IncomingMessage,
  wire: Wire | undefined,
  answer: ServerResponse,
): Promise<void> {
  const length = lengthOf(message);
  // Of what the parser has not seen, nothing may lie in between.
  if (wire === undefined || length === undefined || message.complete || wire.readableLength > 0)
    return await pipeline(message, answer);
  // The parser sees no more, and will say that the body was cut short.
  message.on('error', () => undefined);
  const begun: Buffer = message.read() ?? Buffer.alloc(0);
  await pour(wire, { begun, length }, answer);
}

/** Bytes of a body that comes as it is; undefined when that is not sure. */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'] ?? '';
  return headers['transfer-encoding'] === undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

function pour(
  wire: Wire,
  { begun, length }: { readonly begun: Buffer; readonly length: number },
  answer: ServerResponse,
): Promise<void> {
  let left = length;
  return new Promise((resolve, reject) => {
    const breakOff = (error: Error) => {
      wire.destroy();
      answer.destroy();
      reject(error);
    };
    const pass = (bytes: Uint8Array) => {
      const part = bytes.subarray(0, left);
      left -= part.length;
      answer.write(part, (error) => {
        if (error) breakOff(error);
        // Not before: the next bytes come into the same buffer.
        else if (left > 0) wire.next();
        else {
          wire.destroy();
          answer.end(resolve);
        }
      });
    };
    wire.on('close', () => {
      if (left > 0) breakOff(wire.errored ?? new Error(`${left} of ${length} bytes are missing`));
    });
    answer.on('close', () => breakOff(new Error('the fetcher went away')));
    if (answer.destroyed || wire.destroyed) return breakOff(new Error('it broke off at its head'));
    wire.divert(pass);
    if (begun.length > 0) pass(begun);
    else wire.next();
  });
}
