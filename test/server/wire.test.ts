import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Wire } from '../../src/server/wire.ts';

const megabyte = 1024 * 1024;

describe('a wire to a server of Flux', () => {
  let serve: (socket: Socket) => void;
  let gone: Promise<void>;
  const server = createServer((socket) => {
    gone = new Promise((resolve) => {
      socket.on('error', () => undefined).once('close', () => resolve());
    });
    socket.once('data', () => serve(socket));
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
  });

  function asked(): Wire {
    const { port } = server.address() as AddressInfo;
    const wire = new Wire({ host: '127.0.0.1', port }, 10_000);
    wire.write('GET / HTTP/1.1\r\n\r\n');
    return wire;
  }

  it('can still be read when the server has gone', async () => {
    serve = (socket) => socket.end('the last words');
    const wire = asked();
    await once(wire, 'readable');
    await gone;
    // This process reads that end in one of its next turns.
    await turns(200);
    assert.equal(String(wire.read()), 'the last words');
    wire.read();
    await once(wire, 'end');
  });

  it('is read no further than it is used', async () => {
    serve = (socket) => socket.write(Buffer.alloc(64 * megabyte));
    const wire = asked();
    await once(wire, 'readable');
    await turns(200);
    assert.ok(wire.readableLength < megabyte, `${wire.readableLength} bytes wait`);
    wire.destroy();
    await gone;
  });

  it('is read piece by piece once it is diverted, whatever the client does with its end', async () => {
    serve = (socket) => socket.write(Buffer.alloc(64 * megabyte));
    const wire = asked();
    let pieces = 0;
    const diverted = new Promise<void>((resolve) => {
      wire.once('data', () => {
        wire.divert(() => {
          pieces++;
        });
        resolve();
      });
    });
    await diverted;
    const seen: number[] = [];
    for (let asks = 0; asks < 3; asks++) {
      wire.read(0);
      wire.resume();
      await turns(50);
      seen.push(pieces);
      wire.next();
      while (pieces === asks) await turn();
    }
    assert.deepEqual(seen, [0, 1, 2]);
    wire.destroy();
    await gone;
  });

  it('closes for whoever it is diverted to when the server ends it, also when that had come before', async () => {
    serve = (socket) => socket.end('the last words');
    const wire = asked();
    await once(wire, 'data');
    wire.divert(() => undefined);
    wire.next();
    await once(wire, 'close');
    const late = asked();
    await once(late, 'readable');
    await gone;
    await turns(200);
    const closed = once(late, 'close');
    late.divert(() => undefined);
    await closed;
  });
});

async function turns(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await turn();
}
