/** A TCP proxy that can stop forwarding without closing anything, as a lost route does. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SwallowingProxy {
  readonly port: number;
  /** From now on the connections there are carry nothing. New ones work. */
  swallow(): void;
  connections(): number;
  close(): Promise<void>;
}

export async function startSwallowingProxy(target: { host: string; port: number }): Promise<SwallowingProxy> {
  const sockets = new Set<Socket>();
  const silences = new Set<() => void>();
  const server = createServer((incoming) => {
    const outgoing = connect(target);
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
    for (const socket of [incoming, outgoing]) socket.on('error', () => undefined);
    sockets.add(incoming);
    outgoing.on('close', () => incoming.destroy());
    incoming.on('close', () => {
      sockets.delete(incoming);
      outgoing.destroy();
    });
    silences.add(() => {
      incoming.unpipe(outgoing);
      outgoing.unpipe(incoming);
      incoming.resume();
      outgoing.resume();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow() {
      for (const silence of silences) silence();
      silences.clear();
    },
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
