/**
 * The listeners for machines that look at us: /metrics on one, /healthz and /readyz on the other. Read-only, without details:
 * the kubelet and the scraper reach them over the pod's address. Started by main, before anything else.
 */
import { createServer, type Server } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { bind, type ListenAddress, stopServer } from './listen.ts';

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
  const servers = new Map<string, { readonly server: Server; readonly port: number }>();
  for (const { name, flag, address, app } of wanted) {
    if (address === undefined) continue;
    const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }, app);
    server.maxConnections = maxConnections;
    const bound = await bind(server, address);
    if (bound.kind === 'failed') {
      await Promise.all([...servers.values()].map(({ server: other }) => stopServer(other)));
      return {
        kind: 'failed',
        message: `the ${name} listener cannot use ${bound.where}: ${bound.message}; change ${flag}`,
      };
    }
    servers.set(name, { server, port: bound.port });
  }
  return {
    kind: 'ok',
    servers: {
      metricsPort: servers.get('metrics')?.port,
      healthPort: servers.get('health')?.port,
      async stop() {
        await Promise.all([...servers.values()].map(({ server }) => stopServer(server)));
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
