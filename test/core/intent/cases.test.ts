import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { identify, objectKey } from '../../../src/core/identity.ts';
import { type Intent, type IntentInput, intentOf } from '../../../src/core/intent/index.ts';
import { kindSchema } from '../../../src/core/intent/schema/index.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { neverMirrored } from '../../../src/core/sanitize/index.ts';

const corpus = '../shared/cases';

function readObjects(text: string): JsonObject[] {
  return parseAllDocuments(text, { version: '1.1', merge: true }).flatMap((document) => {
    const value: Json = document.toJS();
    return isObject(value) ? [value] : [];
  });
}

function readTree(folder: string): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.yaml')) continue;
    for (const object of readObjects(readFileSync(join(entry.parentPath, entry.name), 'utf8'))) {
      const id = identify(object);
      if (id !== undefined) found.set(objectKey(id), object);
    }
  }
  return found;
}

const fluxFolder = { applierKnown: true, managers: { appliers: ['kustomize-controller'], ignore: [] } };
const mirror = { applierKnown: false, managers: { appliers: [], ignore: [] } };

type Folder = Pick<IntentInput, 'applierKnown' | 'managers'>;

function decide(
  live: JsonObject,
  document: JsonObject | undefined,
  more: Partial<IntentInput> & Folder,
): Intent {
  return intentOf({
    live,
    handled: undefined,
    document,
    schema: kindSchema(String(live.apiVersion), String(live.kind)),
    autoscaled: false,
    ...more,
  });
}

/** What Git holds after the decision, for an object that stays. */
function outcome(intent: Intent, document: JsonObject | undefined): JsonObject | undefined {
  return intent.kind === 'none' ? document : (intent.desired ?? document);
}

describe('intent: the cases from the field, as values', () => {
  const present = existsSync(corpus);
  before(function () {
    if (present) return;
    console.log('skipped: ../shared/cases is not here');
    this.skip();
  });

  const trees = ['B12', 'B14', 'B16', 'B17', 'B18', 'B27', 'B42'];
  for (const id of trees) {
    for (const [name, folder] of Object.entries({ 'a Flux folder': fluxFolder, 'a mirror': mirror })) {
      it(`${id}: the documents become those of after/ in ${name}`, () => {
        const root = caseFolder(id);
        const [beforeTree, afterTree] = [readTree(join(root, 'before')), readTree(join(root, 'after'))];
        for (const live of readObjects(readFileSync(join(root, 'live.yaml'), 'utf8'))) {
          const key = keyOf(live);
          const document = beforeTree.get(key);
          const intent = decide(live, document, { ...folder, autoscaled: id === 'B18' });
          assert.deepEqual(outcome(intent, document), afterTree.get(key), key);
        }
      });
    }
  }

  for (const [name, folder] of Object.entries({ 'a Flux folder': fluxFolder, 'a mirror': mirror })) {
    it(`B15: new objects come without what the cluster allocated, in ${name}`, () => {
      const root = caseFolder('B15');
      const afterTree = readTree(join(root, 'after'));
      for (const live of readObjects(readFileSync(join(root, 'live.yaml'), 'utf8'))) {
        const key = keyOf(live);
        const intent = decide(live, undefined, folder);
        assert.equal(intent.kind, neverMirrored(live) === undefined ? 'create' : 'none', key);
        const expected = afterTree.get(key);
        assert.deepEqual(outcome(intent, undefined), expected && withoutTolerated(expected), key);
      }
    });
  }
});

/** A targetPort equal to the port is tolerated in that case, and a default we leave out. */
function withoutTolerated(object: JsonObject): JsonObject {
  const text = JSON.stringify(object, (_key, value: unknown) => {
    if (!isPort(value) || value.targetPort !== value.port) return value;
    const { targetPort: _default, ...rest } = value;
    return rest;
  });
  const parsed: unknown = JSON.parse(text);
  assert.ok(isJsonObject(parsed));
  return parsed;
}

function isPort(value: unknown): value is { port: Json; targetPort: Json } {
  return typeof value === 'object' && value !== null && 'port' in value && 'targetPort' in value;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function caseFolder(id: string): string {
  return join(corpus, readdirSync(corpus).find((entry) => entry.startsWith(`${id}-`)) ?? '');
}

function keyOf(object: JsonObject): string {
  return objectKey(identify(object) ?? assert.fail('the object has no identity'));
}
