import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { identify, objectKey } from '../../../src/core/identity.ts';
import { type Intent, type IntentInput, intentOf } from '../../../src/core/intent/index.ts';
import { kindSchema } from '../../../src/core/intent/schema/index.ts';
import { setAt } from '../../../src/core/intent/surgery.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../../src/core/json.ts';
import { neverMirrored, sanitize } from '../../../src/core/sanitize/index.ts';

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

  /** The one live object of a case, changed at some places, and its document. */
  function nextStep(id: string, changes: [Path, Json][]): { live: JsonObject; document: JsonObject } {
    const root = caseFolder(id);
    const [live = {}] = readObjects(readFileSync(join(root, 'live.yaml'), 'utf8'));
    const changed = changes.reduce((object, [path, value]) => setAt(object, path, value), live);
    return {
      live: changed,
      document: readTree(join(root, 'after')).get(keyOf(live)) ?? assert.fail('no document'),
    };
  }

  const podSpec = ['spec', 'template', 'spec'];
  const steps: { id: string; says: string; changes: [Path, Json][]; fields: Record<string, Json> }[] = [
    {
      id: 'B12',
      says: 'one more field is set live: that field and no default',
      changes: [[[...podSpec, 'terminationGracePeriodSeconds'], 60]],
      fields: { 'spec.template.spec.terminationGracePeriodSeconds': 60 },
    },
    {
      id: 'B14',
      says: 'one quantity changes: the other three keep their spelling',
      changes: [[[...podSpec, 'containers', 0, 'resources', 'requests', 'memory'], '1536Mi']],
      fields: { 'spec.template.spec.containers[db].resources.requests.memory': '1536Mi' },
    },
    {
      id: 'B17',
      says: 'a person sets a field beside the controller’s: only that one is added',
      changes: [[['webhooks', 0, 'timeoutSeconds'], 5]],
      fields: { 'webhooks[prices.guard.example.test].timeoutSeconds': 5 },
    },
  ];
  for (const { id, says, changes, fields } of steps) {
    for (const [name, folder] of Object.entries({ 'a Flux folder': fluxFolder, 'a mirror': mirror })) {
      it(`${id}, second step, in ${name}: ${says}`, () => {
        const { live, document } = nextStep(id, changes);
        const intent = decide(live, document, folder);
        assert.ok(intent.kind === 'edit');
        assert.deepEqual(Object.fromEntries(intent.fields.map(({ where, after }) => [where, after])), fields);
      });
    }
  }

  it('B12, third step: a stated field that now equals the default stays in the file', () => {
    const { live, document } = nextStep('B12', []);
    const stating = setAt(document, ['spec', 'revisionHistoryLimit'], 10);
    assert.equal(decide(live, stating, fluxFolder).kind, 'none');
    assert.equal(decide(live, stating, mirror).kind, 'none');
  });

  it('B23: the edits of production are the memory and the replicas, seen against the rendered document', () => {
    const root = caseFolder('B23');
    const [live = {}] = readObjects(readFileSync(join(root, 'live.yaml'), 'utf8'));
    const base =
      readTree(join(root, 'before', 'apps', 'shop', 'base'))
        .values()
        .next().value ?? {};
    const memory = [...podSpec, 'containers', 0, 'resources', 'limits', 'memory'];
    const rendered = setAt(
      setAt(setAt(base, memory, '512Mi'), ['spec', 'replicas'], 3),
      ['metadata', 'namespace'],
      'shop-prod',
    );
    const intent = decide(live, rendered, fluxFolder);
    assert.ok(intent.kind === 'edit');
    assert.deepEqual(
      intent.fields.map(({ where, before, after }) => [where, before, after]),
      [
        ['spec.replicas', 3, 5],
        ['spec.template.spec.containers[web].resources.limits.memory', '512Mi', '768Mi'],
      ],
    );
  });

  it('B33: what was edited while the watch was dead is found against the object seen before', () => {
    const root = caseFolder('B33');
    const [live = {}] = readObjects(readFileSync(join(root, 'live.yaml'), 'utf8'));
    const seen = readObjects(readFileSync(join(root, 'seen-before-gap.yaml'), 'utf8'));
    const handled = sanitize(seen.find((object) => keyOf(object) === keyOf(live)) ?? {});
    const document = readTree(join(root, 'before')).get(keyOf(live));
    const intent = decide(live, document, { ...fluxFolder, handled });
    assert.deepEqual(outcome(intent, document), readTree(join(root, 'after')).get(keyOf(live)));
  });
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
