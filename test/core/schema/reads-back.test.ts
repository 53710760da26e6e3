import assert from 'node:assert/strict';
import { kindSchema, unexplained } from '../../../src/core/intent/schema/index.ts';
import type { Json, JsonObject, Path } from '../../../src/core/json.ts';

const spec: Path = ['spec', 'template', 'spec'];
const container: Path = [...spec, 'containers', 0];

describe('how stated values read back', () => {
  const rows: [string, Path, Json, Json | undefined, boolean][] = [
    ['a false that vanishes', [...spec, 'hostNetwork'], false, undefined, true],
    ['a false that is kept', [...spec, 'automountServiceAccountToken'], false, undefined, false],
    ['a true', [...spec, 'hostNetwork'], true, undefined, false],
    ['an empty env value', [...container, 'env', 0, 'value'], '', undefined, true],
    ['a zero that a default replaces', [...container, 'livenessProbe', 'periodSeconds'], 0, 10, true],
    ['a zero that became something else', [...container, 'livenessProbe', 'periodSeconds'], 0, 7, false],
    ['zero replicas', ['spec', 'replicas'], 0, 1, false],
    ['an empty policy', [...container, 'imagePullPolicy'], '', 'Always', true],
    ['an empty list', [...container, 'args'], [], undefined, true],
    ['a list with items', [...container, 'args'], ['a'], undefined, false],
    ['an empty map', ['metadata', 'labels'], {}, undefined, true],
    ['an empty map of any name', [...spec, 'nodeSelector'], {}, undefined, true],
    ['a map of nulls', ['metadata', 'labels'], { a: null }, undefined, true],
    ['an empty object that is kept', [...spec, 'volumes', 0, 'emptyDir'], {}, undefined, false],
    ['a null', [...spec, 'hostAliases'], null, undefined, true],
    ['a null that a default replaces', [...spec, 'dnsPolicy'], null, 'ClusterFirst', true],
    ['a null where a person set a value', [...spec, 'dnsPolicy'], null, 'Default', false],
    ['a null label', ['metadata', 'labels', 'a'], null, '', true],
    ['a null amount', [...container, 'resources', 'limits', 'cpu'], null, '0', true],
    ['an amount in other words', [...container, 'resources', 'limits', 'cpu'], '1000m', '1', true],
    ['an amount too fine', [...container, 'resources', 'limits', 'cpu'], '0.0001', '1m', true],
    ['another amount', [...container, 'resources', 'limits', 'cpu'], '1000m', '2', false],
    ['a number where text is text', ['metadata', 'annotations', 'a'], '1000m', '1', false],
    ['a field that is not enabled', [...container, 'lifecycle', 'stopSignal'], 'SIGUSR1', undefined, true],
    ['bookkeeping from an export', ['metadata', 'uid'], 'old', 'new', true],
    ['the namespace of a cluster object', ['metadata', 'namespace'], 'shop', undefined, true],
    ['an unknown field', ['spec', 'nonsense'], 1, undefined, false],
  ];
  for (const [name, path, stated, live, expected] of rows) {
    it(`${name}: ${expected ? 'the same' : 'a difference'}`, () => {
      assert.equal(kindSchema('apps/v1', 'Deployment').readsBack({ path, stated, live }), expected);
    });
  }

  it('custom resources keep their zero values', () => {
    const schema = kindSchema('example.test/v1', 'Shop');
    for (const stated of [[], {}, 0, false, '']) {
      assert.ok(!schema.readsBack({ path: ['spec', 'a'], stated, live: undefined }));
    }
    assert.ok(schema.readsBack({ path: ['spec', 'a'], stated: null, live: undefined }));
    assert.ok(schema.readsBack({ path: ['metadata', 'labels'], stated: {}, live: undefined }));
  });

  it('a Secret gives base64 back without line breaks, and stringData as data', () => {
    const schema = kindSchema('v1', 'Secret');
    const document: JsonObject = { data: { a: 'b2xk' }, stringData: { a: 'new' } };
    const object: JsonObject = { data: { a: 'bmV3' } };
    assert.ok(schema.readsBack({ path: ['data', 'x'], stated: 'YWJj\nZGVm\n', live: 'YWJjZGVm' }));
    assert.ok(
      schema.readsBack({ path: ['stringData'], stated: { a: 'new' }, live: undefined, document, object }),
    );
    assert.ok(
      !schema.readsBack({ path: ['stringData'], stated: { a: 'other' }, live: undefined, document, object }),
    );
    assert.ok(schema.readsBack({ path: ['data', 'a'], stated: 'b2xk', live: 'bmV3', document, object }));
    assert.ok(!schema.readsBack({ path: ['data', 'a'], stated: 'b2xk', live: 'bmV3' }));
  });

  it('with both objects a replaced zero is checked against its source', () => {
    const schema = kindSchema('v1', 'Service');
    const service = (targetPort: Json): JsonObject => ({
      spec: { ports: [{ port: 80, protocol: 'TCP', targetPort }] },
    });
    const path = ['spec', 'ports', 0, 'targetPort'];
    const field = { path, stated: 0, document: service(0) };
    assert.ok(schema.readsBack({ ...field, live: 80, object: service(80) }));
    assert.ok(!schema.readsBack({ ...field, live: 81, object: service(81) }));
  });

  it('an aggregated role belongs to its controller', () => {
    const role = (rules: Json): JsonObject => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
      rules,
    });
    const schema = kindSchema('rbac.authorization.k8s.io/v1', 'ClusterRole');
    const filled = role([{ verbs: ['get'], resources: ['pods'], apiGroups: [''] }]);
    assert.deepEqual(unexplained(filled, role([]), schema), []);
    const { aggregationRule: _live, ...live } = filled;
    const { aggregationRule: _document, ...document } = role([]);
    assert.notDeepEqual(unexplained(live, document, schema), []);
  });
});
