/** Plain or TLS server of a listener. A renewed certificate is taken up without a restart. */
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Log } from '../telemetry/log.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const renewMs = 60_000;

/**
 * @param everyMs how often the files are looked at
 * @throws when the files cannot be read or are no certificate and key
 */
export async function createListener(
  options: ServerOptions,
  tls: TlsFiles | undefined,
  log: Log,
  serve: RequestListener,
  everyMs = renewMs,
): Promise<Server> {
  if (tls === undefined) return createServer(options, serve);
  let pair = await read(tls);
  const server = createTlsServer({ ...options, ...pair, minVersion: 'TLSv1.2' }, serve);
  const renewing = setInterval(() => {
    read(tls)
      .then((now) => {
        if (now.cert.equals(pair.cert) && now.key.equals(pair.key)) return;
        server.setSecureContext(now);
        pair = now;
        log.info({ certFile: tls.certFile }, 'the certificate was renewed');
      })
      // Half written, or gone for a moment: the old one serves on.
      .catch((error: unknown) => log.warn({ err: error }, 'the certificate cannot be read again'));
  }, everyMs);
  renewing.unref();
  server.on('close', () => clearInterval(renewing));
  return server;
}

async function read({ certFile, keyFile }: TlsFiles): Promise<{ cert: Buffer; key: Buffer }> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
}
