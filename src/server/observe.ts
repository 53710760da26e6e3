/**
 * The listeners for machines that look at us: /metrics on one, /healthz and /readyz on the other. Read-only, without details:
 * the kubelet and the scraper reach them over the pod's address. Started by main, before anything else.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ObserveOptions {
  /** Undefined: off. */
  readonly metricsAddress: ListenAddress | undefined;
  readonly healthAddress: ListenAddress | undefined;
  readonly metrics: Metrics;
  /** Whether the sidecar can do its work. */
  readonly ready: () => boolean;
  readonly log: Log;
}

export interface ObserveServers {
  /** Ports that were bound, for address 0. */
  readonly metricsPort: number | undefined;
  readonly healthPort: number | undefined;
  stop(): Promise<void>;
}

export type ObserveResult =
  | { readonly kind: 'ok'; readonly servers: ObserveServers }
  /** A sentence that names the listener, the address and the flag. */
  | { readonly kind: 'failed'; readonly message: string };

type Started =
  | { readonly kind: 'ok'; readonly server: Server }
  | { readonly kind: 'failed'; readonly message: string };

const requestTimeoutMs = 10_000;
const maxConnections = 64;

export async function startObserveServers(options: ObserveOptions): Promise<ObserveResult> {
  const wanted = [
    {
      name: 'metrics',
      flag: '--metrics-bind-address',
      address: options.metricsAddress,
      app: metricsApp(options),
    },
    {
      name: 'health',
      flag: '--health-bind-address',
      address: options.healthAddress,
      app: healthApp(options),
    },
  ] as const;
  const servers = new Map<string, Server>();
  for (const { name, flag, address, app } of wanted) {
    if (address === undefined) continue;
    const started = await listen(app, address);
    if (started.kind === 'failed') {
      await Promise.all([...servers.values()].map(close));
      return {
        kind: 'failed',
        message: `the ${name} listener cannot use ${address.host}:${address.port}: ${started.message}; change ${flag}`,
      };
    }
    servers.set(name, started.server);
  }
  return {
    kind: 'ok',
    servers: {
      metricsPort: portOf(servers.get('metrics')),
      healthPort: portOf(servers.get('health')),
      async stop() {
        await Promise.all([...servers.values()].map(close));
      },
    },
  };
}

function metricsApp({ metrics, log }: ObserveOptions): Express {
  const app = plainApp();
  app.get('/metrics', async (_request, response) => {
    const { contentType, body } = await metrics.text();
    response.set('content-type', contentType).send(body);
  });
  return closed(app, log);
}

function healthApp({ ready, log }: ObserveOptions): Express {
  const app = plainApp();
  app.get('/healthz', (_request, response) => {
    response.type('text/plain').send('ok\n');
  });
  app.get('/readyz', (_request, response) => {
    const isReady = ready();
    response
      .status(isReady ? 200 : 503)
      .type('text/plain')
      .send(isReady ? 'ok\n' : 'not ready\n');
  });
  return closed(app, log);
}

function plainApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  return app;
}

/** Everything else is not there, and an error tells nothing. */
function closed(app: Express, log: Log): Express {
  app.use((_request: Request, response: Response) => {
    response.status(404).type('text/plain').send('not found\n');
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    log.error({ err: error }, 'a request to a listener failed');
    response.status(500).type('text/plain').send('error\n');
  });
  return app;
}

async function listen(app: Express, { host, port }: ListenAddress): Promise<Started> {
  const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }, app);
  server.maxConnections = maxConnections;
  server.listen(port, host);
  try {
    await once(server, 'listening');
    return { kind: 'ok', server };
  } catch (error) {
    return { kind: 'failed', message: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return 'another process listens there';
    case 'EACCES':
      return 'this user may not listen there';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'this machine has no such address';
    default:
      return error instanceof Error ? error.message : 'unknown error';
  }
}

async function close(server: Server): Promise<void> {
  const ended = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await ended;
}

function portOf(server: Server | undefined): number | undefined {
  const address = server?.address();
  return isAddress(address) ? address.port : undefined;
}

function isAddress(address: string | AddressInfo | null | undefined): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
