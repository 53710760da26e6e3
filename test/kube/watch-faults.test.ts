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
import { reachableBytes } from './garbage.ts';
import { eventually } from './manual-clock.ts';
import { type BenchOptions, patience, type StreamBench, streamBench } from './stream-bench.ts';

const rising = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];

describe('a collection stream under faults', () => {
  let bench: StreamBench;

  async function start(behaviour: Behaviour, options: BenchOptions = {}): Promise<StreamBench> {
    bench = await streamBench(behaviour, options);
    return bench;
  }

  async function pauses(count: number): Promise<number[]> {
    const found: number[] = [];
    while (found.length < count) found.push(await bench.nextAttempt());
    return found;
  }

  afterEach(async () => bench.close());

  it('notices a connection that went silent and resumes within two minutes', async () => {
    const { handler, expire, nextAttempt, clock, server } = await start((request, response) => {
      if (request.kind === 'watch') return sendEvent(response, 'MODIFIED', configMap('a', 20));
      sendBookmark(response, 9, true);
    });
    await eventually('the snapshot', () => handler.told.includes('streaming'));
    await expire(patience.stall);
    await nextAttempt();
    await eventually('the event', () => handler.told.includes('~a'));
    assert.equal(handler.told.join(' '), 'replaying settled 0 streaming Unreachable streaming ~a');
    assert.ok(clock.now() <= 120_000, `took ${clock.now()} ms`);
    assert.equal(server.requests[1]?.query.get('resourceVersion'), '9');
    assert.equal(bench.stream.counts.stalls, 1);
  });

  it('does not take the time of its handler for silence', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock, stream, handler } = await start(
      (_request, response) => {
        sendBookmark(response, 9, true);
        sendEvent(response, 'ADDED', configMap('slow', 10));
      },
      { told: { upsert: () => promise } },
    );
    await eventually('the event', () => stream.counts.events === 1);
    clock.advance(10 * patience.stall);
    resolve();
    await eventually('the version', () => stream.resourceVersion === '10');
    assert.equal(stream.counts.stalls, 0);
    assert.equal(handler.states.at(-1)?.phase, 'streaming');
  });

  it('gives up on a server that never answers, and tries again', async () => {
    const { handler, expire, nextAttempt } = await start(() => undefined);
    await expire(patience.headers);
    assert.equal(await nextAttempt(), 1000);
    await expire(patience.headers);
    assert.equal(await nextAttempt(), 2000);
    assert.equal(handler.told.join(' '), 'replaying Unreachable replaying Unreachable replaying');
  });

  it('lists at most once per rising pause when a server says a word, then 410, then closes', async () => {
    await start((_request, response) => {
      sendBookmark(response, 9, true);
      sendEvent(response, 'ADDED', configMap('a', 10));
      sendEvent(response, 'ERROR', statusBody(410, 'Expired', 'too old resource version'));
      response.end();
    });
    assert.deepEqual(await pauses(8), rising);
    assert.equal(bench.server.requests.length, 9);
  });

  it('slows down on a server that closes after every event, and never lists again', async () => {
    let version = 10;
    await start((request, response) => {
      if (request.kind === 'watch-list') sendBookmark(response, 9, true);
      version += 1;
      sendEvent(response, 'ADDED', configMap('a', version));
      response.end();
    });
    assert.deepEqual(await pauses(8), rising);
    assert.equal(bench.server.requests.filter(({ kind }) => kind === 'watch').length, 8);
    assert.equal(bench.handler.objects.length >= 8, true);
  });

  it('starts the pauses again once a session has lived for a while', async () => {
    let close: (() => void) | undefined;
    await start((request, response) => {
      if (request.kind === 'watch-list') {
        sendBookmark(response, 9, true);
        response.end();
        return;
      }
      if (bench.server.requests.length < 5) {
        response.writeHead(200).end();
        return;
      }
      sendBookmark(response, 10);
      close = () => response.end();
    });
    assert.deepEqual(await pauses(4), [1000, 2000, 4000, 8000]);
    await eventually('the long session', () => bench.handler.told.includes('progress 10'));
    bench.clock.advance(40_000);
    close?.();
    assert.equal(await bench.pause(), 1000);
  });

  it('keeps pauses apart by jitter', async () => {
    await start((_request, response) => sendStatus(response, 503, 'ServiceUnavailable'), {
      random: () => 0.25,
    });
    assert.deepEqual(await pauses(3), [900, 1800, 3600]);
  });

  it('says that a watch is not permitted, and asks again only slowly', async () => {
    await start((request, response) => {
      if (request.kind === 'watch-list') return sendStatus(response, 422, 'Invalid');
      if (request.kind === 'list') return sendList(response, [configMap('a', 3)], 30);
      sendStatus(response, 403, 'Forbidden', 'configmaps is forbidden: User "alice" cannot watch');
    });
    assert.deepEqual(await pauses(3), [60_000, 60_000, 60_000]);
    const { handler, server } = bench;
    assert.equal(handler.told.join(' '), 'replaying +a settled 1 streaming WatchNotPermitted');
    assert.equal(server.requests.filter(({ kind }) => kind === 'list').length, 1);
    const state = handler.states.at(-1);
    assert.match(state?.phase === 'blocked' ? state.message : '', /watch configmaps\/shop: .*alice/);
  });

  it('comes back by itself when the right is given', async () => {
    const { handler, nextAttempt } = await start((_request, response) => {
      if (bench.server.requests.length === 1) return sendStatus(response, 401, 'Unauthorized');
      sendBookmark(response, 9, true);
    });
    await nextAttempt();
    await eventually('the snapshot', () => handler.told.includes('streaming'));
    assert.equal(handler.told.join(' '), 'replaying WatchNotPermitted replaying settled 0 streaming');
  });

  it('waits as long as a 429 says', async () => {
    const { handler } = await start((_request, response) => {
      response.setHeader('retry-after', '17');
      sendStatus(response, 429, 'TooManyRequests');
    });
    assert.equal(await bench.nextAttempt(), 17_000);
    assert.equal(handler.told.includes('Throttled'), true);
  });

  it('says that a resource is not served any more', async () => {
    const { handler } = await start((_request, response) => sendStatus(response, 404, 'NotFound'));
    await bench.pause();
    assert.equal(handler.told.join(' '), 'replaying NotServed');
    assert.deepEqual(handler.snapshots, []);
  });

  it('takes a server that ignores streaming lists by its bookmarks', async () => {
    const { handler, server } = await start((request, response) => {
      if (request.kind === 'list') return sendList(response, [configMap('a', 3)], 30);
      if (request.kind === 'watch') return sendBookmark(response, 31);
      sendEvent(response, 'ADDED', configMap('a', 3));
      sendBookmark(response, 12);
    });
    await eventually('the bookmark', () => handler.told.includes('progress 31'));
    assert.deepEqual(
      server.requests.map(({ kind }) => kind),
      ['watch-list', 'list', 'watch'],
    );
    assert.equal(handler.snapshots[0]?.via, 'pages');
  });

  it('takes a server that ignores streaming lists by its silence', async () => {
    const { handler, expire } = await start((request, response) => {
      if (request.kind === 'list') return sendList(response, [configMap('a', 3)], 30);
      if (request.kind === 'watch') return sendBookmark(response, 31);
      sendEvent(response, 'ADDED', configMap('a', 3));
    });
    await eventually('the object', () => handler.objects.length === 1);
    await expire(patience.firstWatchList);
    await eventually('the bookmark', () => handler.told.includes('progress 31'));
    assert.equal(handler.snapshots.length, 1);
    assert.equal(handler.snapshots[0]?.via, 'pages');
  });

  it('takes a new snapshot when the server dislikes what it is asked to resume from', async () => {
    const { handler, nextAttempt } = await start((request, response) => {
      if (request.kind === 'watch') return sendStatus(response, 400, 'BadRequest', 'invalid resourceVersion');
      sendBookmark(response, 9, true);
      if (bench.server.requests.length === 1) response.end();
    });
    await nextAttempt();
    await nextAttempt();
    await eventually('the snapshot', () => handler.snapshots.length === 2);
    assert.equal(bench.server.requests.at(-1)?.kind, 'watch-list');
  });

  it('stops in the middle of a page without settling it', async () => {
    const { handler, stream, running } = await start(
      (request, response) => {
        if (request.kind === 'watch-list') return sendStatus(response, 400, 'BadRequest');
        sendList(response, [configMap('a', 1), configMap('b', 2)], 30);
      },
      { told: { upsert: () => void stream.stop() } },
    );
    await running;
    assert.equal(stream.counts.snapshots, 0);
    assert.equal(handler.told.join(' '), 'replaying');
  });

  it('never settles a streaming list that broke off', async () => {
    const { handler, nextAttempt } = await start((_request, response) => {
      sendEvent(response, 'ADDED', configMap('a', 3));
      if (bench.server.requests.length > 1) return sendBookmark(response, 9, true);
      response.end();
    });
    await nextAttempt();
    await eventually('the snapshot', () => handler.told.includes('streaming'));
    assert.equal(handler.told.join(' '), 'replaying +a Unreachable replaying +a settled 1 streaming');
  });

  for (const [fault, line] of [
    ['is no JSON', '{"type":"ADDED","object":{"metadata":'],
    ['is no event', '{"type":"ADDED"}'],
    ['has an unknown type', '{"type":"RENAMED","object":{}}'],
    ['is longer than the limit', `{"type":"ADDED","object":{"data":"${'x'.repeat(5000)}"}}`],
  ] as const) {
    it(`resumes before a line that ${fault}, and swallows nothing`, async () => {
      const { handler, nextAttempt, server } = await start(
        (request, response) => {
          if (request.kind === 'watch') return sendEvent(response, 'ADDED', configMap('c', 11));
          sendBookmark(response, 9, true);
          sendEvent(response, 'ADDED', configMap('a', 10));
          response.write(`${line}\n`);
          sendEvent(response, 'ADDED', configMap('b', 12));
        },
        { lineLimit: 1000 },
      );
      await nextAttempt();
      await eventually('the event', () => handler.told.includes('~c'));
      assert.equal(handler.told.join(' '), 'replaying settled 0 streaming ~a MalformedStream streaming ~c');
      assert.equal(server.requests[1]?.query.get('resourceVersion'), '10');
    });
  }

  it('keeps its memory over hundreds of reconnects', async function () {
    this.timeout(60_000);
    let version = 10;
    const { stream, nextAttempt } = await start(
      (request, response) => {
        if (request.kind === 'watch-list') sendBookmark(response, 9, true);
        version += 1;
        sendEvent(response, 'ADDED', configMap('a', version, { text: 'x'.repeat(10_000) }));
        if (version % 3 === 0) response.destroy();
        else response.end();
      },
      { told: { upsert: () => undefined } },
    );
    while (stream.counts.sessions < 100) await nextAttempt();
    const before = reachableBytes();
    while (stream.counts.sessions < 500) await nextAttempt();
    const grown = reachableBytes() - before;
    // The requests the server keeps for the test are part of it.
    assert.ok(grown < 2 * 1024 * 1024, `the heap grew by ${grown} bytes over 400 reconnects`);
    assert.equal(bench.clock.waiting().length <= 2, true);
  });
});
