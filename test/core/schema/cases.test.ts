import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { kindSchema, unexplained } from '../../../src/core/intent/schema/index.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';

const cases = '../shared/cases';

/** Case -> file below the folder, and the paths that differ before the edit is written and after. */
const expected: Readonly<Record<string, { before: string[]; after: string[] }>> = {
  'B12-defaulted-fields-flood': { before: ['spec.template.spec.containers.0.image'], after: [] },
  'B14-quantity-spelling': { before: [], after: [] },
  // Who owns the bundle is not a question for the schema.
  'B17-injected-ca-bundle': {
    before: ['webhooks.0.clientConfig.caBundle'],
    after: ['webhooks.0.clientConfig.caBundle'],
  },
  'B27-same-port-two-protocols': { before: ['spec.ports.1.targetPort'], after: [] },
};

describe('the schema on the cases from the field', () => {
  for (const [name, paths] of Object.entries(expected)) {
    for (const side of ['before', 'after'] as const) {
      it(`${name}: ${side} the edit is written`, function () {
        if (!existsSync(cases)) {
          console.log('    skipped: ../shared/cases is not here');
          this.skip();
        }
        const [live] = readAll(`${cases}/${name}/live.yaml`);
        const [document] = readFolder(`${cases}/${name}/${side}/apps/shop`);
        assert.ok(live && document);
        const schema = kindSchema(String(live.apiVersion), String(live.kind));
        assert.deepEqual(
          unexplained(live, document, schema).map((path) => path.join('.')),
          paths[side],
        );
      });
    }
  }

  it('B15-new-object-allocated-fields: what is written is all there is to write', function () {
    if (!existsSync(cases)) {
      console.log('    skipped: ../shared/cases is not here');
      this.skip();
    }
    const folder = `${cases}/B15-new-object-allocated-fields`;
    const written = readFolder(`${folder}/after/apps/shop`);
    const mirrored = readAll(`${folder}/live.yaml`).filter((live) => live.kind !== 'ConfigMap');
    assert.equal(mirrored.length, 3);
    for (const live of mirrored) {
      const schema = kindSchema(String(live.apiVersion), String(live.kind));
      const document = written.find((other) => nameOf(other) === nameOf(live));
      assert.ok(document);
      assert.deepEqual(unexplained(live, document, schema), []);
      const empty = {
        apiVersion: live.apiVersion ?? '',
        kind: live.kind ?? '',
        metadata: { name: nameOf(live) },
      };
      const missing = unexplained(live, empty, schema).map((path) => path.join('.'));
      assert.ok(!missing.some((path) => /clusterIPs|ipFamil|volumeName|annotations|finalizers/.test(path)));
    }
  });
});

function readFolder(folder: string): JsonObject[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.flatMap((file) => readAll(`${folder}/${file}`));
}

function readAll(file: string): JsonObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document): Json => document.toJS())
    .filter(isObject);
}

function nameOf(object: JsonObject): string {
  return isObject(object.metadata) ? String(object.metadata.name) : '';
}
