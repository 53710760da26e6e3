import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  alignPath,
  equalByMeaning,
  isOrdered,
  kindSchema,
  pairItems,
} from '../../../src/core/intent/schema/index.ts';
import type { Json, JsonObject, Path } from '../../../src/core/json.ts';

const deployment = kindSchema('apps/v1', 'Deployment');
const service = kindSchema('v1', 'Service');
const configMap = kindSchema('v1', 'ConfigMap');
const unknown = kindSchema('example.test/v1', 'Nothing');
const containers: Path = ['spec', 'template', 'spec', 'containers'];

describe('equality by meaning', () => {
  const cpu = [...containers, 0, 'resources', 'limits', 'cpu'];

  it('compares amounts by value where the schema says so', () => {
    assert.ok(equalByMeaning(2, '2000m', deployment, cpu));
    assert.ok(!equalByMeaning('2', '2001m', deployment, cpu));
    assert.ok(!equalByMeaning('1000m', '1', configMap, ['data', 'cpu']));
    assert.ok(!equalByMeaning('1000m', '1', unknown, ['spec', 'cpu']));
  });

  it('compares int-or-string by value', () => {
    const path = ['spec', 'ports', 0, 'targetPort'];
    assert.ok(equalByMeaning(80, '80', service, path));
    assert.ok(!equalByMeaning('http', '80', service, path));
    assert.ok(!equalByMeaning('25%', 25, deployment, ['spec', 'strategy', 'rollingUpdate', 'maxSurge']));
    assert.ok(!equalByMeaning(80, '80', service, ['spec', 'ports', 0, 'port']));
  });

  it('compares durations of Flux by length', () => {
    const kustomization = kindSchema('kustomize.toolkit.fluxcd.io/v1', 'Kustomization');
    assert.ok(equalByMeaning('1m', '60s', kustomization, ['spec', 'interval']));
    assert.ok(!equalByMeaning('1m', '60s', kustomization, ['spec', 'path']));
  });

  it('takes null for absent, and nothing else', () => {
    assert.ok(equalByMeaning(null, undefined, service, ['spec']));
    assert.ok(equalByMeaning({ a: null, b: 1 }, { b: 1 }, service, ['spec']));
    assert.ok(equalByMeaning({ b: 1 }, { a: null, b: 1 }, service, ['spec']));
    for (const value of [{}, [], '', 0, false])
      assert.ok(!equalByMeaning(value, undefined, service, ['spec']));
  });

  it('keeps integers apart beyond the precision of a double', () => {
    assert.ok(!equalByMeaning(9007199254740993n, 9007199254740992, unknown, ['a']));
    assert.ok(equalByMeaning(5n, 5, unknown, ['a']));
  });

  it('takes keyed lists and sets in any order, but not where order means something', () => {
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    assert.ok(equalByMeaning([a, b], [b, a], deployment, containers));
    assert.ok(equalByMeaning(['x', 'y'], ['y', 'x'], service, ['metadata', 'finalizers']));
    for (const path of [
      [...containers, 0, 'env'],
      ['spec', 'template', 'spec', 'initContainers'],
      [...containers, 0, 'args'],
    ]) {
      assert.ok(isOrdered(deployment, path));
      assert.ok(!equalByMeaning([a, b], [b, a], deployment, path));
    }
  });

  it('holds for equal values and for both directions', () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(value, value, (a, b) => {
        assert.ok(equalByMeaning(a, structuredClone(a), unknown, ['spec']));
        assert.equal(equalByMeaning(a, b, unknown, ['spec']), equalByMeaning(b, a, unknown, ['spec']));
      }),
    );
  });
});

describe('what the schema says about lists and maps', () => {
  it('names the keys, sets and atomic maps of built-in kinds', () => {
    assert.deepEqual(service.listKeys(['spec', 'ports']), ['port', 'protocol']);
    assert.deepEqual(service.keyDefaults(['spec', 'ports']), { protocol: 'TCP' });
    assert.deepEqual(deployment.listKeys([...containers, 2, 'volumeMounts']), ['mountPath']);
    assert.equal(deployment.listKeys([...containers, 0, 'args']), undefined);
    assert.equal(deployment.listKeys(['spec', 'template', 'spec', 'tolerations']), undefined);
    assert.ok(service.isSet(['metadata', 'finalizers']));
    assert.ok(!service.isSet(['spec', 'ports']));
    assert.ok(service.isAtomicMap(['spec', 'selector']));
    assert.ok(deployment.isAtomicMap(['spec', 'selector']));
    assert.ok(!kindSchema('v1', 'PersistentVolume').isAtomicMap(['spec', 'claimRef']));
    assert.ok(deployment.isMap(['metadata', 'labels']));
    assert.ok(!deployment.isMap(['spec', 'strategy']));
  });

  it('follows a schema that contains itself', () => {
    const crd = kindSchema('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    const schema = ['spec', 'versions', 0, 'schema', 'openAPIV3Schema'];
    const deep = [...schema, 'properties', 'a', 'items', 'properties', 'b', 'x-kubernetes-validations'];
    assert.deepEqual(crd.listKeys([...schema, 'properties', 'a', 'x-kubernetes-validations']), ['rule']);
    assert.ok(crd.isMap([...schema, 'properties', 'a', 'properties']));
    assert.equal(crd.listKeys(deep), undefined);
  });

  it('pairs the lists of unknown kinds by name', () => {
    assert.deepEqual(unknown.listKeys(['spec', 'things', 0, 'parts']), ['name']);
    const [a, b] = [{ name: 'a', x: 1 }, { name: 'b' }];
    assert.deepEqual(pairItems(unknown, ['spec', 'things'], [a, b], [b, a]), [1, 0]);
    assert.deepEqual(
      pairItems(unknown, ['spec', 'things'], [{ x: 1 }, { x: 2 }], [{ x: 0 }, { x: 1 }, { x: 2 }]),
      [1, 2],
    );
  });
});

describe('pairing of list items', () => {
  const ports: Path = ['spec', 'ports'];

  it('tells two protocols of one port apart', () => {
    const live = [
      { name: 'metrics', port: 9153, protocol: 'TCP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ];
    const stated = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53 },
      { name: 'metrics', port: 9153 },
    ];
    assert.deepEqual(pairItems(service, ports, live, stated), [2, 1, 0]);
    const unnamed = [{ port: 53 }, { port: 53, protocol: 'UDP' }];
    assert.deepEqual(pairItems(service, ports, unnamed, [...unnamed].reverse()), [1, 0]);
  });

  it('keeps a named port when its number changes, and a numbered one when its name does', () => {
    assert.deepEqual(
      pairItems(service, ports, [{ name: 'web', port: 81 }], [{ name: 'web', port: 80 }]),
      [0],
    );
    assert.deepEqual(
      pairItems(service, ports, [{ name: 'http', port: 80 }], [{ name: 'web', port: 80 }]),
      [0],
    );
  });

  it('tells repeated container ports apart by their content', () => {
    const path = [...containers, 0, 'ports'];
    const [a, b] = [
      { containerPort: 80, hostPort: 1 },
      { containerPort: 80, hostPort: 2 },
    ];
    assert.deepEqual(pairItems(deployment, path, [a, b], [b, a]), [1, 0]);
    assert.deepEqual(pairItems(deployment, path, [a, { ...b, hostPort: 3 }], [a, b]), [0, 1]);
  });

  it('falls back to content and order when names repeat', () => {
    const path = [...containers, 0, 'env'];
    const repeated = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ];
    assert.deepEqual(pairItems(deployment, path, repeated, repeated), [0, 1]);
    assert.deepEqual(pairItems(deployment, path, repeated, repeated.slice(1)), [undefined, 0]);
  });

  it('shifts nothing when an item of an unkeyed list comes or goes', () => {
    const path = [...containers, 0, 'args'];
    assert.deepEqual(pairItems(deployment, path, ['a', 'new', 'b', 'c'], ['a', 'b', 'c']), [
      0,
      undefined,
      1,
      2,
    ]);
    assert.deepEqual(pairItems(deployment, path, ['b', 'c'], ['a', 'b', 'c']), [1, 2]);
    assert.deepEqual(pairItems(deployment, path, ['a', 'x', 'c'], ['a', 'b', 'c']), [0, 1, 2]);
    assert.deepEqual(pairItems(deployment, path, [], ['a']), []);
  });

  it('sees through defaults when it lines items up', () => {
    const path = ['spec', 'rules', 0, 'http', 'paths'];
    const live = [{ path: '/new' }, { path: '/a', pathType: 'Prefix' }, { path: '/b' }];
    assert.deepEqual(
      pairItems(kindSchema('networking.k8s.io/v1', 'Ingress'), path, live, [{ path: '/a' }, { path: '/b' }]),
      [undefined, 0, 1],
    );
  });

  it('gives every item at most one partner', () => {
    const item = fc.record(
      { name: fc.constantFrom('a', 'b', 'c'), port: fc.constantFrom(1, 2) },
      { requiredKeys: [] },
    );
    const items = fc.array(fc.oneof(item, fc.constantFrom('x', 'y')), { maxLength: 6 }) as fc.Arbitrary<
      Json[]
    >;
    fc.assert(
      fc.property(
        items,
        items,
        fc.constantFrom(ports, [...containers, 0, 'args'], ['metadata', 'finalizers']),
        (a, b, path) => {
          const pairs = pairItems(service, path, a, b);
          const found = pairs.filter((position) => position !== undefined);
          assert.equal(pairs.length, a.length);
          assert.equal(new Set(found).size, found.length);
          assert.ok(found.every((position) => position >= 0 && position < b.length));
        },
      ),
    );
  });

  it('stays quick on long lists', () => {
    const long = Array.from({ length: 4000 }, (_item, index) => `--flag-${index}`);
    const started = performance.now();
    const pairs = pairItems(deployment, [...containers, 0, 'args'], ['first', ...long], [...long, 'last']);
    assert.equal(pairs.length, 4001);
    assert.ok(performance.now() - started < 1000);
  });

  it('follows a live path into the document', () => {
    const object = (items: Json[]): JsonObject => ({ spec: { ports: items } });
    const live = object([
      { name: 'b', port: 2 },
      { name: 'a', port: 1, targetPort: 1 },
    ]);
    const document = object([{ name: 'a', port: 1 }]);
    assert.deepEqual(alignPath(service, live, document, ['spec', 'ports', 1, 'port']), [
      'spec',
      'ports',
      0,
      'port',
    ]);
    assert.deepEqual(alignPath(service, live, document, ['spec', 'ports', 1, 'targetPort']), [
      'spec',
      'ports',
      0,
    ]);
    assert.deepEqual(alignPath(service, live, document, ['spec', 'ports', 0, 'port']), ['spec', 'ports']);
  });
});
