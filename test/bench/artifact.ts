/** An artifact as source-controller serves it, and what kustomize-controller does with one. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { temporaryFolder } from '../cluster/folder.ts';
import { freePort } from '../cluster/port.ts';
import { runOk } from '../cluster/run.ts';

export interface ArtifactServer {
  readonly url: string;
  /** `sha256:…` of the archive. */
  readonly digest: string;
  stop(): Promise<void>;
}

/** One archive of about this many bytes, under every path. */
export async function serveArtifact(bytes: number): Promise<ArtifactServer> {
  const folder = temporaryFolder('bench-artifact');
  const archive = join(folder.path, 'artifact.tar.gz');
  // Random bytes do not shrink, so the archive is as large as its content.
  writeFileSync(join(folder.path, 'content.bin'), randomBytes(bytes));
  await runOk('tar', ['-czf', archive, '-C', folder.path, 'content.bin']);
  const hash = createHash('sha256');
  await pipeline(createReadStream(archive), hash);
  const port = await freePort();
  const { size } = statSync(archive);
  const server = createServer((_message, answer) => {
    answer.writeHead(200, { 'content-length': size, 'content-type': 'application/gzip' });
    createReadStream(archive).pipe(answer);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${port}`,
    digest: `sha256:${hash.digest('hex')}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await folder.remove();
    },
  };
}

/** To a file, checked on the way, then unpacked. Returns milliseconds. */
export async function fetchAndUnpack(url: string, digest: string): Promise<number> {
  const folder = temporaryFolder('bench-fetched');
  const archive = join(folder.path, 'fetched.tar.gz');
  const since = performance.now();
  const [answer] = await once(get(url), 'response');
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
  const hash = createHash('sha256');
  answer.on('data', (chunk: Buffer) => hash.update(chunk));
  await pipeline(answer, createWriteStream(archive));
  if (`sha256:${hash.digest('hex')}` !== digest) throw new Error(`${url} is not what it should be`);
  const into = join(folder.path, 'unpacked');
  await mkdir(into);
  const [code] = await once(spawn('tar', ['-xzf', archive, '-C', into]), 'exit');
  if (code !== 0) throw new Error(`the artifact of ${url} cannot be unpacked`);
  const took = performance.now() - since;
  await rm(into, { recursive: true });
  await folder.remove();
  return took;
}
