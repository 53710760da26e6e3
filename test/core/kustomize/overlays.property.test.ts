/**
 * Random live edits, creations and deletes on random overlays, over several commits: after each the real build gives what is live,
 * and nothing else moved. The same seed gives the same trees; LAYERS_SEED and LAYERS_RUNS look further.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { identify, objectKey } from '../../../src/core/identity.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../../src/core/json.ts';
import { createRenderCache } from '../../../src/core/kustomize/index.ts';
import { equalUnordered } from '../../../src/core/kustomize/source-form.ts';
import { builtinResource, type Change, type Plan, plan } from '../../../src/core/plan/index.ts';
import { Editable, objectsOf, open, render, schemaOf, type Texts, treeOf } from './folders.ts';

const folder = 'shop/prod';
const cache = createRenderCache(5_000);

interface Shape {
  readonly workloads: number;
  readonly namespace: boolean;
  readonly basePrefix: boolean;
  readonly prefix: boolean;
  readonly labels: boolean;
  readonly baseImage: boolean;
  readonly image: boolean;
  readonly replicas: boolean;
  readonly patch: boolean;
  readonly basePatch: boolean;
  readonly own: boolean;
  readonly inline: boolean;
  readonly component: boolean;
  readonly generator: 'none' | 'stable' | 'hashed';
}

const flag = fc.boolean();
const shapes: fc.Arbitrary<Shape> = fc.record({
  workloads: fc.integer({ min: 1, max: 3 }),
  namespace: flag,
  basePrefix: flag,
  prefix: flag,
  labels: flag,
  baseImage: flag,
  image: flag,
  replicas: flag,
  patch: flag,
  basePatch: flag,
  own: flag,
  inline: flag,
  component: flag,
  generator: fc.constantFrom('none', 'stable', 'hashed'),
});

function workload(name: string): string {
  return `# the ${name}
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 1
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
        - name: main
          image: ${name}:1.0 # pinned
          args: [--a, --b]
          env:
            - {name: A, value: "1"}
            - {name: B, value: two}
          envFrom: [{configMapRef: {name: settings}}]
          resources: {limits: {memory: 64Mi}}
`;
}

function memoryPatch(name: string, memory: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  template:
    spec:
      containers:
        - name: main
          resources: {limits: {memory: ${memory}}} # patched
`;
}

function treeFor(shape: Shape): Texts {
  const names = ['web', 'api', 'job'].slice(0, shape.workloads);
  const texts: Record<string, string> = {};
  for (const name of names) texts[`shop/base/${name}.yaml`] = workload(name);
  texts['shop/base/cm.yaml'] =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n  a: one\n  b: two\n';
  texts['shop/base/kustomization.yaml'] = [
    `resources: [cm.yaml, ${names.map((name) => `${name}.yaml`).join(', ')}]`,
    ...(shape.basePrefix ? ['namePrefix: b-'] : []),
    ...(shape.baseImage ? ['images: [{name: web, newTag: "1.1"}]'] : []),
    ...(shape.basePatch ? ['patches: [{path: memory.yaml}]'] : []),
    '',
  ].join('\n');
  if (shape.basePatch) texts['shop/base/memory.yaml'] = memoryPatch('web', '96Mi');
  if (shape.patch) texts[`${folder}/memory.yaml`] = memoryPatch('web', '128Mi');
  if (shape.own) texts[`${folder}/own.yaml`] = workload('own');
  if (shape.component) {
    texts[`${folder}/extras/kustomization.yaml`] =
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [extra.yaml]\npatches: [{path: team.yaml, target: {kind: Deployment}}]\n';
    texts[`${folder}/extras/extra.yaml`] =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: one, b: two}\n';
    texts[`${folder}/extras/team.yaml`] =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: any}\nspec: {revisionHistoryLimit: 4}\n';
  }
  if (shape.generator !== 'none') texts[`${folder}/b.txt`] = 'two';
  const patches = [
    ...(shape.patch ? ['  - path: memory.yaml'] : []),
    ...(shape.inline
      ? [
          '  - target: {kind: Deployment}',
          '    patch: \'[{"op": "add", "path": "/spec/minReadySeconds", "value": 3}]\'',
        ]
      : []),
  ];
  texts[`${folder}/kustomization.yaml`] = [
    `resources: [../base${shape.own ? ', own.yaml' : ''}]`,
    ...(shape.namespace ? ['namespace: prod'] : []),
    ...(shape.prefix ? ['namePrefix: p-'] : []),
    ...(shape.labels ? ['labels: [{pairs: {stage: prod}}]'] : []),
    ...(shape.image ? ['images:', '  - name: web', '    newTag: "1.2" # here'] : []),
    ...(shape.replicas ? ['replicas: [{name: web, count: 3}]'] : []),
    ...(patches.length > 0 ? ['patches:', ...patches] : []),
    ...(shape.component ? ['components: [extras]'] : []),
    ...(shape.generator === 'none'
      ? []
      : [
          'configMapGenerator:',
          '  - name: settings',
          '    literals: [a=one]',
          '    files: [b=b.txt]',
          ...(shape.generator === 'stable' ? ['    options: {disableNameSuffixHash: true}'] : []),
        ]),
    '',
  ].join('\n');
  texts['shop/test/kustomization.yaml'] = 'namespace: test\nresources: [../base]\n';
  return texts;
}

type Edit = (object: Editable, kind: string) => void;
const main = 'spec.template.spec.containers.main';

const workloadEdits: readonly Edit[] = [
  (one) => one.set('spec.replicas', 7),
  (one) => one.set(`${main}.image`, `${String(one.get(`${main}.image`)).split(':')[0]}:2.0`),
  (one) => one.set(`${main}.image`, 'host.example.test/moved:1.0'),
  (one) => one.set(`${main}.resources.limits.memory`, '256Mi'),
  (one) => one.set(`${main}.resources.limits.cpu`, '1'),
  (one) => one.set(`${main}.env.A.value`, 'no'),
  (one) => one.push(`${main}.env`, { name: 'C', value: 'new' }),
  (one) => one.remove(`${main}.env.B`),
  (one) => one.set(`${main}.args`, ['--a', '--c']),
  (one) => one.set('metadata.annotations', { note: 'yes' }),
  (one) => one.set('spec.minReadySeconds', 9),
  (one) => one.set('spec.paused', true),
  (one) => one.push('spec.template.spec.containers', { name: 'side', image: 'side:1' }),
];
const dataEdits: readonly Edit[] = [
  (one) => one.set('data.a', 'other'),
  (one) => one.set('data.c', 'line\nand line\n'),
  (one) => one.remove('data.b'),
];

interface Step {
  readonly what: 'edit' | 'edit again' | 'delete' | 'create';
  readonly object: number;
  readonly edit: number;
}

const steps: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('edit', 'edit again', 'delete', 'create'),
  object: fc.nat(7),
  edit: fc.nat(workloadEdits.length * dataEdits.length - 1),
});
/** One list of steps for each commit. */
const commits = fc.array(fc.array(steps, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });

async function planOn(texts: Texts, changes: readonly Change[]) {
  return await plan(treeOf(texts), changes, {
    folder,
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: () => false,
    resourceOf: builtinResource,
    bootstrap: false,
    kustomize: { render, cache },
  });
}

/** Live objects are those of the build; what is refused is overwritten by the next apply. */
function changesOf(
  before: ReadonlyMap<string, JsonObject>,
  wanted: readonly Step[],
  round: number,
): Map<string, Change> {
  const own = [...before].filter(([key]) => key.startsWith(`${folder} `));
  const changes = new Map<string, Change>();
  // An earlier commit may have deleted everything.
  if (own.length === 0) return changes;
  for (const [at, { what, object, edit }] of wanted.entries()) {
    const [key, value] = own[object % own.length] ?? ['', {}];
    const known = changes.get(key);
    if (what === 'create') {
      const namespace = isObject(value.metadata) ? (value.metadata.namespace ?? null) : null;
      const name = `${edit % 2 === 0 ? 'p-' : ''}new-${round}-${at}`;
      const metadata = { name, ...(namespace === null ? {} : { namespace }) };
      const live: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'new' } };
      changes.set(`${folder} ${keyOf(live)}`, { kind: 'upsert', live, applierKnown: true });
    } else if (what === 'delete') {
      const id = identify(value) ?? assert.fail();
      changes.set(key, { kind: 'delete', id, handled: value, reason: 'observed' });
    } else if (known?.kind !== 'delete') {
      const live = structuredClone(known?.kind === 'upsert' ? known.live : value);
      const choices = value.kind === 'ConfigMap' ? dataEdits : workloadEdits;
      choices[edit % choices.length]?.(new Editable(live), String(value.kind));
      changes.set(key, { kind: 'upsert', live, applierKnown: true, handled: value });
    }
  }
  return changes;
}

/** A new object gets what the kustomization sets on everything. */
function labelled(object: JsonObject, { labels }: Shape): JsonObject {
  if (!labels || !isObject(object.metadata)) return object;
  return { ...object, metadata: { ...object.metadata, labels: { stage: 'prod' } } };
}

function keyOf(object: JsonObject): string {
  return objectKey(identify(object) ?? assert.fail());
}

/** A generated ConfigMap has another name with other content, and so do those who name it. */
function withoutHashes<Value extends Json>(value: Value): Value {
  return parseJson(printJson(value).replace(/settings-[a-z0-9]{10}\b/g, 'settings')) as Value;
}

function byStem(objects: ReadonlyMap<string, JsonObject>): Map<string, JsonObject> {
  return new Map(
    [...objects].map(([key, value]) => [
      key.replace(/settings-[a-z0-9]{10}$/, 'settings'),
      withoutHashes(value),
    ]),
  );
}

function afterwards(texts: Texts, planned: Plan): Texts {
  const after: Record<string, string> = { ...texts };
  for (const { path, content } of planned.edits) {
    assert.ok(path.startsWith(`${folder}/`), path);
    if (content === undefined) delete after[path];
    else after[path] = Buffer.from(content).toString('utf8');
  }
  return after;
}

const refusable: ReadonlySet<string> = new Set(['RenderRefused', 'UnplaceableEdit', 'UnsupportedKustomize']);

describe('random edits of random overlays', () => {
  it('come out of the next build as they are live, and move nothing else, commit after commit', async function () {
    this.timeout(240_000);
    const tally = { written: 0, deleted: 0, created: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(shapes, commits, async (shape, rounds) => {
        let texts: Texts = treeFor(shape);
        for (const [round, wanted] of rounds.entries()) {
          const before = objectsOf(await open(texts, folder, { cache }));
          const changes = changesOf(before, wanted, round);
          const planned = await planOn(texts, [...changes.values()]);
          for (const { reason, message } of planned.refused)
            assert.ok(refusable.has(reason), `${reason}: ${message}`);
          const refused = new Set(planned.refused.map(({ object }) => (object ? objectKey(object) : '')));
          const after = afterwards(texts, planned);
          const expected = byStem(before);
          for (const [key, change] of changes) {
            const stem = key.replace(/settings-[a-z0-9]{10}$/, 'settings');
            if (refused.has(key.slice(key.indexOf(' ') + 1))) {
              tally.refused += 1;
            } else if (change.kind === 'delete') {
              expected.delete(stem);
              tally.deleted += 1;
            } else if (change.kind === 'upsert') {
              const isNew = !before.has(key);
              expected.set(stem, withoutHashes(isNew ? labelled(change.live, shape) : change.live));
              if (isNew) tally.created += 1;
              else tally.written += 1;
            }
          }
          const now = byStem(objectsOf(await open(after, folder, { cache })));
          const about = () => JSON.stringify({ changes: [...changes], refused: planned.refused, after });
          assert.deepEqual([...now.keys()].sort(), [...expected.keys()].sort(), about());
          for (const [key, value] of now)
            assert.ok(equalUnordered(schemaOf(value), [], expected.get(key), value), `${key} ${about()}`);
          const live = objectsOf(await open(after, folder, { cache }));
          const again = [...live].flatMap(([key, value]): Change[] =>
            key.startsWith(`${folder} `)
              ? [{ kind: 'upsert', live: value, applierKnown: true, handled: value }]
              : [],
          );
          assert.deepEqual((await planOn(after, again)).edits, [], 'a second plan');
          texts = after;
        }
      }),
      {
        seed: Number(process.env.LAYERS_SEED ?? 5),
        numRuns: Number(process.env.LAYERS_RUNS ?? 30),
        endOnFailure: true,
      },
    );
    if (process.env.LAYERS_RUNS !== undefined) console.log(tally);
    assert.ok(tally.written > tally.refused, JSON.stringify(tally));
    assert.ok(tally.deleted > 0 && tally.created > 0, JSON.stringify(tally));
  });
});
