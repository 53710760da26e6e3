import assert from 'node:assert/strict';
import fc from 'fast-check';
import { kindSchema, unexplained } from '../../../src/core/intent/schema/index.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../../src/core/json.ts';

const kinds = [
  ['apps/v1', 'Deployment'],
  ['v1', 'Service'],
  ['v1', 'Pod'],
  ['v1', 'Secret'],
  ['v1', 'LimitRange'],
  ['batch/v1', 'Job'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['argoproj.io/v1alpha1', 'ApplicationSet'],
  ['example.test/v1', 'Unknown'],
] as const;

/** Names that the tables know, so that random objects reach the rules. */
const names = [
  ...[
    'metadata',
    'spec',
    'template',
    'containers',
    'ports',
    'port',
    'protocol',
    'targetPort',
    'type',
    'name',
    'image',
  ],
  ...[
    'imagePullPolicy',
    'resources',
    'limits',
    'requests',
    'cpu',
    'egress',
    'policyTypes',
    'data',
    'stringData',
    'max',
  ],
  ...[
    'default',
    'volumes',
    'tolerations',
    'labels',
    'finalizers',
    'metrics',
    'behavior',
    '__proto__',
    'constructor',
    '',
  ],
];

describe('the schema on any value', () => {
  const { node } = fc.letrec<{ node: Json; leaf: Json }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      tie('leaf'),
      fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 5, noNullPrototype: true }),
      fc.array(tie('node'), { maxLength: 3 }),
    ),
    leaf: fc.constantFrom<Json>(
      null,
      true,
      0,
      1,
      5n,
      '',
      'a',
      'TCP',
      '1000m',
      'Ingress',
      'ClusterIP',
      'web:latest',
    ),
  }));
  const object = fc
    .dictionary(fc.constantFrom(...names), node as fc.Arbitrary<Json>, { maxKeys: 6, noNullPrototype: true })
    .filter(isObject);

  for (const [apiVersion, kind] of kinds) {
    it(`${kind}: never throws, and an object explains itself`, () => {
      const schema = kindSchema(apiVersion, kind);
      fc.assert(
        fc.property(object, object, (live: JsonObject, document: JsonObject) => {
          assert.deepEqual(unexplained(live, structuredClone(live), schema), []);
          for (const path of unexplained(live, document, schema)) assert.ok(path.length > 0);
          for (const path of pathsOf(live)) {
            const field = { live, path, document, documentPath: undefined };
            const explained = schema.explain(field) !== undefined;
            assert.equal(schema.unexplained(field).length === 0, explained);
          }
        }),
        { numRuns: 60 },
      );
    });
  }
});

function pathsOf(value: Json, path: Path = []): Path[] {
  const members: (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : isObject(value)
      ? Object.entries(value)
      : [];
  return members.flatMap(([step, inner]) => [[...path, step], ...pathsOf(inner, [...path, step])]);
}
