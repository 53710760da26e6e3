import assert from 'node:assert/strict';
import type { Collection, StreamHandler } from '../../src/kube/collection.ts';
import { StreamSet, type StreamSetOptions } from '../../src/kube/stream-set.ts';
import {
  clientOf,
  configMap,
  type FaultServer,
  sendBookmark,
  sendEvent,
  startFaultServer,
} from './fault-server.ts';
import { eventually, ManualClock } from './manual-clock.ts';
import { configMaps, type Recorder, recorder } from './recorder.ts';

const secrets: Collection = { ...configMaps, resource: 'secrets' };
const red: Collection = { ...configMaps, labelSelector: 'color=red' };

describe('a set of streams', () => {
  let server: FaultServer;
  let set: StreamSet;
  let failures: string[];
  let handlers: Map<string, Recorder>;

  beforeEach(async () => {
    failures = [];
    handlers = new Map();
    server = await startFaultServer((_request, response) => {
      sendEvent(response, 'ADDED', configMap('a', 3));
      sendBookmark(response, 9, true);
    });
  });

  afterEach(async () => {
    await set.stop();
    await server.close();
  });

  function create(options: Partial<StreamSetOptions> = {}, told: Partial<StreamHandler> = {}): StreamSet {
    const clock = new ManualClock();
    set = new StreamSet({
      client: clientOf(server, {}, clock),
      clock,
      random: () => 0.5,
      handlerFor(collection) {
        const handler = recorder(told);
        handlers.set(nameOf(collection), handler);
        return handler;
      },
      onFailure: (collection, error) => failures.push(`${nameOf(collection)}: ${error}`),
      ...options,
    });
    return set;
  }

  function settled(...names: string[]): Promise<void> {
    return eventually(`${names} to settle`, () =>
      names.every((name) => handlers.get(name)?.told.includes('streaming')),
    );
  }

  it('leaves the streams alone that are still wanted', async () => {
    create();
    await set.update([configMaps, secrets]);
    await settled('configmaps', 'secrets');
    const kept = set.get(configMaps);
    await set.update([configMaps, red]);
    await settled('configmaps color=red');
    assert.equal(set.get(configMaps), kept);
    assert.equal(set.get(secrets), undefined);
    assert.deepEqual(
      server.requests.map(({ path, query }) =>
        `${path.split('/').at(-1)} ${query.get('labelSelector') ?? ''}`.trim(),
      ),
      ['configmaps', 'secrets', 'configmaps color=red'],
    );
    await eventually('the connection of secrets to end', () => server.open() === 2);
  });

  it('runs a collection once however often it is wanted', async () => {
    create();
    await set.update([configMaps, { ...configMaps }]);
    await settled('configmaps');
    await set.update([{ ...configMaps }]);
    assert.equal(set.streams().length, 1);
    assert.equal(server.requests.length, 1);
  });

  it('tells nothing of a stream after the update that dropped it', async () => {
    create();
    await set.update([configMaps]);
    await settled('configmaps');
    await set.update([]);
    const told = handlers.get('configmaps')?.told.length;
    await eventually('the connection to end', () => server.open() === 0);
    assert.equal(handlers.get('configmaps')?.told.length, told);
  });

  it('reports a handler that threw, and lets the other streams run', async () => {
    create({
      handlerFor(collection) {
        const handler = recorder(
          collection.resource === 'secrets' ? { upsert: () => assert.fail('a bug') } : {},
        );
        handlers.set(nameOf(collection), handler);
        return handler;
      },
    });
    await set.update([configMaps, secrets]);
    await settled('configmaps');
    await eventually('the failure', () => failures.length === 1);
    assert.deepEqual(failures, ['secrets: AssertionError [ERR_ASSERTION]: a bug']);
    assert.equal(handlers.get('configmaps')?.told.join(' '), 'replaying +a settled 1 streaming');
  });

  it('reads only so many snapshots at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    create({ replays: 2 }, { settled: () => promise });
    const wanted = ['a', 'b', 'c', 'd'].map((namespace) => ({ ...configMaps, namespace }));
    await set.update(wanted);
    await eventually('two snapshots', () => server.requests.length === 2);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((done) => setImmediate(done));
    assert.equal(server.requests.length, 2);
    resolve();
    await eventually('all streams', () => set.streams().every(({ state }) => state.phase === 'streaming'));
    assert.equal(server.requests.length, 4);
  });

  it('gives up the place of a stream that is dropped while it waits', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    create({ replays: 1 }, { settled: () => promise });
    await set.update([configMaps, secrets, red]);
    await eventually('one snapshot', () => server.requests.length === 1);
    await set.update([configMaps, red]);
    resolve();
    await settled('configmaps', 'configmaps color=red');
    assert.equal(server.requests.length, 2);
  });
});

function nameOf({ resource, labelSelector }: Collection): string {
  return `${resource} ${labelSelector}`.trim();
}
