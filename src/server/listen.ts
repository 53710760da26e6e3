/** Binds and ends a listener of this folder: on an address or on a unix socket. */
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import type { Server } from 'node:http';

export type ListenAddress =
  | { readonly host: string; readonly port: number }
  /** A unix socket; only this user may use it. */
  | { readonly socket: string };

export type Bound =
  /** `port` is 0 for a socket. */
  | { readonly kind: 'ok'; readonly port: number }
  | { readonly kind: 'failed'; readonly where: string; readonly message: string };

export async function bind(server: Server, address: ListenAddress): Promise<Bound> {
  const where = 'socket' in address ? address.socket : `${address.host}:${address.port}`;
  try {
    if ('socket' in address) {
      // What a killed process left behind; a living one keeps its port or its lock elsewhere.
      await rm(address.socket, { force: true });
      server.listen(address.socket);
    } else {
      server.listen(address.port, address.host);
    }
    await once(server, 'listening');
    if ('socket' in address) await chmod(address.socket, 0o600);
  } catch (error) {
    return { kind: 'failed', where, message: reasonOf(error) };
  }
  const bound = server.address();
  return { kind: 'ok', port: typeof bound === 'object' && bound !== null ? bound.port : 0 };
}

export async function stopServer(server: Server): Promise<void> {
  const ended = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await ended;
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
