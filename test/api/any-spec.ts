/** Specs at random, from the schema of a kind: mostly near the line between what is accepted and what is refused. */
import fc from 'fast-check';
import { objectSchemaOf } from '../../src/api/crd.ts';
import { kindNamed } from '../../src/api/kinds.ts';
import type { StructuralSchema } from '../../src/api/structural.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';

/** Texts that mean something to the field of this name. */
const texts: Readonly<Record<string, readonly string[]>> = {
  url: ['https://a/b', 'git@a:b', 'http://u@a/b', 'a b', 'ssh://x'],
  branch: ['main', 'a/b', 'HEAD', 'refs/x', 'a..b', 'é'],
  path: ['.', 'a/b/', '../a', '/a', 'a\\b', '.git'],
  name: ['a', 'a', 'b-c', ''],
  idleTimeout: ['5s', '0s', '1m', '2m', '1h', '25h', '5', '1.5ms'],
  maxDuration: ['1m', '24h', '1s', '0s', '1m0.0s'],
  namespace: ['a', 'a-b', 'A'],
  sourceNamespace: ['a', '*', 'a*', ''],
  auditRoute: ['a.b', 'a', 'A', ''],
  key: ['a', 'x.io/a', '/a', ''],
};

const anyText = ['a', 'b', '*', '', 'age1qq', 'a b', 'v1', 'x/y'];

export function anySpec(kind: string): fc.Arbitrary<JsonObject> {
  const definition = kindNamed(kind);
  const spec = definition === undefined ? undefined : objectSchemaOf(definition).properties?.spec;
  if (spec === undefined) throw new Error(`no kind ${kind}`);
  const any = anyObject(spec);
  const base = fitting[kind];
  if (base === undefined) return any;
  return fc.oneof(
    { weight: 1, arbitrary: any },
    { weight: 3, arbitrary: any.map((given) => ({ ...given, ...base })) },
  );
}

/** Fields that exclude each other seldom fit by chance. */
const fitting: Readonly<Record<string, JsonObject>> = {
  KubeProvider: { inCluster: {}, kubeConfig: null },
  GitTarget: { gitProviderRef: { name: 'a' }, branch: 'main', path: 'a', gitBranchRef: null },
};

function anyValue(schema: StructuralSchema, name: string): fc.Arbitrary<Json> {
  return fc.oneof(
    { weight: 80, arbitrary: fittingValue(schema, name) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom<Json>('text', 7, true, [], {}) },
  );
}

function fittingValue(schema: StructuralSchema, name: string): fc.Arbitrary<Json> {
  const { items, additionalProperties } = schema;
  if (schema.enum !== undefined) {
    return fc.oneof(
      { weight: 15, arbitrary: fc.constantFrom(...schema.enum) },
      { weight: 1, arbitrary: fc.constant('Other') },
    );
  }
  if (schema.type === 'string') return fc.constantFrom(...(texts[name] ?? anyText));
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer') return fc.constantFrom<Json>(1, 20, 0, 10_000, 10_001, 2);
  if (items !== undefined)
    return fc.array(anyValue(items, name), { maxLength: 3, minLength: schema.minItems ?? 0 });
  if (additionalProperties !== undefined) {
    return fc.dictionary(fc.constantFrom('a', 'v1/secrets', 'x.io/b'), anyValue(additionalProperties, name), {
      maxKeys: 2,
    });
  }
  return anyObject(schema);
}

function anyObject(schema: StructuralSchema): fc.Arbitrary<JsonObject> {
  const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const weight = schema.required?.includes(name) ? 60 : 1;
    return fc
      .oneof(
        { weight, arbitrary: anyValue(property, name) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      )
      .map((value) => [name, value] as const);
  });
  const stranger: fc.Arbitrary<readonly [string, Json | undefined]> = fc.oneof(
    { weight: 60, arbitrary: fc.constant(['', undefined] as const) },
    { weight: 1, arbitrary: fc.constant(['stranger', 1] as const) },
  );
  return fc
    .tuple(...members, stranger)
    .map((entries) =>
      Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined)),
    );
}
