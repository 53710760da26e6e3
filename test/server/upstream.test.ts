import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { type ArtifactDoorResult, startArtifactDoor } from '../../src/server/artifact-door.ts';
import { openUpstream } from '../../src/server/upstream.ts';
import { silentLog } from '../../src/telemetry/log.ts';

const path = '/gitrepository/shop/apps/abc.tar.gz';
const megabyte = 1024 * 1024;

/** Servers of Flux that send what a test says, byte by byte, over the connection itself. */
describe('a body on its way through the artifact door', () => {
  let started: Extract<ArtifactDoorResult, { kind: 'ok' }>;
  let serve: (socket: Socket, head: string) => void;
  let host = '127.0.0.1';
  const sockets = new Set<Socket>();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk;
      if (head.endsWith('\r\n\r\n')) serve(socket, head);
    });
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const result = await startArtifactDoor({
      address: { host: '127.0.0.1', port: 0 },
      sourceControllerUrl: `http://127.0.0.1:${port}`,
      sourceWatcherUrl: `http://127.0.0.1:${port}`,
      log: silentLog(),
      door: () => ({
        decide: async (_name, asked) => ({ kind: 'pass', url: `http://${host}:${port}${asked}` }),
      }),
    });
    assert.ok(result.kind === 'ok');
    started = result;
  });
  beforeEach(() => {
    host = '127.0.0.1';
  });
  /** Whatever a test did, no connection to a server behind us outlives its fetch. */
  afterEach(async () => {
    await Promise.all([...sockets].map(closed));
  });
  after(async () => {
    agent.destroy();
    await started?.stop();
    server.close();
  });

  function ask(options: { method?: string; agent?: Agent; path?: string } = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port: started.port, path, ...options }, resolve);
      asked.on('error', reject).end();
    });
  }

  async function read(message: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  const head = (length: number, more = '') => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n${more}\r\n`;
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

  it('is the same byte for byte, in whatever pieces it comes', async () => {
    const body = randomBytes(3 * megabyte + 17);
    serve = async (socket) => {
      socket.setNoDelay(true);
      for (const byte of head(body.length)) {
        socket.write(byte);
        await turn();
      }
      for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7) % 99_991) {
        if (!socket.write(body.subarray(at, at + size))) await once(socket, 'drain');
      }
      socket.end();
    };
    assert.equal(digest(await read(await ask())), digest(body));
  });

  it('is the same when head and body come at once', async () => {
    for (const size of [0, 1, 1_000, 65_000, 70_000, 200_000]) {
      const body = randomBytes(size);
      serve = (socket) => socket.end(Buffer.concat([Buffer.from(head(size)), body]));
      assert.equal(digest(await read(await ask())), digest(body), `${size} bytes`);
    }
  });

  it('is not mixed with those of other fetches, nor with what comes later, however slowly each is taken', async () => {
    const bodies = Array.from({ length: 6 }, () => randomBytes(12 * megabyte));
    const waiting = [...bodies];
    const expected: string[] = [];
    serve = (socket) => {
      const body = waiting.pop() ?? Buffer.alloc(0);
      expected.push(digest(body));
      socket.write(head(body.length));
      socket.end(body);
    };
    const got = await Promise.all(
      bodies.map(async () => {
        const hash = createHash('sha256');
        const message = await ask();
        for await (const chunk of message) {
          hash.update(chunk);
          // Others go on meanwhile, and the buffers of the kernel fill up.
          for (let turns = 0; turns < 10; turns++) await turn();
        }
        return hash.digest('hex');
      }),
    );
    assert.deepEqual(got.toSorted(), expected.toSorted());
  });

  it('leaves the connection of the fetcher usable for the next', async () => {
    const body = randomBytes(megabyte);
    serve = (socket) => {
      socket.write(head(body.length));
      socket.write(body);
    };
    const ports = new Set<number | undefined>();
    for (let fetch = 0; fetch < 3; fetch++) {
      const message = await ask({ agent });
      ports.add(message.socket.localPort);
      assert.equal(digest(await read(message)), digest(body));
    }
    assert.ok(ports.size < 3, 'every fetch had a connection of its own');
  });

  it('closes the connection to a server that would keep it open', async () => {
    for (const body of ['short', randomBytes(megabyte)]) {
      serve = (socket) => {
        socket.write(head(body.length));
        socket.write(body);
      };
      const gone = once(server, 'connection').then(([socket]) => closed(socket));
      assert.equal((await read(await ask({ agent }))).length, body.length);
      await gone;
    }
  });

  it('is read no further than the fetcher takes it', async () => {
    const total = 512 * megabyte;
    const piece = randomBytes(megabyte);
    let sent = 0;
    let gone = false;
    serve = async (socket) => {
      socket.on('close', () => {
        gone = true;
      });
      socket.write(head(total));
      while (!gone && sent < total) {
        sent += piece.length;
        if (!socket.write(piece))
          await Promise.race([once(socket, 'drain').catch(() => undefined), closed(socket)]);
      }
    };
    const message = await ask();
    // All of this is one process: when nothing has moved for so many turns, nothing will.
    for (let still = 0, before = 0; still < 2_000; still = sent === before ? still + 1 : 0) {
      before = sent;
      await turn();
    }
    assert.ok(sent > 0 && sent < 128 * megabyte, `${sent} bytes were read, none of them taken`);
    message.destroy();
  });

  it('ends for the server as well when the fetcher goes away in the middle', async () => {
    serve = (socket) => {
      socket.write(head(64 * megabyte));
      socket.write(randomBytes(megabyte));
    };
    const gone = once(server, 'connection').then(([socket]) => closed(socket));
    const message = await ask();
    message.once('data', () => message.destroy());
    await gone;
  });

  for (const [how, breakOff] of [
    ['ends', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ] as const) {
    for (const sent of [0, 10, 500_000]) {
      it(`never seems whole when the server ${how} the connection after ${sent} bytes`, async () => {
        serve = (socket) => {
          socket.write(head(1_000_000));
          socket.write(randomBytes(sent), () => breakOff(socket));
        };
        // A reset may overtake the head: then there is no answer at all, or one that fetchers try again.
        const got = await ask().then(
          (message) => (message.statusCode === 200 ? read(message).catch(() => 'cut short') : 'tried again'),
          () => 'none',
        );
        assert.equal(typeof got, 'string', `${got.length} bytes seemed whole`);
      });
    }
  }

  it('has what was announced and no more, so that nothing can pose as the next answer', async () => {
    const ports = new Set<number | undefined>();
    for (const [announced, begun] of [
      [200_000, 150_000],
      [200_000, 10],
      [10, 0],
    ] as const) {
      const body = randomBytes(announced);
      serve = async (socket) => {
        socket.write(Buffer.concat([Buffer.from(head(announced)), body.subarray(0, begun)]));
        await turn();
        socket.end(Buffer.concat([body.subarray(begun), Buffer.from(`${head(4)}evil`)]));
      };
      const message = await ask({ agent });
      ports.add(message.socket.localPort);
      assert.equal(digest(await read(message)), digest(body));
    }
    assert.ok(ports.size < 3, 'every fetch had a connection of its own');
  });

  it('of unknown length comes whole', async () => {
    const body = randomBytes(2 * megabyte);
    serve = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.end(body);
    };
    assert.equal(digest(await read(await ask())), digest(body));
  });

  it('in chunks comes whole, and never seems whole when the last chunk is missing', async () => {
    const body = randomBytes(500_000);
    const chunked = (end: string) => (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.write(`${body.length.toString(16)}\r\n`);
      socket.write(body);
      socket.end(end);
    };
    serve = chunked('\r\n0\r\n\r\n');
    assert.equal(digest(await read(await ask())), digest(body));
    serve = chunked('\r\n');
    await assert.rejects(async () => read(await ask()));
  });

  it('is not waited for where there is none', async () => {
    serve = (socket) => socket.write(head(50 * megabyte, 'ETag: "x"\r\n'));
    const message = await ask({ method: 'HEAD' });
    assert.deepEqual(
      [message.statusCode, message.headers['content-length'], message.headers.etag],
      [200, `${50 * megabyte}`, '"x"'],
    );
    assert.equal((await read(message)).length, 0);
    serve = (socket) => socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 700000\r\n\r\n');
    const unchanged = await ask();
    assert.deepEqual([unchanged.statusCode, (await read(unchanged)).length], [304, 0]);
  });

  it('is found behind an interim answer, and comes with the status and the words of the last one', async () => {
    const body = randomBytes(200_000);
    serve = (socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n');
      socket.write(
        `HTTP/1.1 206 A Part\r\nContent-Length: ${body.length}\r\nContent-Range: bytes 0-199999/9\r\n\r\n`,
      );
      socket.end(body);
    };
    const message = await ask();
    assert.deepEqual(
      [message.statusCode, message.statusMessage, message.headers['content-range'], message.headers.link],
      [206, 'A Part', 'bytes 0-199999/9', undefined],
    );
    assert.equal(digest(await read(message)), digest(body));
  });

  it('is asked for with Host and the fetcher’s conditions, also by name', async () => {
    host = 'localhost';
    let seen = '';
    serve = (socket, asked) => {
      seen = asked;
      socket.end(`${head(2)}ok`);
    };
    assert.equal((await read(await ask())).toString(), 'ok');
    assert.match(seen, /^GET \/gitrepository\/shop\/apps\/abc\.tar\.gz HTTP\/1\.1\r\n/);
    assert.match(seen, /\r\nHost: localhost:\d+\r\n/i);
  });

  it('never comes from an answer that is broken', async () => {
    const broken = [
      'SSH-2.0-OpenSSH_9.6\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 900000\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello',
      `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\nhello`,
      `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`,
      'HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 5\r\n\r\nhello',
    ];
    serve = (socket, asked) => socket.end(broken[Number(/apps\/(\d+)/.exec(asked)?.[1])] ?? '');
    const statuses = await Promise.all(
      broken.map(async (_head, index) => {
        const message = await ask({ path: `/gitrepository/shop/apps/${index}` });
        await read(message);
        return message.statusCode;
      }),
    );
    assert.deepEqual(
      statuses,
      broken.map(() => 502),
    );
  });

  it('is given up when the server falls silent in the middle, or the fetcher stops to take it', async () => {
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://127.0.0.1:${port}${path}`);
    let told: (problem: unknown) => void = () => undefined;
    const own = createHttpServer(async (_message, answer) => {
      const upstream = await openUpstream(url, { method: 'GET', headers: {}, idleMs: 200 }, answer);
      if (upstream instanceof Error) {
        // On a busy machine even the head may come too late.
        answer.destroy();
        return told(upstream);
      }
      answer.writeHead(upstream.status, upstream.headers);
      await upstream.carry().then(told, told);
    });
    own.listen(0, '127.0.0.1');
    try {
      await once(own, 'listening');
      const to = { host: '127.0.0.1', port: (own.address() as AddressInfo).port, path };
      for (const sent of [1_000, 64 * megabyte]) {
        serve = (socket) => {
          socket.write(head(100 * megabyte));
          socket.write(Buffer.alloc(sent));
        };
        const problem = new Promise((resolve) => {
          told = resolve;
        });
        const answered = once(request(to).end(), 'response').catch(() => []);
        // Taken by nobody yet; the first server is silent, the second would have more.
        assert.match(String(await problem), /silent for too long/);
        const [message] = await answered;
        if (message !== undefined) await assert.rejects(read(message));
      }
    } finally {
      own.close();
      own.closeAllConnections();
    }
  });
});

/** Unlike once() it takes a reset for a close as well. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}
