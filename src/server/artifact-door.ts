/**
 * The listener that kustomize-controller fetches every artifact through. Artifacts of GitRepositories pass only when the Flux
 * door says so; everything else is carried from Flux's own servers without a question. Bodies are streamed, never kept.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../telemetry/log.ts';
import type { DoorAnswer } from '../worker/flux-door.ts';
import { type Bound, bind, type ListenAddress, stopServer } from './listen.ts';
import { openUpstream } from './upstream.ts';

/** What decides; undefined while another replica leads. */
export interface Door {
  decide(name: { namespace: string; name: string }, path: string): Promise<DoorAnswer>;
}

export interface ArtifactDoorOptions {
  readonly address: ListenAddress;
  readonly sourceControllerUrl: string;
  readonly sourceWatcherUrl: string;
  readonly door: () => Door | undefined;
  readonly log: Log;
}

export type ArtifactDoorResult =
  | { readonly kind: 'ok'; readonly port: number; stop(): Promise<void> }
  | { readonly kind: 'failed'; readonly message: string };

/** Every decision comes within this, so that a fetch never runs into its own timeout. */
const answerMs = 18_000;
/** Silence of the server behind us after which a fetch is given up. */
const upstreamIdleMs = 30_000;
const connectTries = 3;
const connectPauseMs = 700;
const maxConnections = 256;
const reasonLimit = 400;
/** Paths of artifacts hold nothing else; what a server behind us could read differently never gets there. */
const safePath = /^(?:\/[A-Za-z0-9_~@:+=,-][A-Za-z0-9._~@:+=,-]*)+$/;
const gitPath = /^\/gitrepository\/([^/]+)\/([^/]+)\/[^/]+$/;
const passedRequestHeaders = [
  'accept',
  'accept-encoding',
  'range',
  'if-none-match',
  'if-modified-since',
  'if-range',
];

export async function startArtifactDoor(options: ArtifactDoorOptions): Promise<ArtifactDoorResult> {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (message, answer) => {
    serve(options, message, answer).catch((error: unknown) => {
      options.log.error({ err: error, path: message.url }, 'serving an artifact broke');
      if (answer.headersSent) answer.destroy();
      else say(answer, 500, 'Internal Server Error', 'the sidecar could not serve this; its log says why');
    });
  });
  server.maxConnections = maxConnections;
  const bound: Bound = await bind(server, options.address);
  if (bound.kind === 'failed') {
    const message = `the artifact listener cannot use ${bound.where}: ${bound.message}; change --artifact-bind-address`;
    return { kind: 'failed', message };
  }
  return { kind: 'ok', port: bound.port, stop: () => stopServer(server satisfies Server) };
}

async function serve(
  options: ArtifactDoorOptions,
  message: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  message.resume();
  const { method, url = '' } = message;
  if (method !== 'GET' && method !== 'HEAD')
    return say(answer, 405, 'Method Not Allowed', 'GET and HEAD only');
  const path = url.split('?')[0] ?? '';
  if (!safePath.test(path)) return say(answer, 400, 'Bad Request', 'this is not the path of an artifact');
  if (!path.startsWith('/gitrepository/')) {
    const base = path.startsWith('/externalartifact/')
      ? options.sourceWatcherUrl
      : options.sourceControllerUrl;
    return await carry(options, message, answer, new URL(path, base));
  }
  const [, namespace, name] = gitPath.exec(path) ?? [];
  if (namespace === undefined || name === undefined)
    return say(answer, 404, 'Not Found', 'this is not the path of an artifact');
  const decision = await decide(options, { namespace, name }, path);
  switch (decision.kind) {
    case 'pass':
      return await carry(options, message, answer, new URL(decision.url));
    case 'missing':
      options.log.info({ path, reason: decision.message }, 'artifact withheld');
      return say(answer, 404, 'Not Found', decision.message);
    case 'locked':
      options.log.warn({ path, reason: decision.message }, 'artifact withheld');
      return say(answer, 423, phrase(decision.message), decision.message);
  }
}

async function decide(
  { door, log }: ArtifactDoorOptions,
  name: { namespace: string; name: string },
  path: string,
): Promise<DoorAnswer> {
  const now = door();
  if (now === undefined) {
    return {
      kind: 'locked',
      message: 'held by GitOps Reverser: LeaderUnreachable: another replica leads, or none yet',
    };
  }
  const ended = new AbortController();
  const tooLate = pause(answerMs, undefined, { signal: ended.signal }).then(
    (): DoorAnswer => ({ kind: 'locked', message: 'held by GitOps Reverser: Deadline: no answer in time' }),
  );
  tooLate.catch(() => undefined);
  const decided = now.decide(name, path).catch((error: unknown): DoorAnswer => {
    log.error({ err: error, ...name }, 'deciding about an artifact broke');
    return { kind: 'locked', message: 'held by GitOps Reverser: NotFresh: deciding broke; the log says how' };
  });
  return await Promise.race([decided, tooLate]).finally(() => ended.abort());
}

/** Streams an answer of a server of Flux. One that just restarts is tried again for a moment. */
async function carry(
  { log }: ArtifactDoorOptions,
  message: IncomingMessage,
  answer: ServerResponse,
  url: URL,
): Promise<void> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return say(answer, 502, 'Bad Gateway', 'the artifact has no address that can be fetched');
  const { method = 'GET' } = message;
  const headers = passedHeaders(message);
  for (let tries = 1; ; tries++) {
    const fetched = await openUpstream(url, { method, headers, idleMs: upstreamIdleMs }, answer);
    if (fetched instanceof Error) {
      if (answer.destroyed) return;
      if (tries < connectTries) {
        await pause(connectPauseMs);
        continue;
      }
      log.warn({ url: url.href, problem: fetched.message }, 'an artifact cannot be fetched');
      return say(answer, 502, 'Bad Gateway', `${url.host} does not answer: ${fetched.message}`);
    }
    const {
      connection: _connection,
      'keep-alive': _keepAlive,
      'transfer-encoding': _encoding,
      ...passed
    } = fetched.headers;
    answer.writeHead(fetched.status, fetched.reason, passed);
    try {
      await fetched.carry();
    } catch (error) {
      // Cut short on either side: the fetcher sees fewer bytes than announced and tries again.
      log.warn(
        { url: url.href, problem: error instanceof Error ? error.message : '' },
        'an artifact broke off',
      );
    }
    return;
  }
}

function passedHeaders({ headers }: IncomingMessage): Record<string, string | string[]> {
  return Object.fromEntries(
    passedRequestHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function say(answer: ServerResponse, status: number, reason: string, words: string): void {
  answer.writeHead(status, reason, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
  });
  answer.end(`${words}\n`);
}

/** Words as an HTTP reason phrase: printable ASCII on one line. */
export function phrase(message: string): string {
  const line = message.replace(/\s+/g, ' ').replace(/[^\x20-\x7e]/g, '?');
  return line.length <= reasonLimit ? line : `${line.slice(0, reasonLimit)}...`;
}
