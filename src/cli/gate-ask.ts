/** Asks the gate over HTTP until it gives an answer that ends the matter, or the time is up. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { GateAnswer, GateQuestion } from '../core/gate/index.ts';
import { type Clock, pause } from '../kube/clock.ts';

export type GateReply =
  | GateAnswer
  /** No answer that says anything: nobody listens, or what listens does not understand us. */
  | { readonly decision: 'none'; readonly message: string };

/** `HOST:PORT`, `https://HOST:PORT`, or `unix:/PATH`. */
export type GateAddress =
  | { readonly host: string; readonly port: number; readonly tls: boolean }
  | { readonly socketPath: string };

export interface AskOptions {
  readonly question: GateQuestion;
  readonly address: GateAddress;
  readonly tokenFile: string;
  /** PEM file of the authority behind an https address; undefined = those that Node trusts. */
  readonly caFile?: string | undefined;
  readonly deadlineMs: number;
  /**
   * Waits for a door that is closed and for a sidecar that restarts: a failed render counts at Argo CD, and three of one commit
   * freeze it. Without, the first closed answer and four refused connections are enough.
   */
  readonly patient: boolean;
  readonly clock: Clock;
}

type Attempt = { readonly reply: GateReply; readonly again: boolean };

const quickRetriesMs = [200, 400, 800];
const slowRetryMs = 1_000;
/** The gate wants at least this. */
const leastMs = 100;
/** What our own way to the gate and back may take. */
const marginMs = 500;
const maxAnswerBytes = 4 * 1024 * 1024;

export async function askGate(options: AskOptions): Promise<GateReply> {
  const { clock, deadlineMs, patient } = options;
  const endAt = clock.now() + deadlineMs;
  const never = new AbortController().signal;
  for (let attempt = 0; ; attempt++) {
    const leftMs = Math.max(leastMs, endAt - clock.now());
    const { reply, again } = await askOnce(options, leftMs);
    const waitMs = waitBefore(reply, attempt, patient);
    if (!again || waitMs === undefined || clock.now() + waitMs + leastMs >= endAt) return reply;
    await pause(clock, waitMs, never);
  }
}

/** Undefined: asking again is no use. */
function waitBefore(reply: GateReply, attempt: number, patient: boolean): number | undefined {
  if (reply.decision === 'closed') {
    return patient ? Math.min(Math.max(reply.retryAfterMs, slowRetryMs), 5_000) : undefined;
  }
  return quickRetriesMs[attempt] ?? (patient ? slowRetryMs : undefined);
}

async function askOnce(options: AskOptions, leftMs: number): Promise<Attempt> {
  let token: string;
  try {
    token = (await readFile(options.tokenFile, 'utf8')).trim();
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    const message = `the token file ${options.tokenFile} cannot be read (${why})`;
    return { reply: { decision: 'none', message }, again: true };
  }
  let ca: Buffer | undefined;
  try {
    ca = options.caFile === undefined ? undefined : await readFile(options.caFile);
  } catch {
    const message = `the file of the authority ${options.caFile} cannot be read`;
    return { reply: { decision: 'none', message }, again: true };
  }
  const deadlineMs = Math.max(leastMs, Math.floor(leftMs - marginMs));
  const body = JSON.stringify({ ...options.question, deadlineMs });
  const answered = await post(options.address, { token, ca }, body, leftMs);
  if (answered.kind === 'failed') {
    const message = `${describeAddress(options.address)}: ${answered.message}`;
    return { reply: { decision: 'none', message }, again: true };
  }
  const reply = readReply(answered.status, answered.text);
  return { reply, again: reply.decision === 'closed' };
}

type Posted =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

function post(
  address: GateAddress,
  { token, ca }: { readonly token: string; readonly ca: Buffer | undefined },
  body: string,
  timeoutMs: number,
): Promise<Posted> {
  return new Promise((resolve) => {
    const failed = (message: string) => resolve({ kind: 'failed', message });
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    let asked: ReturnType<typeof request>;
    try {
      const { tls = false, ...where } = { tls: undefined, ...address };
      const common = { ...where, method: 'POST', path: '/v1/gate', headers, agent: false, signal } as const;
      asked = tls ? requestTls({ ...common, ...(ca && { ca }) }) : request(common);
    } catch {
      // A token of several lines, for one; its text must not be shown.
      failed('the token cannot be sent in a header');
      return;
    }
    asked.on('error', (error) => failed(signal.aborted ? 'no answer in time' : error.message));
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxAnswerBytes) response.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      response.on('error', (error) => failed(signal.aborted ? 'no answer in time' : error.message));
      response.on('end', () =>
        resolve({
          kind: 'answered',
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    asked.end(body);
  });
}

/** Only what says the same by its status and by its body counts. */
export function readReply(status: number, text: string): GateReply {
  const body = parsed(text);
  if (body !== undefined && statuses[String(body.decision)] === status && isAnswer(body)) return body;
  const words = [body?.title, body?.detail].filter((word) => typeof word === 'string' && word !== '');
  return {
    decision: 'none',
    message: `it answered ${status}${words.length === 0 ? '' : `: ${words.join(': ')}`}`,
  };
}

const statuses: Readonly<Record<string, number>> = { open: 200, superseded: 409, closed: 423 };

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isAnswer(body: object): body is GateAnswer {
  const has = (name: string, type: string) => typeof (body as Record<string, unknown>)[name] === type;
  const lists = ['edits', 'refused'].every((name) => Array.isArray((body as Record<string, unknown>)[name]));
  switch ((body as { readonly decision?: unknown }).decision) {
    case 'open':
      return (body as { readonly covered?: unknown }).covered === false || (has('tip', 'string') && lists);
    case 'superseded':
      return has('tip', 'string') && lists;
    case 'closed':
      return ['reason', 'message'].every((name) => has(name, 'string')) && has('retryAfterMs', 'number');
    default:
      return false;
  }
}

export function parseAddress(text: string): GateAddress | undefined {
  if (text.startsWith('unix:')) {
    const socketPath = text.slice('unix:'.length);
    return socketPath.startsWith('/') ? { socketPath } : undefined;
  }
  const match = /^(?<scheme>https:\/\/)?(?<host>\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):(?<port>\d{1,5})$/.exec(
    text,
  );
  if (match?.groups === undefined) return undefined;
  const port = Number(match.groups.port);
  return port < 1 || port > 65_535
    ? undefined
    : { host: match.groups.host?.replace(/[[\]]/g, '') ?? '', port, tls: match.groups.scheme !== undefined };
}

function describeAddress(address: GateAddress): string {
  return 'socketPath' in address ? address.socketPath : `${address.host}:${address.port}`;
}
