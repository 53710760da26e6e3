/** One HTTP request through git's own smart-HTTP program, as a web server would run it (CGI). */
import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gitEnvironment } from './git.ts';

const headerEnd = '\r\n\r\n';

/** Settles when git has ended. With `answer` undefined what git says is thrown away. */
export function serveGit(
  root: string,
  request: IncomingMessage,
  answer: ServerResponse | undefined,
  user: string | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['http-backend'], {
      env: { ...gitEnvironment(), ...environment(root, request, user) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    request.pipe(child.stdin);
    // git stops reading when it refuses a request, and a client may go away.
    child.stdin.on('error', () => undefined);
    request.on('error', () => child.kill());
    answer?.on('close', () => child.kill());
    let head: Buffer | undefined = Buffer.alloc(0);
    child.stdout.on('data', (chunk: Buffer) => {
      if (head === undefined) {
        forward(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(headerEnd);
      if (end >= 0) {
        if (answer) {
          writeHead(answer, head.subarray(0, end).toString());
        }
        const body = head.subarray(end + headerEnd.length);
        head = undefined;
        forward(body);
      }
    });
    function forward(chunk: Buffer): void {
      if (answer && !answer.write(chunk)) {
        child.stdout.pause();
        answer.once('drain', () => child.stdout.resume());
      }
    }
    child.on('error', reject);
    child.on('close', () => {
      answer?.end();
      resolve();
    });
  });
}

function environment(root: string, request: IncomingMessage, user: string | undefined): NodeJS.ProcessEnv {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const { headers } = request;
  return {
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    REQUEST_METHOD: request.method,
    PATH_INFO: decodeURIComponent(path),
    QUERY_STRING: query,
    CONTENT_TYPE: headers['content-type'] ?? '',
    REMOTE_ADDR: '127.0.0.1',
    ...(user === undefined ? {} : { REMOTE_USER: user }),
    // Absent for a chunked body, which git then reads to its end.
    ...(headers['content-length'] === undefined ? {} : { CONTENT_LENGTH: headers['content-length'] }),
    ...(headers['content-encoding'] === undefined
      ? {}
      : { HTTP_CONTENT_ENCODING: headers['content-encoding'] }),
    ...(typeof headers['git-protocol'] === 'string' ? { GIT_PROTOCOL: headers['git-protocol'] } : {}),
  };
}

function writeHead(answer: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') {
      status = Number.parseInt(value, 10);
    } else {
      answer.setHeader(name, value);
    }
  }
  answer.writeHead(status);
}
