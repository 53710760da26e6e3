/** An API server that does what a test tells it, for faults a real one does not show on demand. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JsonObject, printJson } from '../../src/core/json.ts';
import { createKubeClient, type KubeClient, type KubeClientOptions } from '../../src/kube/client.ts';
import { type Clock, systemClock } from '../../src/kube/clock.ts';
import { type KubeConfigSource, loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import { createTransport } from '../../src/kube/transport.ts';

export interface FaultRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly kind: 'list' | 'watch' | 'watch-list' | 'other';
}

export type Behaviour = (request: FaultRequest, response: ServerResponse) => void;

export interface FaultServer {
  readonly url: string;
  readonly requests: FaultRequest[];
  /** Connections that are being answered. */
  open(): number;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export async function startFaultServer(behaviour: Behaviour): Promise<FaultServer> {
  let behave = behaviour;
  let open = 0;
  const requests: FaultRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const request: FaultRequest = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
      kind: kindOf(incoming.method ?? '', url.searchParams),
    };
    requests.push(request);
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    response.on('error', () => undefined);
    behave(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    open: () => open,
    behave(next) {
      behave = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function kindOf(method: string, query: URLSearchParams): FaultRequest['kind'] {
  if (method !== 'GET') return 'other';
  if (query.get('watch') === 'true') return query.has('sendInitialEvents') ? 'watch-list' : 'watch';
  return query.has('limit') ? 'list' : 'other';
}

/** A client of a plain HTTP server. */
export function clientOf(
  server: { readonly url: string },
  options: Partial<KubeClientOptions> = {},
  clock: Clock = systemClock,
): KubeClient {
  return createKubeClient({
    transport: createTransport(() => configOf({ from: 'text', text: plainKubeconfig(server.url) }), clock),
    version: '0.0.0-test',
    clock,
    ...options,
  });
}

export function configOf(source: KubeConfigSource) {
  const loaded = loadKubeConfig(source, {
    allowExec: false,
    allowInsecureTLS: true,
    allowFileReferences: true,
  });
  if (!loaded.ok) throw new Error(loaded.message);
  return loaded.config;
}

export function plainKubeconfig(url: string, user: JsonObject = {}): string {
  return printJson({
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server: url } }],
    users: [{ name: 'test', user }],
  });
}

export function configMap(name: string, version: number, data: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'shop', resourceVersion: String(version), uid: `uid-${name}` },
    data,
  };
}

export function sendJson(response: ServerResponse, body: JsonObject, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(printJson(body));
}

export function sendStatus(response: ServerResponse, code: number, reason = '', message = reason): void {
  sendJson(response, statusBody(code, reason, message), code);
}

export function statusBody(code: number, reason: string, message: string): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message };
}

export function sendList(
  response: ServerResponse,
  items: readonly JsonObject[],
  version: number,
  next = '',
): void {
  const bare = items.map(({ apiVersion: _apiVersion, kind: _kind, ...rest }) => rest);
  const metadata: JsonObject = {
    resourceVersion: String(version),
    ...(next === '' ? {} : { continue: next }),
  };
  sendJson(response, { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items: bare });
}

export function sendEvent(response: ServerResponse, type: string, object: JsonObject): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
  response.write(`${printJson({ type, object })}\n`);
}

export function sendBookmark(response: ServerResponse, version: number, initialEnd = false): void {
  const annotations: JsonObject = initialEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  sendEvent(response, 'BOOKMARK', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(version), annotations },
  });
}
