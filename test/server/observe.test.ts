import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { type ObserveServers, startObserveServers } from '../../src/server/observe.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const any = { host: '127.0.0.1', port: 0 } as const;

describe('the listeners for metrics and health', () => {
  let servers: ObserveServers;
  let isReady = false;
  const metrics = createMetrics({ process: true });

  before(async () => {
    const started = await startObserveServers({
      metricsAddress: any,
      healthAddress: any,
      metrics,
      ready: () => isReady,
      log: silentLog(),
    });
    assert.ok(started.kind === 'ok');
    servers = started.servers;
  });
  after(async () => servers?.stop());

  const metricsUrl = (path: string) => `http://127.0.0.1:${servers.metricsPort}${path}`;
  const healthUrl = (path: string) => `http://127.0.0.1:${servers.healthPort}${path}`;

  it('serve the metrics as Prometheus text, those of the process among them', async () => {
    metrics.count('apply_window_collisions_total', { gittarget_namespace: 'shop', gittarget_name: 'live' });
    const answer = await fetch(metricsUrl('/metrics'));
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const body = await answer.text();
    assert.match(
      body,
      /^gitopsreverser_apply_window_collisions_total\{gittarget_namespace="shop",gittarget_name="live"\} 1$/m,
    );
    assert.match(body, /^nodejs_eventloop_lag_seconds /m);
    assert.match(body, /^process_resident_memory_bytes /m);
  });

  it('say that the process lives, and whether it is ready', async () => {
    assert.equal((await fetch(healthUrl('/healthz'))).status, 200);
    const before = await fetch(healthUrl('/readyz'));
    assert.deepEqual([before.status, await before.text()], [503, 'not ready\n']);
    isReady = true;
    const after = await fetch(healthUrl('/readyz'));
    assert.deepEqual([after.status, await after.text()], [200, 'ok\n']);
  });

  it('keep to their own paths and tell nothing of themselves', async () => {
    for (const url of [
      metricsUrl('/readyz'),
      healthUrl('/metrics'),
      healthUrl('/'),
      metricsUrl('/metrics/x'),
    ]) {
      const answer = await fetch(url);
      assert.equal(answer.status, 404, url);
      assert.equal(answer.headers.get('x-powered-by'), null);
    }
    assert.equal((await fetch(healthUrl('/readyz'), { method: 'POST', body: 'x' })).status, 404);
  });

  it('end with connections still open', async () => {
    const started = await startObserveServers({
      metricsAddress: any,
      healthAddress: undefined,
      metrics,
      ready: () => true,
      log: silentLog(),
    });
    assert.ok(started.kind === 'ok');
    assert.equal(started.servers.healthPort, undefined);
    const socket = connect(started.servers.metricsPort ?? 0, '127.0.0.1');
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    await started.servers.stop();
    await closed;
  });

  it('say what is wrong with an address, and leave nothing open', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const free = { host: '127.0.0.1', port: await freePort() };
    const started = await startObserveServers({
      metricsAddress: free,
      healthAddress: { host: '127.0.0.1', port },
      metrics,
      ready: () => true,
      log: silentLog(),
    });
    assert.deepEqual(started, {
      kind: 'failed',
      message: `the health listener cannot use 127.0.0.1:${port}: another process listens there; change --health-bind-address`,
    });
    const [error] = await once(request({ ...free, path: '/metrics' }).end(), 'error');
    assert.equal(error.code, 'ECONNREFUSED');
    blocker.close();
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const closed = once(server, 'close');
  server.close();
  await closed;
  return port;
}
