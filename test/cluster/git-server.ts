/** A git server for tests: smart HTTP on loopback, with logins, TLS, a log of the requests, and faults on demand. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate } from './certificate.ts';
import { temporaryFolder } from './folder.ts';
import { serveGit } from './git-backend.ts';
import { freePort } from './port.ts';
import { createBareRepository, type RepositoryOptions } from './repository.ts';

export interface GitServerOptions {
  /** Name and password pairs for basic authentication. With users or tokens, nobody else gets in. */
  readonly users?: Readonly<Record<string, string>>;
  /** Tokens for `Authorization: Bearer`. */
  readonly tokens?: readonly string[];
  /** Serve https with a certificate of our own authority; see `caFile`. */
  readonly tls?: boolean;
}

export type GitService = 'git-upload-pack' | 'git-receive-pack';

export interface GitRequest {
  readonly method: string;
  readonly path: string;
  readonly service: GitService | undefined;
  /** Who logged in. */
  readonly user: string | undefined;
  readonly compressed: boolean;
}

/** What goes wrong with every request until it is cleared. */
export type GitFault =
  /** Accepts the request and never answers. */
  | 'hang'
  /** Closes the connection without an answer. */
  | 'refuse'
  /** Does what was asked, then closes the connection instead of answering. */
  | 'lose-answer'
  /** Answers after 1 second. */
  | 'slow'
  | { readonly delayMs: number }
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> };

export interface GitServer {
  /** The folder with the bare repositories. */
  readonly dir: string;
  readonly port: number;
  /** The certificate authority to trust; undefined without TLS. */
  readonly caFile: string | undefined;
  /** Every request since the start or the last `clearRequests`. */
  readonly requests: readonly GitRequest[];
  clearRequests(): void;
  /** The URL of a repository, without a login in it. */
  url(repository: string): string;
  /** The bare folder of a repository, for the functions of repository.ts. */
  bareDir(repository: string): string;
  createRepository(name: string, options?: RepositoryOptions): Promise<string>;
  /** Makes requests fail, only those of one service if one is named; undefined ends it. */
  setFault(fault: GitFault | undefined, only?: GitService): void;
  /** Is called before a request is served: the moment for a push that comes in between. Undefined ends it. */
  setBefore(before: ((request: GitRequest) => void | Promise<void>) | undefined): void;
  /** Refuses pushes in a pre-receive hook with this text; undefined allows them again. */
  refusePushes(repository: string, text: string | undefined): Promise<void>;
  stop(): Promise<void>;
}

export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const folder = temporaryFolder('git-server');
  const dir = join(folder.path, 'repositories');
  const certificate = options.tls ? await makeCertificate(folder.path) : undefined;
  const requests: GitRequest[] = [];
  let fault: GitFault | undefined;
  let faultService: GitService | undefined;
  let before: ((request: GitRequest) => void | Promise<void>) | undefined;

  async function handle(message: IncomingMessage, answer: ServerResponse): Promise<void> {
    const user = login(message, options);
    const request: GitRequest = {
      method: message.method ?? '',
      path: (message.url ?? '').split('?')[0] ?? '',
      service: serviceOf(message.url ?? ''),
      user,
      compressed: message.headers['content-encoding'] === 'gzip',
    };
    requests.push(request);
    const now = faultService === undefined || faultService === request.service ? fault : undefined;
    if (now === 'hang') {
      return;
    }
    if (now === 'refuse') {
      message.socket.destroy();
      return;
    }
    if (now === 'slow') {
      await sleep(1_000);
    } else if (typeof now === 'object' && 'delayMs' in now) {
      await sleep(now.delayMs);
    } else if (typeof now === 'object') {
      answer.writeHead(now.status, { 'content-type': 'text/plain', ...now.headers });
      answer.end(now.body ?? `the test asked for status ${now.status}\n`);
      return;
    }
    if (user === undefined && (options.users || options.tokens)) {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="test git server"' });
      answer.end('log in first\n');
      return;
    }
    await before?.(request);
    if (now === 'lose-answer' && request.method === 'POST') {
      await serveGit(dir, message, undefined, user);
      message.socket.destroy();
      return;
    }
    await serveGit(dir, message, answer, user);
  }

  const server = createHttpServer(certificate, (message, answer) => {
    handle(message, answer).catch((error: unknown) => {
      process.stderr.write(`git server: ${message.method} ${message.url}: ${error}\n`);
      answer.destroy();
    });
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  const bareDir = (repository: string) => join(dir, `${repository}.git`);
  return {
    dir,
    port,
    caFile: certificate?.caFile,
    requests,
    clearRequests() {
      requests.length = 0;
    },
    url: (repository) => `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/${repository}.git`,
    bareDir,
    async createRepository(name, repository = {}) {
      await createBareRepository(bareDir(name), repository);
      return bareDir(name);
    },
    setFault(wanted, only) {
      fault = wanted;
      faultService = only;
    },
    setBefore(wanted) {
      before = wanted;
    },
    async refusePushes(repository, text) {
      const hook = join(bareDir(repository), 'hooks', 'pre-receive');
      if (text === undefined) {
        await rm(hook, { force: true });
        return;
      }
      const script = `#!/bin/sh\ncat >&2 <<'END_OF_TEXT'\n${text}\nEND_OF_TEXT\nexit 1\n`;
      await writeFile(hook, script, { mode: 0o755 });
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await folder.remove();
    },
  };
}

function createHttpServer(certificate: Certificate | undefined, listener: RequestListener) {
  if (certificate === undefined) {
    return createServer(listener);
  }
  const { certFile, keyFile } = certificate;
  return createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, listener);
}

/** The name of who logged in, '(token)' for a bearer token, undefined for nobody. */
function login(message: IncomingMessage, { users = {}, tokens = [] }: GitServerOptions): string | undefined {
  const [scheme = '', credentials = ''] = (message.headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() === 'bearer') {
    return tokens.includes(credentials) ? '(token)' : undefined;
  }
  if (scheme.toLowerCase() !== 'basic') {
    return undefined;
  }
  const decoded = Buffer.from(credentials, 'base64').toString();
  const name = decoded.slice(0, decoded.indexOf(':'));
  const password = decoded.slice(decoded.indexOf(':') + 1);
  return Object.hasOwn(users, name) && users[name] === password ? name : undefined;
}

function serviceOf(url: string): GitService | undefined {
  return (['git-upload-pack', 'git-receive-pack'] as const).find((service) => url.endsWith(service));
}
