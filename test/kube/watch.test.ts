import assert from 'node:assert/strict';
import {
  type Behaviour,
  configMap,
  sendBookmark,
  sendEvent,
  sendList,
  sendStatus,
  statusBody,
} from './fault-server.ts';
import { eventually } from './manual-clock.ts';
import { type BenchOptions, type StreamBench, streamBench } from './stream-bench.ts';

describe('a collection stream', () => {
  let bench: StreamBench;

  async function start(behaviour: Behaviour, options: BenchOptions = {}): Promise<StreamBench> {
    bench = await streamBench(behaviour, options);
    return bench;
  }

  afterEach(async () => bench.close());

  it('takes the snapshot from the streaming list and goes on with changes on the same connection', async () => {
    const { handler, server } = await start((_request, response) => {
      sendEvent(response, 'ADDED', configMap('a', 3));
      sendEvent(response, 'ADDED', configMap('b', 5));
      sendBookmark(response, 9, true);
      sendEvent(response, 'MODIFIED', configMap('a', 10));
      sendEvent(response, 'DELETED', configMap('b', 11));
      sendBookmark(response, 12);
    });
    await eventually('the bookmark', () => handler.told.includes('progress 12'));
    assert.deepEqual(handler.told.join(' '), 'replaying +a +b settled 2 streaming ~a -b progress 12');
    const [snapshot] = handler.snapshots;
    assert.deepEqual(snapshot?.keys, ['shop/a', 'shop/b']);
    assert.equal(snapshot?.resourceVersion, '9');
    assert.equal(snapshot?.via, 'watch-list');
    assert.equal(server.requests.length, 1);
    const [request] = server.requests;
    assert.equal(request?.query.get('resourceVersionMatch'), 'NotOlderThan');
    assert.equal(request?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(request?.query.get('timeoutSeconds'), '450');
  });

  for (const via of ['watch-list', 'pages']) {
    it(`waits for its turn after each event, a long one in a snapshot by ${via} and a live one after it`, async () => {
      const asked: string[] = [];
      const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
      const { handler } = await start(
        (request, response) => {
          if (request.kind === 'watch') return sendEvent(response, 'MODIFIED', configMap('a', 10));
          if (request.kind === 'list') return sendList(response, [configMap('a', 3), configMap('b', 5)], 9);
          if (via === 'pages') return sendStatus(response, 422, 'Invalid');
          sendEvent(response, 'ADDED', configMap('a', 3));
          sendEvent(response, 'ADDED', configMap('b', 5));
          sendBookmark(response, 9, true);
          sendEvent(response, 'MODIFIED', configMap('a', 10));
        },
        {
          turn(work) {
            asked.push(work);
            return asked.length === 1 ? mayGoOn : undefined;
          },
        },
      );
      await eventually('the first turn', () => asked.length === 1);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(
        handler.told.filter((one) => one.startsWith('+')),
        ['+a'],
      );
      goOn();
      await eventually('the live event', () => handler.told.includes('~a') && asked.at(-1) === 'live');
      assert.deepEqual(asked.slice(0, 2), ['long', 'long']);
    });
  }

  it('counts an object that goes away inside the snapshot as deleted and not as part of it', async () => {
    const { handler } = await start((_request, response) => {
      sendEvent(response, 'ADDED', configMap('a', 3));
      sendEvent(response, 'DELETED', configMap('a', 8));
      sendBookmark(response, 9, true);
    });
    await eventually('the snapshot', () => handler.told.includes('streaming'));
    assert.equal(handler.told.join(' '), 'replaying +a -a settled 0 streaming');
  });

  it('resumes where it was after the server closes, without another list and without a change of state', async () => {
    const { handler, server, nextAttempt } = await start((request, response) => {
      if (request.kind === 'watch') return sendEvent(response, 'MODIFIED', configMap('a', 20));
      sendBookmark(response, 9, true);
      sendEvent(response, 'ADDED', configMap('a', 10));
      response.end();
    });
    await nextAttempt();
    await eventually('the second event', () => handler.objects.length === 2);
    assert.equal(server.requests[1]?.kind, 'watch');
    assert.equal(server.requests[1]?.query.get('resourceVersion'), '10');
    assert.equal(handler.told.join(' '), 'replaying settled 0 streaming ~a ~a');
  });

  it('resumes from the last bookmark of a quiet collection', async () => {
    const { server, nextAttempt } = await start((request, response) => {
      sendBookmark(response, 9, request.kind === 'watch-list');
      sendBookmark(response, 700);
      response.end();
    });
    await nextAttempt();
    assert.equal(server.requests[1]?.query.get('resourceVersion'), '700');
  });

  it('begins at a version that was handled before, without a snapshot', async () => {
    const { handler, server } = await start(
      (_request, response) => sendEvent(response, 'MODIFIED', configMap('a', 20)),
      { resumeFrom: '15' },
    );
    await eventually('the event', () => handler.objects.length === 1);
    assert.equal(handler.told.join(' '), 'streaming ~a');
    assert.equal(server.requests[0]?.query.get('resourceVersion'), '15');
  });

  it('falls back to pages and a watch when streaming lists are refused', async () => {
    const { handler, server } = await start((request, response) => {
      if (request.kind === 'watch-list') return sendStatus(response, 422, 'Invalid');
      if (request.kind === 'watch') return sendEvent(response, 'ADDED', configMap('c', 31));
      if (request.query.get('continue') === 'page2') return sendList(response, [configMap('b', 4)], 30);
      return sendList(response, [configMap('a', 3)], 30, 'page2');
    });
    await eventually('the live event', () => handler.told.includes('~c'));
    assert.deepEqual(
      server.requests.map(({ kind }) => kind),
      ['watch-list', 'list', 'list', 'watch'],
    );
    assert.equal(server.requests[3]?.query.get('resourceVersion'), '30');
    assert.equal(server.requests[1]?.query.has('resourceVersion'), false);
    assert.equal(handler.told.slice(-5).join(' '), '+a +b settled 2 streaming ~c');
    assert.equal(handler.objects[0]?.kind, 'ConfigMap');
    assert.equal(handler.snapshots[0]?.via, 'pages');
  });

  it('reads the pages again from the start when a continue token is too old, and settles once', async () => {
    let expired = false;
    const { handler, nextAttempt } = await start((request, response) => {
      if (request.kind === 'watch-list') return sendStatus(response, 400, 'BadRequest');
      if (request.kind === 'watch') return sendBookmark(response, 31);
      if (!request.query.has('continue')) return sendList(response, [configMap('a', 3)], 30, 'page2');
      if (expired) return sendList(response, [], 30);
      expired = true;
      sendStatus(response, 410, 'Expired');
    });
    await nextAttempt();
    await eventually('the bookmark', () => handler.told.includes('progress 31'));
    assert.equal(handler.told.join(' '), 'replaying +a +a settled 1 streaming progress 31');
  });

  it('starts a new snapshot when the version is gone, and settles it before anything counts as absent', async () => {
    const { handler, nextAttempt, server } = await start((request, response) => {
      if (request.kind === 'watch') return sendStatus(response, 410, 'Expired');
      if (server.requests.length > 1) {
        sendEvent(response, 'ADDED', configMap('new', 90));
        return sendBookmark(response, 99, true);
      }
      sendEvent(response, 'ADDED', configMap('old', 3));
      sendBookmark(response, 9, true);
      response.end();
    });
    await nextAttempt();
    await nextAttempt();
    await eventually(
      'the second snapshot',
      () => handler.told.filter((word) => word === 'streaming').length === 2,
    );
    assert.equal(
      handler.told.join(' '),
      'replaying +old settled 1 streaming replaying +new settled 1 streaming',
    );
  });

  it('starts a new snapshot on an ERROR event with code 410', async () => {
    const { handler, nextAttempt, server } = await start((_request, response) => {
      sendBookmark(response, 9, true);
      if (server.requests.length === 1) {
        sendEvent(response, 'ERROR', statusBody(410, 'Expired', 'too old resource version'));
      }
    });
    await nextAttempt();
    await eventually('the second snapshot', () => handler.snapshots.length === 2);
    assert.equal(server.requests[1]?.kind, 'watch-list');
  });

  it('starts a new snapshot when a bookmark shows that the cluster went back in time', async () => {
    const { handler, nextAttempt, server } = await start((_request, response) => {
      if (server.requests.length > 1) return sendBookmark(response, 40, true);
      sendBookmark(response, 500, true);
      sendBookmark(response, 40);
    });
    await nextAttempt();
    await eventually('the second snapshot', () => handler.snapshots.length === 2);
    assert.equal(handler.told.includes('progress 40'), false);
    assert.equal(handler.snapshots[1]?.resourceVersion, '40');
  });

  it('reads a new snapshot at once when asked to', async () => {
    const { handler, stream, server } = await start((_request, response) => {
      sendBookmark(response, 9, true);
    });
    await eventually('the first snapshot', () => handler.told.includes('streaming'));
    stream.resync();
    await eventually('the second snapshot', () => handler.snapshots.length === 2);
    assert.equal(server.requests[1]?.kind, 'watch-list');
  });

  it('tries again without the rest of its wait when told that the server answers', async () => {
    let broken = true;
    const { handler, stream, pause } = await start((_request, response) => {
      if (broken) return sendStatus(response, 503, 'ServiceUnavailable');
      sendBookmark(response, 9, true);
    });
    await pause();
    broken = false;
    stream.hurry();
    await eventually('the snapshot', () => handler.told.includes('streaming'));
    stream.hurry();
    assert.equal(handler.snapshots.length, 1, 'a stream that runs is left alone');
  });

  it('tells one thing at a time and waits for the handler', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { handler, stream } = await start(
      (_request, response) => {
        sendBookmark(response, 9, true);
        sendEvent(response, 'ADDED', configMap('slow', 10));
        sendEvent(response, 'DELETED', configMap('next', 11));
      },
      { told: { upsert: () => promise } },
    );
    await eventually('the first event', () => stream.counts.events === 1);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
    assert.equal(handler.told.includes('-next'), false);
    // Not handled yet, so a reconnect would have to bring it again.
    assert.equal(stream.resourceVersion, '9');
    resolve();
    await eventually('the second event', () => handler.told.includes('-next'));
    assert.equal(stream.resourceVersion, '11');
  });

  for (const method of ['upsert', 'delete', 'settled', 'progress', 'state'] as const) {
    it(`ends with what the handler threw in ${method}, and tells nothing more`, async () => {
      const { running, server, handler } = await start(
        (_request, response) => {
          sendBookmark(response, 9, true);
          sendBookmark(response, 10);
          sendEvent(response, 'DELETED', configMap('a', 11));
          sendEvent(response, 'ADDED', configMap('b', 12));
          sendEvent(response, 'ADDED', configMap('c', 13));
        },
        {
          told: {
            [method]: () => {
              throw new Error(`bug in ${method}`);
            },
          },
        },
      );
      await assert.rejects(running, new RegExp(`bug in ${method}`));
      await eventually('the connection to end', () => server.open() === 0);
      assert.equal(handler.told.includes('~c'), false);
    });
  }

  it('tells nothing after stop', async () => {
    const { handler, stream, running, server } = await start((_request, response) => {
      sendBookmark(response, 9, true);
      for (let version = 10; version < 2000; version += 1)
        sendEvent(response, 'ADDED', configMap('a', version));
    });
    await eventually('some events', () => handler.told.length > 10);
    await stream.stop();
    await running;
    const { length } = handler.told;
    await eventually('the connection to end', () => server.open() === 0);
    assert.equal(handler.told.length, length);
  });
});
