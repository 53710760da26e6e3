import assert from 'node:assert/strict';
import {
  type Discovery,
  judgeServed,
  resourceKey,
  type ServedResource,
} from '../../src/core/catalog/index.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { createDiscovery } from '../../src/kube/discovery.ts';
import {
  type Behaviour,
  clientOf,
  type FaultServer,
  sendJson,
  sendStatus,
  startFaultServer,
} from './fault-server.ts';

const verbs = ['get', 'list', 'watch'];
const plain: Record<string, JsonObject> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs },
      { name: 'namespaces', kind: 'Namespace', namespaced: false, verbs },
      { name: 'namespaces/status', kind: 'Namespace', namespaced: false, verbs: ['get'] },
    ],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'example.org',
        versions: [
          { groupVersion: 'example.org/v1alpha1', version: 'v1alpha1' },
          { groupVersion: 'example.org/v1', version: 'v1' },
        ],
        preferredVersion: { groupVersion: 'example.org/v1', version: 'v1' },
      },
      { name: 'metrics.example.org', versions: [{ groupVersion: 'metrics.example.org/v1', version: 'v1' }] },
    ],
  },
  '/apis/example.org/v1': widgets(),
  '/apis/example.org/v1alpha1': widgets(),
};

function widgets(): JsonObject {
  return {
    kind: 'APIResourceList',
    resources: [
      { name: 'widgets', kind: 'Widget', namespaced: true, verbs },
      {
        name: 'widgets/scale',
        kind: 'Scale',
        group: 'autoscaling',
        version: 'v1',
        namespaced: true,
        verbs: ['get'],
      },
    ],
  };
}

describe('discovery', () => {
  let server: FaultServer;

  afterEach(async () => server.close());

  async function read(behaviour: Behaviour): Promise<Discovery> {
    server = await startFaultServer(behaviour);
    const result = await createDiscovery(clientOf(server)).read();
    assert.equal(result.kind, 'ok', result.kind === 'ok' ? '' : result.message);
    return result.kind === 'ok' ? result.discovery : { resources: [], failed: [] };
  }

  it('goes group by group on a server without aggregated discovery, one failing group included', async () => {
    const { resources, failed } = await read((request, response) => {
      const body = plain[request.path];
      if (body !== undefined) sendJson(response, body);
      else if (request.path.startsWith('/apis/metrics'))
        sendStatus(response, 503, 'ServiceUnavailable', 'no endpoints');
      else sendStatus(response, 403, 'Forbidden');
    });
    assert.deepEqual(resources.map(resourceKey), [
      'configmaps.v1',
      'namespaces.v1',
      'widgets.v1.example.org',
      'widgets.v1alpha1.example.org',
    ]);
    assert.deepEqual(
      resources.map(({ preferred }) => preferred),
      [true, true, true, false],
    );
    assert.deepEqual(resources[1]?.subresources, ['status']);
    assert.equal(resources[2]?.origin, 'extension');
    assert.deepEqual(
      failed.map(({ group, version }) => `${group}/${version}`),
      ['metrics.example.org/v1'],
    );
    assert.match(failed[0]?.message ?? '', /no endpoints/);
  });

  it('takes a stale version of aggregated discovery for one that failed', async () => {
    const { resources, failed } = await read((request, response) => {
      if (request.path === '/api') return sendJson(response, { kind: 'APIGroupDiscoveryList', items: [] });
      if (request.path !== '/apis') return sendStatus(response, 403, 'Forbidden');
      assert.match(String(request.headers.accept), /as=APIGroupDiscoveryList/);
      const widget = { resource: 'widgets', responseKind: { kind: 'Widget' }, scope: 'Namespaced', verbs };
      const versions = [
        { version: 'v2', freshness: 'Current', resources: [widget] },
        { version: 'v1', freshness: 'Stale', resources: [widget] },
      ];
      sendJson(response, {
        kind: 'APIGroupDiscoveryList',
        items: [{ metadata: { name: 'example.org' }, versions }],
      });
    });
    assert.deepEqual(resources.map(resourceKey), ['widgets.v2.example.org']);
    assert.deepEqual(
      failed.map(({ group, version }) => `${group}/${version}`),
      ['example.org/v1'],
    );
  });

  it('fails as a whole when the server does not answer', async () => {
    server = await startFaultServer((_request, response) => sendStatus(response, 500, 'InternalError'));
    const result = await createDiscovery(clientOf(server)).read();
    assert.equal(result.kind, 'unreachable');
  });

  it('reads the scale path of a CRD once per version of it', async () => {
    let version = '7';
    const crd = (): JsonObject => ({
      metadata: { name: 'widgets.example.org', resourceVersion: version },
      spec: { versions: [{ name: 'v1', subresources: { scale: { specReplicasPath: '.spec.size' } } }] },
    });
    server = await startFaultServer((request, response) => {
      if (request.path.endsWith('/widgets.example.org')) return sendJson(response, crd());
      const body = plain[request.path];
      if (body === undefined) sendStatus(response, 403, 'Forbidden');
      else sendJson(response, body);
    });
    const discovery = createDiscovery(clientOf(server));
    const find = async (): Promise<ServedResource | undefined> => {
      const result = await discovery.read();
      const found = result.kind === 'ok' ? result.discovery.resources : [];
      return found.find((resource) => resourceKey(resource) === 'widgets.v1.example.org');
    };
    const wholeReads = (): number =>
      server.requests.filter(
        ({ path, headers }) => path.endsWith('/widgets.example.org') && headers.accept === 'application/json',
      ).length;
    assert.equal((await find())?.scalePath, '.spec.size');
    assert.equal((await find())?.scalePath, '.spec.size');
    assert.equal(wholeReads(), 1);
    version = '8';
    await find();
    assert.equal(wholeReads(), 2);
    const twice = judgeServed(
      { resources: [(await find()) ?? assert.fail('widgets are gone')], failed: [] },
      { isSensitive: () => false, sensitiveSupported: false },
    );
    assert.deepEqual(twice.get('widgets.v1.example.org')?.verdict, { kind: 'followable' });
  });
});
