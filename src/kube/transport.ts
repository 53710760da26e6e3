/**
 * HTTP to one API server: client-node turns the configuration into authentication headers and a connection pool, and
 * everything above speaks raw JSON.
 */
import { createHash } from 'node:crypto';
import type { AgentOptions } from 'node:https';
import { getCACertificates } from 'node:tls';
import {
  type Cluster,
  type DispatcherOptions,
  HttpMethod,
  KubeConfig,
  RequestContext,
} from '@kubernetes/client-node';
import type { Clock } from './clock.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, beginning with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the request and, later, the reading of its body. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** The first value of a header; the name in lower case. */
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the body up, and the connection with it. */
  discard(): void;
}

export interface Transport {
  /** Rejects when there is no answer. Any status is an answer. */
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>;

interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** Path of the server's URL, which proxies in front of many clusters use. */
  readonly base: string;
  readonly fingerprint: string;
  readonly readAt: number;
}

/** How long read credentials serve: token files and exec plugins are asked again after that. */
const credentialsForMs = 10_000;
/** For reading them; an exec plugin may hang. */
const credentialsDeadlineMs = 20_000;

/**
 * Makes the transport of one cluster.
 * @param open reads the configuration anew, for content that rotates; it is called first here and again after a 401
 */
export function createTransport(open: () => ApiServerConfig, clock: Clock): Transport {
  let config = open();
  let current: Credentials | undefined;
  let renewing: Promise<Credentials> | undefined;
  let rejected = false;
  return {
    async send(request) {
      const credentials = await usable();
      const response = await dispatch(credentials, request);
      if (response.status !== 401 || clock.now() - credentials.readAt < credentialsForMs / 10)
        return response;
      response.discard();
      // A token that was replaced before its time: read everything again, once.
      if (current?.readAt === credentials.readAt) {
        config = open();
        rejected = true;
      }
      return dispatch(await usable(), request);
    },
    async close() {
      await current?.dispatcher.destroy();
      current = undefined;
    },
  };

  async function usable(): Promise<Credentials> {
    if (current !== undefined && !rejected && clock.now() - current.readAt < credentialsForMs) return current;
    renewing ??= inTime(renew()).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  function inTime(renewal: Promise<Credentials>): Promise<Credentials> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(credentialsDeadlineMs, () => {
        reject(
          new Error(`the credentials of the kubeconfig were not there within ${credentialsDeadlineMs} ms`),
        );
      });
      renewal.then(resolve, reject).finally(cancel);
    });
  }

  async function renew(): Promise<Credentials> {
    const previous = current;
    const read = await readCredentials(config, clock.now());
    // Same certificates: the connections we have stay good, only the headers may be new.
    const keep = previous !== undefined && previous.fingerprint === read.fingerprint;
    if (previous !== undefined) {
      // Streams still open on the old one go on until they end.
      const unused = keep ? read.dispatcher : previous.dispatcher;
      unused.close().catch(() => undefined);
    }
    rejected = false;
    current = keep ? { ...read, dispatcher: previous.dispatcher } : read;
    return current;
  }
}

async function readCredentials(config: ApiServerConfig, readAt: number): Promise<Credentials> {
  const server = new URL(config.getCurrentCluster()?.server ?? '');
  const context = new RequestContext(server.href, HttpMethod.GET);
  try {
    await config.applySecurityAuthentication(context);
  } catch (cause) {
    // The text of a plugin's error may hold what it printed, so only its code is repeated.
    const { code } = cause as { code?: unknown };
    const detail = typeof code === 'string' ? ` (${code})` : '';
    throw new Error(`the credentials of the kubeconfig cannot be read${detail}`, { cause });
  }
  const dispatcher = context.getDispatcher();
  if (dispatcher === undefined) throw new Error('the kubeconfig gives no connection');
  // A token file may end with a newline, which no header may hold.
  const headers = Object.entries(context.getHeaders()).map(([name, value]) => [name, value.trim()]);
  return {
    headers: Object.fromEntries(headers),
    dispatcher,
    origin: server.origin,
    base: server.pathname.replace(/\/+$/, ''),
    fingerprint: config.fingerprint,
    readAt,
  };
}

async function dispatch(credentials: Credentials, request: HttpRequest): Promise<HttpResponse> {
  const { statusCode, headers, body } = await credentials.dispatcher.request({
    origin: credentials.origin,
    path: `${credentials.base}${request.path}`,
    method: request.method,
    headers: { ...request.headers, ...credentials.headers },
    body: request.body ?? null,
    signal: request.signal,
    // Our own timers judge: a quiet watch is no failure.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // A body nobody reads any more may still fail.
  body.on('error', () => undefined);
  return {
    status: statusCode,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body,
    discard: () => void body.destroy(),
  };
}

/**
 * client-node's configuration with two corrections. HTTP/1.1 only: on HTTP/2 a reconnect after silence would be put
 * on the same dead connection, and one slow watch would hold up every other call. And there is always a pool of our own.
 */
export class ApiServerConfig extends KubeConfig {
  /** Tells certificates apart without keeping them. */
  fingerprint = '';

  override createDispatcherOptions(cluster: Cluster | null, agentOptions: AgentOptions): DispatcherOptions {
    const ca = agentOptions.ca ?? getCACertificates('default');
    const options = super.createDispatcherOptions(cluster, { ...agentOptions, ca });
    const { key, cert, servername, rejectUnauthorized } = agentOptions;
    this.fingerprint = digest([
      ca,
      key,
      cert,
      servername,
      rejectUnauthorized,
      cluster?.proxyUrl,
      cluster?.server,
    ]);
    const http1 = { allowH2: false };
    switch (options.type) {
      case 'agent':
        return { ...options, connect: { ...options.connect, ...http1 } };
      case 'proxy':
        return { ...options, requestTls: { ...options.requestTls, ...http1 } };
      default:
        return options;
    }
  }
}

function digest(parts: readonly unknown[]): string {
  const hash = createHash('sha256');
  for (const part of parts.flat()) hash.update(Buffer.isBuffer(part) ? part : String(part)).update('\0');
  return hash.digest('hex');
}
