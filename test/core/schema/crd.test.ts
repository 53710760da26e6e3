import assert from 'node:assert/strict';
import { crdSchemasOf, kindSchema, unexplained } from '../../../src/core/intent/schema/index.ts';
import { crdTable } from '../../../src/core/intent/schema/table.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { crdFolders, crdTableOf } from './generate-crds.ts';

const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

describe('schemas of custom resources', () => {
  const properties: JsonObject = {
    size: { type: 'integer', default: 3 },
    settings: {
      type: 'object',
      default: {},
      properties: {
        colour: { type: 'string', default: 'red' },
        depth: { type: 'object', properties: { metres: { type: 'integer', default: 1 } } },
      },
    },
    whole: {
      type: 'object',
      default: { a: 1, b: 2 },
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    },
    open: { type: 'object', properties: { hours: { type: 'integer', default: 8 } } },
    maybe: { type: 'string', nullable: true, default: 'x' },
    amount: {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
      pattern: quantityPattern,
    },
    port: { 'x-kubernetes-int-or-string': true },
    text: { type: 'string', pattern: quantityPattern },
    shelves: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'side'],
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          side: { type: 'string', default: 'left' },
          height: { type: 'integer', default: 2 },
        },
      },
    },
    plain: {
      type: 'array',
      items: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    reference: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
    rooms: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { floor: { type: 'integer', default: 0 } } },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { metadata: { type: 'object' } },
    },
  };
  const crds = crdSchemasOf([
    { kind: 'ConfigMap', spec: {} },
    {
      kind: 'CustomResourceDefinition',
      spec: {
        group: 'example.test',
        names: { kind: 'Shop' },
        versions: [
          {
            name: 'v1',
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
            },
          },
          { name: 'v0' },
        ],
      },
    },
  ]);
  const schema = kindSchema('example.test/v1', 'Shop', crds);

  it('are found by version', () => {
    assert.ok(crds.get('example.test/v1', 'Shop'));
    assert.equal(crds.get('example.test/v0', 'Shop'), undefined);
    assert.equal(crds.get('example.test/v1', 'Other'), undefined);
  });

  const rows: [string, JsonObject, JsonObject, string[]][] = [
    ['a default', { size: 3 }, {}, []],
    ['another value', { size: 4 }, {}, ['spec.size']],
    ['a stated value that is gone', {}, { size: 3 }, ['spec.size']],
    ['an object that is a default', { settings: { colour: 'red' } }, {}, []],
    ['an edit inside it', { settings: { colour: 'blue' } }, {}, ['spec.settings.colour']],
    ['a member in a stated object', { settings: { colour: 'red' } }, { settings: {} }, []],
    ['a parent that nobody invents', { open: { hours: 8 } }, {}, ['spec.open.hours']],
    ['a default in a stated parent', { open: { hours: 8 } }, { open: {} }, []],
    [
      'a default that comes with an object of its own',
      { settings: { colour: 'blue', depth: { metres: 1 } } },
      {},
      ['spec.settings.colour', 'spec.settings.depth.metres'],
    ],
    ['a default as a whole', { whole: { a: 1, b: 2 } }, {}, []],
    ['part of it, once it is stated', { whole: { a: 5, b: 2 } }, { whole: { a: 5 } }, ['spec.whole.b']],
    ['a null that a default replaces', { size: 3 }, { size: null }, []],
    ['a null that may stay', { maybe: null }, { maybe: null }, []],
    ['a null that may stay and was changed', { maybe: 'x' }, { maybe: null }, ['spec.maybe']],
    [
      'an item with defaults',
      { shelves: [{ name: 'a', side: 'left', height: 2 }] },
      { shelves: [{ name: 'a' }] },
      [],
    ],
    [
      'items paired by keys',
      {
        shelves: [
          { name: 'b', side: 'left', height: 2 },
          { name: 'a', side: 'right', height: 9 },
        ],
      },
      {
        shelves: [{ name: 'a', side: 'right', height: 2 }, { name: 'b' }],
      },
      ['spec.shelves.1.height'],
    ],
    ['an unkeyed list', { plain: [{ on: true }, { on: false }] }, { plain: [{}, { on: false }] }, []],
    [
      'a map',
      { rooms: { hall: { floor: 0 }, attic: { floor: 3 } } },
      { rooms: { hall: {}, attic: {} } },
      ['spec.rooms.attic.floor'],
    ],
    ['a new map entry', { rooms: { hall: { floor: 0 } } }, { rooms: {} }, ['spec.rooms.hall.floor']],
    ['a set in another order', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }, []],
    ['a quantity', { amount: '1' }, { amount: '1000m' }, []],
    ['a number or its text', { port: 80 }, { port: '80' }, []],
    ['an int-or-string is no quantity', { port: '1' }, { port: '1000m' }, ['spec.port']],
    ['text that looks like a quantity', { text: '1' }, { text: '1000m' }, ['spec.text']],
    [
      'free fields are exact',
      { free: { cpu: '1', empty: {} } },
      { free: { cpu: '1000m', empty: {} } },
      ['spec.free.cpu'],
    ],
    [
      'an embedded object has no defaults',
      { template: { kind: 'Service', spec: { type: 'ClusterIP' } } },
      { template: { kind: 'Service', spec: {} } },
      ['spec.template.spec.type'],
    ],
    ['an unknown field', { new: 1 }, {}, ['spec.new']],
  ];
  for (const [name, live, stated, expected] of rows) {
    it(`${name}: ${expected.length === 0 ? 'no edit' : expected.join(' ')}`, () => {
      assert.deepEqual(paths(live, stated), expected);
    });
  }

  it('say what lists and maps are', () => {
    assert.deepEqual(schema.listKeys(['spec', 'shelves']), ['name', 'side']);
    assert.deepEqual(schema.keyDefaults(['spec', 'shelves']), { side: 'left' });
    assert.equal(schema.listKeys(['spec', 'plain']), undefined);
    assert.ok(schema.isSet(['spec', 'tags']));
    assert.ok(schema.isAtomicMap(['spec', 'reference']));
    assert.ok(schema.isMap(['spec', 'rooms']));
    assert.ok(schema.isSet(['metadata', 'finalizers']));
    assert.deepEqual(schema.listKeys(['metadata', 'ownerReferences']), ['uid']);
    assert.equal(schema.meaning(['spec', 'amount']), 'quantity');
    assert.equal(schema.meaning(['spec', 'port']), 'int-or-string');
    assert.equal(schema.meaning(['spec', 'text']), 'exact');
  });

  it('a duration is a string whose pattern admits nothing else', () => {
    const meaningOf = (field: JsonObject): string => {
      const one = { get: () => ({ type: 'object', properties: { field: { type: 'string', ...field } } }) };
      return kindSchema('example.test/v1', 'One', one).meaning(['field']);
    };
    for (const pattern of [
      '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$',
      '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
      '^(\\d+(s|m))+$',
    ]) {
      assert.equal(meaningOf({ pattern }), 'duration', pattern);
    }
    for (const pattern of [
      '^[a-z]+$',
      '^([0-9]+(d|w))+$',
      '^$|^([0-9]+(s|m))+$|never',
      '^(m|l|xl)$',
      '^[0-9]+$',
    ]) {
      assert.equal(meaningOf({ pattern }), 'exact', pattern);
    }
    assert.equal(meaningOf({ format: 'duration' }), 'duration');
    assert.equal(meaningOf({}), 'exact');
  });

  function paths(live: JsonObject, stated: JsonObject): string[] {
    const object = (spec: Json): JsonObject => ({ apiVersion: 'example.test/v1', kind: 'Shop', spec });
    return unexplained(object(live), object(stated), schema).map((path) => path.join('.'));
  }
});

describe('the kinds of Flux and Argo CD', () => {
  it('are built in', () => {
    const kustomization = kindSchema('kustomize.toolkit.fluxcd.io/v1', 'Kustomization');
    const object = (spec: JsonObject): JsonObject => ({ spec: { interval: '1m', ...spec } });
    assert.deepEqual(unexplained(object({ force: false }), object({}), kustomization), []);
    assert.deepEqual(unexplained(object({ force: true }), object({}), kustomization), [['spec', 'force']]);
    const repository = kindSchema('source.toolkit.fluxcd.io/v1', 'GitRepository');
    assert.deepEqual(unexplained({ spec: { timeout: '60s' } }, { spec: {} }, repository), []);
    for (const kind of ['Application', 'ApplicationSet', 'AppProject']) {
      assert.ok(crdTable[`argoproj.io/v1alpha1/${kind}`], kind);
      // Lists without a list type are one value, also where they have names.
      assert.equal(kindSchema('argoproj.io/v1alpha1', kind).listKeys(['spec', 'sources']), undefined);
    }
  });

  it('have the facts of the definitions they ship', function () {
    const folders = crdFolders();
    if (folders === undefined) {
      console.log('    skipped: the modules of Flux and Argo CD are not in the Go module cache');
      return this.skip();
    }
    this.timeout(60_000);
    assert.deepEqual(crdTableOf(folders), crdTable);
  });
});
