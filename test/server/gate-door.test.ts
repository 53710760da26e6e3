import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ArtifactDoorResult, startArtifactDoor } from '../../src/server/artifact-door.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import type { DoorAnswer } from '../../src/worker/flux-door.ts';

const path = '/gitrepository/shop/apps/abc.tar.gz';

describe('the artifact door', () => {
  let started: Extract<ArtifactDoorResult, { kind: 'ok' }>;
  let upstream: string;
  let serve: RequestListener = (_message, answer) => answer.end('artifact');
  let decision: DoorAnswer | 'leader elsewhere' | Error;
  let decided: string[] = [];
  let upstreamSaw: string[] = [];
  const server = createServer((message, answer) => {
    upstreamSaw.push(`${message.method} ${message.url}`);
    serve(message, answer);
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const result = await startArtifactDoor({
      address: { host: '127.0.0.1', port: 0 },
      sourceControllerUrl: upstream,
      sourceWatcherUrl: `${upstream}/`,
      log: silentLog(),
      door: () => {
        if (decision === 'leader elsewhere') return undefined;
        return {
          async decide(name, asked) {
            decided.push(`${name.namespace}/${name.name} ${asked}`);
            if (decision instanceof Error) throw decision;
            assert.ok(decision !== 'leader elsewhere');
            return decision;
          },
        };
      },
    });
    assert.ok(result.kind === 'ok');
    started = result;
  });
  after(async () => {
    await started?.stop();
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    decision = { kind: 'pass', url: `${upstream}${path}` };
    serve = (_message, answer) => answer.end('artifact');
    decided = [];
    upstreamSaw = [];
  });

  function get(raw: string, method = 'GET'): Promise<{ message: IncomingMessage; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port: started.port, path: raw, method }, async (message) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of message) chunks.push(chunk);
          resolve({ message, body: Buffer.concat(chunks) });
        } catch (error) {
          reject(error);
        }
      });
      asked.on('error', reject).end();
    });
  }

  it('asks about every artifact of a GitRepository, and passes an open one byte for byte, with its headers', async () => {
    const artifact = randomBytes(5_000_000);
    serve = (_message, answer) => {
      answer.writeHead(200, {
        'content-type': 'application/gzip',
        etag: '"x"',
        'content-length': artifact.length,
      });
      answer.end(artifact);
    };
    const { message, body } = await get(path);
    assert.deepEqual(decided, [`shop/apps ${path}`]);
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    assert.equal(digest(body), digest(artifact));
    assert.deepEqual(
      [message.headers['content-type'], message.headers.etag, message.headers['content-length']],
      ['application/gzip', '"x"', '5000000'],
    );
  });

  it('answers 404 for a superseded artifact and fetches nothing', async () => {
    decision = { kind: 'missing', message: 'superseded' };
    const { message } = await get(path);
    assert.deepEqual([message.statusCode, upstreamSaw], [404, []]);
  });

  it('answers 423 with the sentence as its reason phrase', async () => {
    decision = { kind: 'locked', message: 'held by GitOps Reverser: PushRefused: protected branch' };
    const { message } = await get(path);
    assert.equal(message.statusCode, 423);
    assert.equal(message.statusMessage, 'held by GitOps Reverser: PushRefused: protected branch');
  });

  it('makes any sentence a phrase: one line, printable, bounded', async () => {
    decision = { kind: 'locked', message: `no\r\nInjected: header – ${'x'.repeat(2_000)}` };
    const { message } = await get(path);
    assert.match(message.statusMessage ?? '', /^no Injected: header \? x+\.\.\.$/);
    assert.ok((message.statusMessage ?? '').length < 450);
    assert.equal(message.headers.injected, undefined);
  });

  it('is locked while another replica leads, and when deciding breaks', async () => {
    decision = 'leader elsewhere';
    assert.match((await get(path)).message.statusMessage ?? '', /LeaderUnreachable/);
    decision = new Error('bug');
    assert.equal((await get(path)).message.statusCode, 423);
    assert.deepEqual(upstreamSaw, []);
  });

  it('passes what is no GitRepository’s without a question, to where it belongs', async () => {
    for (const other of [
      '/helmchart/a/b/c.tgz',
      '/ocirepository/a/b/sha.tar.gz',
      '/externalartifact/a/b/c.tar.gz',
    ]) {
      assert.equal((await get(other)).message.statusCode, 200);
    }
    assert.deepEqual(decided, []);
    assert.deepEqual(upstreamSaw, [
      'GET /helmchart/a/b/c.tgz',
      'GET /ocirepository/a/b/sha.tar.gz',
      'GET /externalartifact/a/b/c.tar.gz',
    ]);
  });

  for (const sly of [
    '/x/../gitrepository/shop/apps/abc.tar.gz',
    '/x/%2e%2e/gitrepository/shop/apps/abc.tar.gz',
    '/x%2f..%2fgitrepository/shop/apps/abc.tar.gz',
    '//gitrepository/shop/apps/abc.tar.gz',
    '/./gitrepository/shop/apps/abc.tar.gz',
    '/%67itrepository/shop/apps/abc.tar.gz',
    '/gitrepository\\shop\\apps',
    'http://elsewhere/gitrepository/shop/apps/abc.tar.gz',
    '/gitrepository/shop/apps/..',
    '/gitrepository/shop/apps/deep/abc.tar.gz',
    '/gitrepository/shop',
  ]) {
    it(`lets nothing by as ${sly}`, async () => {
      decision = { kind: 'locked', message: 'no' };
      const { message } = await get(sly);
      assert.ok(message.statusCode === 400 || message.statusCode === 404, `${message.statusCode}`);
      assert.deepEqual(upstreamSaw, []);
    });
  }

  it('takes GET and HEAD only', async () => {
    assert.equal((await get(path, 'POST')).message.statusCode, 405);
    assert.equal((await get(path, 'HEAD')).message.statusCode, 200);
    assert.deepEqual(upstreamSaw, [`HEAD ${path}`]);
  });

  it('passes on what the server of Flux says, whatever it is', async () => {
    serve = (_message, answer) => {
      answer.writeHead(404, 'Not Found');
      answer.end('gone');
    };
    const { message, body } = await get(path);
    assert.deepEqual([message.statusCode, body.toString()], [404, 'gone']);
  });

  it('gives a server that just restarts another try', async () => {
    let first = true;
    serve = (message, answer) => {
      if (!first) return void answer.end('artifact');
      first = false;
      message.socket.destroy();
    };
    const { message, body } = await get(path);
    assert.deepEqual([message.statusCode, body.toString()], [200, 'artifact']);
  });

  it('answers 502, which Flux tries again, when that server stays away', async () => {
    serve = (message) => message.socket.destroy();
    const { message } = await get(path);
    assert.deepEqual([message.statusCode, upstreamSaw.length], [502, 3]);
  });

  it('breaks off when the server behind it breaks off, and never ends a short body well', async () => {
    serve = (message, answer) => {
      answer.writeHead(200, { 'content-length': 1_000 });
      answer.write('short', () => message.socket.destroy());
    };
    await assert.rejects(get(path), /aborted|reset|hang up/);
  });
});
