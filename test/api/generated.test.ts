import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { allCrds, crd } from '../../src/api/crd.ts';
import { kinds } from '../../src/api/kinds.ts';
import { structuralSchema, withDefaults } from '../../src/api/structural.ts';
import { generatedFiles } from '../../src/cli/generate.ts';
import { readDocuments } from '../../src/core/yaml/index.ts';

const project = new URL('../../', import.meta.url);

describe('the generated files', () => {
  const files = generatedFiles();

  for (const { path, text } of files) {
    it(`${path} is what make generate writes`, () => {
      assert.equal(readFileSync(new URL(path, project), 'utf8'), text);
    });
  }

  it('are all there is in their folder of CRDs', () => {
    const written = files.map(({ path }) => path).filter((path) => path.startsWith('manifests/crds/'));
    const there = readdirSync(new URL('manifests/crds/', project)).map((name) => `manifests/crds/${name}`);
    assert.deepEqual(there.sort(), written.sort());
  });

  it('hold the same CRDs as the command prints', () => {
    const printed = readDocuments(allCrds()).flatMap((document) =>
      document.kind === 'value' ? [document.value] : [],
    );
    assert.deepEqual(printed, JSON.parse(JSON.stringify(kinds.map(crd))));
  });

  it('have a sample for every kind', () => {
    const samples = readdirSync(new URL('manifests/samples/', project));
    for (const { singular } of kinds) assert.ok(samples.includes(`${singular}.yaml`), singular);
  });
});

describe('a kind', () => {
  for (const definition of kinds) {
    const { kind, conditions } = definition;
    const columns = crd(definition).spec.versions[0]?.additionalPrinterColumns ?? [];
    // Its status is one answer, so it has no conditions.
    if (kind === 'SyncGate') {
      it(`${kind} shows its answer, and Age last`, () => {
        const shown = columns.filter(({ priority }) => priority === undefined).map(({ name }) => name);
        assert.deepEqual(shown, ['Phase', 'Message', 'Tip', 'Age']);
      });
      continue;
    }

    it(`${kind} shows itself, Ready and Reason, then every condition in the wide output, and Age last`, () => {
      const names = columns.map(({ name }) => name);
      assert.equal(names.at(-1), 'Age');
      for (const name of ['Ready', 'Reason']) {
        assert.equal(columns.find((column) => column.name === name)?.priority, undefined);
      }
      for (const name of ['Message', ...Object.keys(conditions).filter((type) => type !== 'Ready')]) {
        assert.equal(columns.find((column) => column.name === name)?.priority, 1, name);
      }
      assert.equal(new Set(names).size, names.length);
    });

    it(`${kind} has the trio, and reasons that do not repeat their condition`, () => {
      for (const type of ['Ready', 'Reconciling', 'Stalled']) assert.ok(Object.hasOwn(conditions, type));
      for (const [type, { reasons }] of Object.entries(conditions)) {
        for (const reason of Object.keys(reasons)) {
          assert.match(reason, /^[A-Z][A-Za-z0-9]*$/);
          // The reachability of a cluster kept its old reason.
          if (type !== 'SourceClusterReachable') assert.notEqual(reason, type);
        }
      }
    });

    it(`${kind} lets nothing be null and describes every field of its spec`, () => {
      const text = JSON.stringify(crd(definition));
      assert.equal(text.includes('nullable'), false);
      const schema = structuralSchema(definition.schema.shape.spec);
      const missing = undescribed(schema, 'spec');
      assert.deepEqual(missing, []);
    });
  }
});

describe('the way from a zod schema to a structural one', () => {
  it('refuses what a structural schema cannot say', () => {
    assert.throws(() => structuralSchema(z.union([z.string(), z.number()])), /needs one type/);
    assert.throws(() => structuralSchema(z.object({ a: z.string().nullable() })), /cannot say nullable/);
    assert.throws(
      () => structuralSchema(z.object({ a: z.literal(['x', 'y']).meta({ examples: ['x'] }) })),
      /examples/,
    );
  });

  it('drops bounds that only zod has, and the pattern of a time', () => {
    const schema = structuralSchema(z.object({ n: z.int().min(1), at: z.iso.datetime() }));
    assert.deepEqual(schema.properties, {
      n: { type: 'integer', minimum: 1 },
      at: { type: 'string', format: 'date-time' },
    });
  });

  it('fills defaults inside a default', () => {
    const inner = z.object({ a: z.string().default('x'), b: z.string().optional() }).prefault({});
    const schema = structuralSchema(z.object({ inner }).prefault({}));
    assert.deepEqual(schema.default, { inner: { a: 'x' } });
    assert.deepEqual(withDefaults({ inner: { b: 'y' } }, schema), { inner: { b: 'y', a: 'x' } });
  });
});

function undescribed(schema: ReturnType<typeof structuralSchema>, at: string): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${at}.${name}`] : []),
    ...undescribed(field, `${at}.${name}`),
  ]);
  return schema.items === undefined ? own : [...own, ...undescribed(schema.items, `${at}[]`)];
}
