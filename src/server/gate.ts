/**
 * The gate's HTTP interface, for plugins and wrappers beside the sidecar: loopback or a unix socket, with a bearer token from
 * a file. It checks what it is given, asks the gate desk, and turns the answer into a status; it decides nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { z } from 'zod';
import { type Closed, closed, type GateAnswer, type GateQuestion } from '../core/gate/index.ts';
import { describeObject } from '../core/identity.ts';
import type { Log } from '../telemetry/log.ts';
import type { FlushReport } from '../worker/mirror-spec.ts';
import { type FlushAnswer, flushRequest, gateRequest, openApi } from './gate-api.ts';
import { bind, type ListenAddress, stopServer } from './listen.ts';
import { createListener, type TlsFiles } from './tls.ts';

/** What answers; undefined while another replica leads. */
export interface Gate {
  ask(question: GateQuestion, deadlineMs: number): Promise<GateAnswer>;
  /** `namespace/name` of a GitTarget; undefined when it does not run. */
  flush(target: string, deadlineMs: number): Promise<FlushReport | undefined>;
  ready(): boolean;
}

/** Asks the replica that leads. It never fails: who cannot be asked is an answer too. */
export interface AskLeader {
  gate(question: GateQuestion, deadlineMs: number): Promise<GateAnswer>;
  /** Undefined when the GitTarget does not run there. */
  flush(target: string, deadlineMs: number): Promise<FlushAnswer | Closed | undefined>;
  ready(): Promise<boolean>;
}

export interface GateAppOptions {
  /** Read for each request, so that a new token needs no restart. Undefined or '' = nobody may ask. */
  readonly token: () => Promise<string | undefined>;
  readonly tokenFlag: string;
  readonly gate: () => Gate | undefined;
  /** Asked while `gate` is undefined. The listener for other replicas has none, so nothing is handed on twice. */
  readonly leader?: AskLeader | undefined;
  readonly version: string;
  readonly log: Log;
  /** Further routes, behind the token. */
  readonly routes?: (app: Express) => void;
}

export interface GateServerOptions extends Omit<GateAppOptions, 'routes' | 'tokenFlag'> {
  readonly address: ListenAddress;
  /** Never on a unix socket. */
  readonly tls?: TlsFiles | undefined;
}

export type GateServerResult =
  | { readonly kind: 'ok'; readonly port: number; stop(): Promise<void> }
  | { readonly kind: 'failed'; readonly message: string };

const bodyLimit = '16kb';
const maxConnections = 256;
const statuses = { open: 200, superseded: 409, closed: 423 } as const;

export function startGateServer(options: GateServerOptions): Promise<GateServerResult> {
  const app = gateApp({ ...options, tokenFlag: '--gate-token-file' });
  return serveApp(app, { ...options, name: 'gate', flag: '--gate-bind-address' });
}

/** Binds an app of this kind: on a socket, or on an address, with TLS if files are given. */
export async function serveApp(
  app: Express,
  options: Pick<GateServerOptions, 'address' | 'tls' | 'log'> & {
    readonly name: string;
    readonly flag: string;
  },
): Promise<GateServerResult> {
  const { address, log, name, flag } = options;
  const tls = 'socket' in address ? undefined : options.tls;
  let server: Server;
  try {
    server = await createListener({ headersTimeout: 10_000, requestTimeout: 10_000 }, tls, log, app);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown error';
    return { kind: 'failed', message: `the ${name} listener cannot use its certificate: ${why}` };
  }
  server.maxConnections = maxConnections;
  const bound = await bind(server, address);
  if (bound.kind === 'failed') {
    server.emit('close');
    return {
      kind: 'failed',
      message: `the ${name} listener cannot use ${bound.where}: ${bound.message}; change ${flag}`,
    };
  }
  return { kind: 'ok', port: bound.port, stop: () => stopServer(server) };
}

export function gateApp(options: GateAppOptions): Express {
  const { gate, leader, version, log } = options;
  const answers = { open: 0, superseded: 0, closed: 0 };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  app.use(authenticated(options));
  app.use(express.json({ limit: bodyLimit, strict: true, type: () => true }));

  app.post('/v1/gate', async (request, response) => {
    const parsed = gateRequest.safeParse(request.body);
    if (!parsed.success)
      return problem(response, 400, 'The request is not understood', wordsOf(parsed.error));
    const { deadlineMs, ...question } = parsed.data;
    const desk = gate();
    const answer =
      desk === undefined
        ? ((await leader?.gate(question, deadlineMs)) ?? nobodyLeads())
        : await desk.ask(question, deadlineMs);
    answers[answer.decision] += 1;
    decided(response, answer);
  });

  app.post('/v1/flush', async (request, response) => {
    const parsed = flushRequest.safeParse(request.body);
    if (!parsed.success)
      return problem(response, 400, 'The request is not understood', wordsOf(parsed.error));
    const { target, deadlineMs } = parsed.data;
    const desk = gate();
    const report =
      desk === undefined
        ? leader === undefined
          ? nobodyLeads()
          : await leader.flush(target, deadlineMs)
        : flushAnswerOf(await desk.flush(target, deadlineMs));
    if (report === undefined) {
      return problem(response, 404, 'This GitTarget is not at work here', `GitTarget ${target} does not run`);
    }
    if ('decision' in report) return decided(response, report);
    response.json(report);
  });

  app.get('/v1/status', async (_request, response) => {
    const desk = gate();
    const ready = desk === undefined ? ((await leader?.ready()) ?? false) : desk.ready();
    response.json({ version, leading: desk !== undefined, ready, answers });
  });
  app.get('/v1/openapi.json', (_request, response) => {
    response.json(openApi(version));
  });

  options.routes?.(app);
  app.use((_request: Request, response: Response) => problem(response, 404, 'There is nothing here', ''));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const status = statusOf(error);
    if (status === 413) return problem(response, 413, 'The body is too large', `it may have ${bodyLimit}`);
    if (status !== undefined && status < 500)
      return problem(response, 400, 'The request is not understood', 'the body is not JSON');
    log.error({ err: error }, 'a request to the gate failed');
    problem(response, 500, 'The gate failed', 'the log of the sidecar says why');
  });
  return app;
}

function nobodyLeads(): Closed {
  return closed('LeaderUnreachable', 'another replica leads, or none yet');
}

function decided(response: Response, answer: GateAnswer): void {
  if (answer.decision === 'closed') response.set('retry-after', `${Math.ceil(answer.retryAfterMs / 1000)}`);
  response.status(statuses[answer.decision]).json(answer);
}

function flushAnswerOf(report: FlushReport | undefined): FlushAnswer | undefined {
  if (report === undefined) return undefined;
  const { tip, pending, closed: why } = report;
  const refused = report.refused.map(({ object, path, reason, message }) => ({
    object: object === undefined ? (path ?? '') : describeObject(object),
    reason,
    message,
  }));
  return { tip, published: [...report.published], refused, pending, closed: why ?? null };
}

/** Before any body is read. The wrong token and none look the same. */
function authenticated({ token, tokenFlag, log }: GateAppOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    token().then(
      (expected) => {
        const given = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
        if (expected !== undefined && expected !== '' && given !== undefined && isSame(given, expected))
          return next();
        response.set('www-authenticate', 'Bearer');
        problem(response, 401, 'The token is missing or wrong', `send the token of ${tokenFlag} as Bearer`);
      },
      (error: unknown) => {
        log.error({ err: error }, 'the token file cannot be read');
        problem(response, 401, 'The token is missing or wrong', 'the sidecar cannot read its token file');
      },
    );
  };
}

/** In constant time, whatever the lengths. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** RFC 9457. */
function problem(response: Response, status: number, title: string, detail: string): void {
  response
    .status(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: 'about:blank', title, status, detail }));
}

function wordsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`)
    .join('; ');
}

function statusOf(error: unknown): number | undefined {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? status : undefined;
}
