import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/core/json.ts';
import type { KubeClientOptions } from '../../src/kube/client.ts';
import {
  type Behaviour,
  clientOf,
  configMap,
  type FaultRequest,
  type FaultServer,
  sendJson,
  sendList,
  sendStatus,
  startFaultServer,
} from './fault-server.ts';
import { eventually, ManualClock } from './manual-clock.ts';
import { encodeList } from './metadata-list-bytes.ts';

const maps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'shop' } as const;
const web = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  namespace: 'shop',
  name: 'web',
} as const;

describe('the API client', () => {
  let server: FaultServer;
  let clock: ManualClock;

  beforeEach(async () => {
    server = await startFaultServer((_request, response) => sendJson(response, configMap('a', 1)));
    clock = new ManualClock();
  });
  afterEach(async () => server.close());

  function client(options: Partial<KubeClientOptions> = {}) {
    return clientOf(server, options, clock);
  }

  function last(): FaultRequest {
    return server.requests.at(-1) ?? assert.fail('no request came');
  }

  it('says who it is, and asks for JSON', async () => {
    await client({ version: '1.2.3' }).get(web);
    assert.equal(last().headers['user-agent'], 'gitops-reverser/1.2.3');
    assert.equal(last().headers.accept, 'application/json');
    assert.equal(last().path, '/apis/apps/v1/namespaces/shop/deployments/web');
  });

  it('keeps the letters of a name and cannot be led to another path by it', async () => {
    const role = {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      resource: 'clusterroles',
      namespace: '',
    };
    await client().get({ ...role, name: 'My:Role/../x' });
    assert.equal(last().path, '/apis/rbac.authorization.k8s.io/v1/clusterroles/My%3ARole%2F..%2Fx');
    assert.throws(() => client().get({ ...role, name: '..' }), /cannot be part of a Kubernetes URL/);
    assert.throws(() => client().get({ ...role, name: '' }), /cannot be part of a Kubernetes URL/);
  });

  for (const [type, contentType] of [
    ['merge', 'application/merge-patch+json'],
    ['apply', 'application/apply-patch+yaml'],
  ] as const) {
    it(`sends a ${type} patch as such, signed with our field manager`, async () => {
      const large = 9_007_199_254_740_993n;
      await client().patch(
        web,
        { type, body: { spec: { size: large } } },
        { subresource: 'status', force: true },
      );
      const { headers, body, query, path, method } = last();
      assert.equal(method, 'PATCH');
      assert.equal(path, '/apis/apps/v1/namespaces/shop/deployments/web/status');
      assert.equal(headers['content-type'], contentType);
      assert.equal(query.get('fieldManager'), 'gitops-reverser');
      assert.equal(query.get('force'), type === 'apply' ? 'true' : null);
      assert.equal(body, '{"spec":{"size":9007199254740993}}');
    });
  }

  it('sends a JSON patch as a list', async () => {
    await client().patch(web, { type: 'json', body: [{ op: 'remove', path: '/spec/paused' }] });
    assert.equal(last().body, '[{"op":"remove","path":"/spec/paused"}]');
    assert.equal(last().headers['content-type'], 'application/json-patch+json');
  });

  it('deletes under a precondition', async () => {
    await client().delete(web, { uid: 'u1', resourceVersion: '7', propagation: 'Orphan' });
    assert.deepEqual(JSON.parse(last().body), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Orphan',
      preconditions: { uid: 'u1', resourceVersion: '7' },
    });
  });

  for (const [status, reason, kind] of [
    [400, 'BadRequest', 'invalid'],
    [401, 'Unauthorized', 'unauthorized'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'not-found'],
    [409, 'Conflict', 'conflict'],
    [409, 'AlreadyExists', 'exists'],
    [410, 'Expired', 'gone'],
    [422, 'Invalid', 'invalid'],
    [500, 'InternalError', 'unreachable'],
    [504, 'Timeout', 'unreachable'],
  ] as const) {
    it(`returns ${status} ${reason} as ${kind}`, async () => {
      server.behave((_request, response) => sendStatus(response, status, reason, 'said so'));
      const result = await client().get(web);
      assert.equal(result.kind, kind);
      assert.equal('message' in result && result.message, 'get deployments.apps/shop/web: said so');
    });
  }

  it('reads how long a 429 asks to wait, within bounds', async () => {
    const waits: number[] = [];
    for (const header of ['7', '100000', 'Wed, 21 Oct 2026 07:28:00 GMT']) {
      server.behave((_request, response) => {
        response.setHeader('retry-after', header);
        sendStatus(response, 429, 'TooManyRequests');
      });
      const result = await client().get(web);
      waits.push(result.kind === 'too-many-requests' ? result.retryAfterMs : 0);
    }
    assert.deepEqual(waits, [7000, 60_000, 1000]);
  });

  it('returns an answer that is no JSON object, or no answer, as unreachable', async () => {
    for (const body of ['<html>', '[]', '', '{"a":']) {
      server.behave((_request, response) => response.writeHead(200).end(body));
      assert.equal((await client().get(web)).kind, 'unreachable');
    }
    server.behave((_request, response) => response.destroy());
    assert.equal((await client().get(web)).kind, 'unreachable');
    const nobody = clientOf({ url: 'http://127.0.0.1:1' }, {}, clock);
    assert.equal((await nobody.get(web)).kind, 'unreachable');
  });

  for (const [story, behaviour] of [
    ['before the headers', () => undefined],
    ['inside the body', (_request, response) => response.writeHead(200).write('{"kind":')],
  ] as const satisfies readonly (readonly [string, Behaviour])[]) {
    it(`gives up ${story} when the deadline passes`, async () => {
      server.behave(behaviour);
      const result = client().get(web, { deadlineMs: 5000 });
      await eventually('the request', () => server.requests.length === 1);
      clock.advance(5000);
      assert.deepEqual(await result, {
        kind: 'unreachable',
        message: 'get deployments.apps/shop/web: no answer within 5000 ms',
      });
      await eventually('the connection to end', () => server.open() === 0);
    });
  }

  it('is called off by the signal of its caller', async () => {
    server.behave(() => undefined);
    const controller = new AbortController();
    const result = client().get(web, { signal: controller.signal });
    await eventually('the request', () => server.requests.length === 1);
    controller.abort();
    assert.equal((await result).kind, 'aborted');
    assert.equal((await client().get(web, { signal: controller.signal })).kind, 'aborted');
    assert.equal(server.requests.length, 1);
    assert.deepEqual(clock.waiting(), []);
  });

  it('reads no more than the limit', async () => {
    server.behave((_request, response) => sendJson(response, configMap('a', 1, { big: 'x'.repeat(10_000) })));
    assert.equal((await client({ responseLimit: 5000 }).get(web)).kind, 'too-large');
    assert.equal((await client({ responseLimit: 20_000 }).get(web)).kind, 'ok');
  });

  it('asks for smaller pages when a page is too large', async () => {
    const all = Array.from({ length: 10 }, (_, index) =>
      configMap(`m${index}`, 1, { text: 'x'.repeat(1000) }),
    );
    server.behave(({ query }, response) => {
      const from = Number(query.get('continue') ?? 0);
      const to = from + Number(query.get('limit'));
      sendList(response, all.slice(from, to), 9, to < all.length ? String(to) : '');
    });
    const result = await client({ responseLimit: 5000 }).listAll(maps, { limit: 8 });
    assert.equal(result.kind === 'ok' && result.items.length, 10);
    assert.deepEqual(
      server.requests.map(({ query }) => query.get('limit')),
      ['8', '2', '2', '2', '2', '2'],
    );
  });

  it('ends a list with the failure of a page', async () => {
    server.behave(({ query }, response) => {
      if (query.has('continue')) sendStatus(response, 410, 'Expired');
      else sendList(response, [configMap('a', 1)], 9, 'next');
    });
    const kinds: string[] = [];
    for await (const page of client().list(maps)) kinds.push(page.kind);
    assert.deepEqual(kinds, ['ok', 'gone']);
    assert.equal((await client().listAll(maps)).kind, 'gone');
    server.behave((_request, response) =>
      sendList(response, [configMap('a', 1, { text: 'x'.repeat(9000) })], 9),
    );
    assert.equal((await client({ responseLimit: 5000 }).listAll(maps)).kind, 'too-large');
  });

  it('lists by pages of 500 and leaves the version open', async () => {
    server.behave((_request, response) => sendList(response, [], 3));
    await client().listAll(maps, { labelSelector: 'app in (a,b)', fieldSelector: 'metadata.name=x' });
    assert.deepEqual(Object.fromEntries(last().query), {
      limit: '500',
      labelSelector: 'app in (a,b)',
      fieldSelector: 'metadata.name=x',
    });
  });

  it('takes a list without items for an empty one, and anything else for no answer', async () => {
    const metadata: JsonObject = { resourceVersion: '5' };
    server.behave((_request, response) =>
      sendJson(response, { kind: 'ConfigMapList', metadata, items: null }),
    );
    const empty = await client().listAll(maps);
    assert.equal(empty.kind === 'ok' && empty.items.length === 0 && empty.resourceVersion, '5');
    server.behave((_request, response) =>
      sendJson(response, { kind: 'ConfigMapList', metadata, items: 'none' }),
    );
    assert.equal((await client().listAll(maps)).kind, 'unreachable');
    server.behave((_request, response) => sendJson(response, { kind: 'Status' }));
    assert.equal((await client().listAll(maps)).kind, 'unreachable');
  });

  it('reads names and versions of all pages, in protobuf or in JSON as the server likes it', async () => {
    const versions = [
      { namespace: 'shop', name: 'a', resourceVersion: '1' },
      { namespace: 'shop', name: 'b', resourceVersion: '2' },
    ];
    const expected = { kind: 'ok', items: versions, resourceVersion: '9' };
    const type = { 'content-type': 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList' };
    server.behave(({ query }, response) => {
      const last = query.has('continue');
      const bytes = encodeList(versions.slice(last ? 1 : 0, last ? 2 : 1), {
        resourceVersion: '9',
        next: last ? '' : 'more',
      });
      response.writeHead(200, type).end(bytes);
    });
    assert.deepEqual(await client().listVersions(maps, { labelSelector: 'app=a' }), expected);
    assert.deepEqual(Object.fromEntries(last().query), {
      limit: '500',
      continue: 'more',
      labelSelector: 'app=a',
    });
    assert.match(
      String(last().headers.accept),
      /protobuf;as=PartialObjectMetadataList.*,application\/json;as=/,
    );
    server.behave(({ query }, response) => {
      if (query.has('continue')) sendList(response, [configMap('b', 2)], 9);
      else sendList(response, [configMap('a', 1)], 9, 'more');
    });
    assert.deepEqual(await client().listVersions(maps), expected);
  });

  it('takes versions that it cannot read for no answer, never for an empty collection', async () => {
    const type = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    const whole = encodeList([{ namespace: 'shop', name: 'a', resourceVersion: '1' }]);
    for (const bytes of [Buffer.alloc(0), whole.subarray(0, -1), encodeList([], { kind: 'Status' })]) {
      server.behave((_request, response) => response.writeHead(200, type).end(bytes));
      assert.equal((await client().listVersions(maps)).kind, 'unreachable');
    }
    server.behave((_request, response) => sendList(response, [{ metadata: { resourceVersion: '4' } }], 9));
    assert.equal((await client().listVersions(maps)).kind, 'unreachable');
    server.behave(({ query }, response) => {
      if (query.has('continue')) sendStatus(response, 410, 'Expired');
      else sendList(response, [configMap('a', 1)], 9, 'next');
    });
    assert.equal((await client().listVersions(maps)).kind, 'gone');
  });

  it('keeps to its rate, bursts included', async () => {
    const limited = client({ rateLimit: { qps: 10, burst: 3 }, deadlineMs: 60_000 });
    const calls = Array.from({ length: 5 }, () => limited.get(web));
    await eventually('the burst', () => server.requests.length === 3);
    await Promise.all(calls.slice(0, 3));
    assert.deepEqual(
      clock.waiting().filter((ms) => ms < 60_000),
      [100, 200],
    );
    clock.advance(100);
    await calls[3];
    clock.advance(100);
    await calls[4];
    assert.equal(server.requests.length, 5);
  });

  it('lets the deadline end the wait for the rate', async () => {
    const limited = client({ rateLimit: { qps: 0.1, burst: 1 } });
    await limited.get(web);
    const late = limited.get(web, { deadlineMs: 2000 });
    await eventually('the wait', () => clock.waiting().includes(2000));
    clock.advance(2000);
    assert.equal((await late).kind, 'unreachable');
    assert.equal(server.requests.length, 1);
  });
});
