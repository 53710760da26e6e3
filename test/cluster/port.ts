/** Free loopback ports. */
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the range the kernel takes ports for outgoing connections from, so that a server can come back to its port.
const lowest = 20_000;
const count = 10_000;
const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = lowest + Math.floor(Math.random() * count);
    if (!given.has(port) && (await isFree(port))) {
      given.add(port);
      return port;
    }
  }
  throw new Error(`no free port found on 127.0.0.1 between ${lowest} and ${lowest + count}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
