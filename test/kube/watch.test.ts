import assert from 'node:assert/strict';
import type { StreamHandler } from '../../src/kube/collection.ts';
import { CollectionStream } from '../../src/kube/watch.ts';
import {
  type Behaviour,
  clientOf,
  configMap,
  type FaultServer,
  sendBookmark,
  sendEvent,
  sendList,
  sendStatus,
  startFaultServer,
  statusBody,
} from './fault-server.ts';
import { eventually, ManualClock } from './manual-clock.ts';
import { configMaps, type Recorder, recorder } from './recorder.ts';

const deadlines = [90_000, 10_000, 30_000];

describe('a collection stream', () => {
  let server: FaultServer;
  let clock: ManualClock;
  let stream: CollectionStream;
  let running: Promise<void>;

  async function start(behaviour: Behaviour, handler: StreamHandler = recorder()): Promise<Recorder> {
    server = await startFaultServer(behaviour);
    clock = new ManualClock();
    stream = new CollectionStream({
      client: clientOf(server, {}, clock),
      collection: configMaps,
      handler,
      clock,
      random: () => 0.5,
    });
    running = stream.run();
    running.catch(() => undefined);
    return handler as Recorder;
  }

  // Moves time to the next attempt and returns the pause before it. Other timers of a stream are deadlines.
  async function nextAttempt(): Promise<number> {
    await eventually('a pause between attempts', () => {
      const [only = 0, ...others] = clock.waiting();
      return others.length === 0 && only > 0 && !deadlines.includes(only);
    });
    const sessions = server.requests.length;
    const delay = clock.runNext();
    await eventually('the next attempt', () => server.requests.length > sessions);
    return delay;
  }

  afterEach(async () => {
    await stream.stop();
    await server.close();
  });

  it('takes the snapshot from the streaming list and goes on with changes on the same connection', async () => {
    const handler = await start((_request, response) => {
      sendEvent(response, 'ADDED', configMap('a', 3));
      sendEvent(response, 'ADDED', configMap('b', 5));
      sendBookmark(response, 9, true);
      sendEvent(response, 'MODIFIED', configMap('a', 10));
      sendEvent(response, 'DELETED', configMap('b', 11));
      sendBookmark(response, 12);
    });
    await eventually('the bookmark', () => handler.told.includes('progress 12'));
    assert.deepEqual(handler.told, [
      'replaying',
      '+a',
      '+b',
      'settled 2',
      'streaming',
      '~a',
      '-b',
      'progress 12',
    ]);
    assert.deepEqual(handler.snapshots[0]?.keys, ['shop/a', 'shop/b']);
    assert.equal(handler.snapshots[0]?.resourceVersion, '9');
    assert.equal(handler.snapshots[0]?.via, 'watch-list');
    assert.equal(server.requests.length, 1);
    const [request] = server.requests;
    assert.equal(request?.query.get('resourceVersionMatch'), 'NotOlderThan');
    assert.equal(request?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(request?.query.get('timeoutSeconds'), '450');
  });

  it('resumes where it was after the server closes, without another list', async () => {
    const handler = await start((request, response) => {
      if (request.kind === 'watch-list') {
        sendBookmark(response, 9, true);
        sendEvent(response, 'ADDED', configMap('a', 10));
        response.end();
        return;
      }
      sendEvent(response, 'MODIFIED', configMap('a', 20));
    });
    await nextAttempt();
    await eventually('the second event', () => handler.told.includes('~a') && handler.objects.length === 2);
    assert.equal(server.requests[1]?.query.get('resourceVersion'), '10');
    assert.equal(server.requests[1]?.kind, 'watch');
    // A session that ends in its time changes no state.
    assert.deepEqual(handler.told, ['replaying', 'settled 0', 'streaming', '~a', '~a']);
  });

  it('falls back to pages and a watch when streaming lists are refused', async () => {
    const handler = await start((request, response) => {
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
    assert.deepEqual(handler.told.slice(-5), ['+a', '+b', 'settled 2', 'streaming', '~c']);
    assert.equal(handler.objects[0]?.kind, 'ConfigMap');
    assert.equal(handler.snapshots[0]?.via, 'pages');
  });

  it('starts a new snapshot when the version is gone, and settles it before anything counts as absent', async () => {
    const handler = await start((request, response) => {
      if (request.kind === 'watch') return sendStatus(response, 410, 'Expired');
      if (server.requests.length === 1) {
        sendEvent(response, 'ADDED', configMap('old', 3));
        sendBookmark(response, 9, true);
        response.end();
        return;
      }
      sendEvent(response, 'ADDED', configMap('new', 90));
      sendBookmark(response, 99, true);
    });
    await nextAttempt();
    await nextAttempt();
    await eventually('the second snapshot', () => handler.snapshots.length === 2);
    assert.deepEqual(handler.told.slice(-4), ['replaying', '+new', 'settled 1', 'streaming']);
    assert.equal(handler.told.includes('-old'), false);
  });

  it('starts a new snapshot on an ERROR event with code 410', async () => {
    const handler = await start((request, response) => {
      if (request.kind === 'watch-list') {
        sendBookmark(response, server.requests.length, true);
        if (server.requests.length > 1) return;
      }
      sendEvent(response, 'ERROR', statusBody(410, 'Expired', 'too old resource version'));
    });
    await nextAttempt();
    await eventually('the second snapshot', () => handler.snapshots.length === 2);
    assert.equal(server.requests[1]?.kind, 'watch-list');
  });
});
