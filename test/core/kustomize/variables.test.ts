/** What Flux fills in after a build, text by text. */
/* biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of Flux, not of JavaScript. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { escapeVariables, fillIn, parseVariables } from '../../../src/core/kustomize/envsubst.ts';
import { fillObject, type PostBuild, postBuildOf, restoreObject } from '../../../src/core/kustomize/index.ts';
import { schemaOf } from './folders.ts';

const postBuild: PostBuild = {
  variables: new Map([
    ['A', { value: 'one', where: 'here' }],
    ['N', { value: '7', where: 'here' }],
    ['YES', { value: 'true', where: 'here' }],
  ]),
  unread: [],
  where: 'here',
};

const configMap = (value: Json, marks: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'one', annotations: marks },
  data: { x: value },
});

function filled(text: string, live?: Json, given: PostBuild = postBuild): Json | undefined {
  const object = configMap(text);
  const running = live === undefined ? undefined : configMap(live);
  const { data } = fillObject(given, schemaOf(object), object, running) as { data: { x: Json } };
  return data.x;
}

describe('a text with variables', () => {
  const table: readonly (readonly [string, Json])[] = [
    ['${A}', 'one'],
    ['a ${A} b', 'a one b'],
    ['${A}-${A}', 'one-one'],
    ['${NONE}', null],
    ['x${NONE}', 'x'],
    ['${NONE:=d}', 'd'],
    ['${NONE:-d e}', 'd e'],
    ['${NONE=d}', 'd'],
    ['${A:=d}', 'one'],
    ['${NONE:=${A}}', 'one'],
    ['${A^^}', 'ONE'],
    ['${A,,}', 'one'],
    ['$${A}', '${A}'],
    ['$$', '$'],
    ['$1 and $A', '$1 and $A'],
    ['${N}', 7],
    ['${YES}', true],
    ['port: ${N}', 'port: 7'],
    ['line ${N}\n', 'line 7\n'],
    ['${not closed', '${not closed'],
    ['${bad name}', '${bad name}'],
  ];
  it('is filled in as Flux does it', () => {
    for (const [text, expected] of table) assert.deepEqual(filled(text), expected, text);
  });

  it('that needs what we do not follow, or a source nobody gave us, is taken from the live object where it fits', () => {
    const open = { ...postBuild, unread: ['Secret ns/vars'] };
    assert.equal(filled('a ${A:0:1} b', 'a o b'), 'a o b');
    assert.equal(filled('a ${A:0:1} b', 'other'), 'a ${A:0:1} b');
    assert.equal(filled('web.${OTHER}', 'web.example.test', open), 'web.example.test');
    assert.equal(filled('web.${OTHER}', 'api.example.test', open), 'web.${OTHER}');
  });

  it('is left alone where the object says so, and where there is no variable at all', () => {
    const off = configMap('${A}', { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' });
    assert.deepEqual(fillObject(postBuild, schemaOf(off), off, undefined), off);
    assert.equal(filled('${A:=x}', undefined, { ...postBuild, variables: new Map() }), '${A:=x}');
  });

  it('any text is the same again after escaping and filling in', () => {
    const texts = fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '=', '-', ' ', '\\') });
    fc.assert(
      fc.property(texts, (text) => {
        const parts = parseVariables(escapeVariables(text));
        assert.ok(parts);
        assert.equal(
          fillIn(parts, () => undefined),
          text,
        );
      }),
    );
  });

  it('stays in an object whose other fields change', () => {
    const raw = configMap('${A}');
    const schema = schemaOf(raw);
    const made = fillObject(postBuild, schema, raw, undefined);
    const wanted = { ...made, data: { x: 'one', y: '${own}' } };
    const restored = restoreObject(postBuild, schema, { raw, filled: made, wanted });
    assert.ok(restored.ok);
    assert.deepEqual(restored.value.data, { x: '${A}', y: '$${own}' });
    const other = restoreObject(postBuild, schema, { raw, filled: made, wanted: configMap('two') });
    assert.ok(!other.ok);
    assert.match(other.message, /^data\.x is \$\{A\} in Git: A lives in here; change the value there$/);
  });
});

describe('the postBuild of a Kustomization', () => {
  const kustomization = (spec: JsonObject): JsonObject => ({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'app', namespace: 'flux-system' },
    spec,
  });
  it('takes values from its sources in order, its own last, without line ends', () => {
    const found = postBuildOf(
      kustomization({
        postBuild: {
          substitute: { A: 'own\n' },
          substituteFrom: [
            { kind: 'ConfigMap', name: 'one' },
            { kind: 'Secret', name: 'two' },
            { kind: 'Secret', name: 'gone', optional: true },
          ],
        },
      }),
      [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'one', namespace: 'flux-system' },
          data: { A: 'a', B: 'b' },
        },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'two', namespace: 'flux-system' },
          data: { B: 'YmI=' },
        },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'gone', namespace: 'other' },
          data: { C: 'YmI=' },
        },
      ],
      'clusters/app.yaml',
    );
    assert.deepEqual(
      [...(found?.variables ?? [])].map(([name, { value, where }]) => `${name}=${value} ${where}`),
      ['A=own clusters/app.yaml (Kustomization flux-system/app)', 'B=bb Secret flux-system/two'],
    );
    assert.deepEqual(found?.unread, ['Secret flux-system/gone']);
    assert.equal(postBuildOf(kustomization({}), []), undefined);
  });
});
/* biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above. */
