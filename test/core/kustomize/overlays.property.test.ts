/** Random live edits on random overlays: after each plan the real build gives what is live, and nothing else moved. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describeObject, objectKey } from '../../../src/core/identity.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createRenderCache } from '../../../src/core/kustomize/index.ts';
import { equalUnordered } from '../../../src/core/kustomize/source-form.ts';
import { builtinResource, type Change, plan } from '../../../src/core/plan/index.ts';
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

const edits = fc.array(
  fc.record({ object: fc.nat(5), edit: fc.nat(workloadEdits.length * dataEdits.length - 1) }),
  { minLength: 1, maxLength: 4 },
);

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

describe('random edits of random overlays', () => {
  it('come out of the next build as they are live, and move nothing else', async function () {
    this.timeout(120_000);
    let written = 0;
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(shapes, edits, async (shape, wanted) => {
        const texts = treeFor(shape);
        const before = objectsOf(await open(texts, folder, { cache }));
        const own = [...before].filter(([key]) => key.startsWith(`${folder} `));
        const live = new Map<string, JsonObject>();
        for (const { object, edit } of wanted) {
          const [key, value] = own[object % own.length] ?? ['', {}];
          const copy = live.get(key) ?? structuredClone(value);
          const choices = value.kind === 'ConfigMap' ? dataEdits : workloadEdits;
          choices[edit % choices.length]?.(new Editable(copy), String(value.kind));
          live.set(key, copy);
        }
        const changes = [...live].map(
          ([key, value]): Change => ({
            kind: 'upsert',
            live: value,
            applierKnown: true,
            handled: before.get(key) ?? {},
          }),
        );
        const planned = await planOn(texts, changes);
        const refused = new Set(planned.refused.map(({ object }) => (object ? objectKey(object) : '')));
        const after: Record<string, string> = { ...texts };
        for (const { path, content } of planned.edits) {
          assert.ok(path.startsWith(`${folder}/`), path);
          if (content === undefined) delete after[path];
          else after[path] = Buffer.from(content).toString('utf8');
        }
        const now = objectsOf(await open(after, folder, { cache }));
        assert.deepEqual([...now.keys()], [...before.keys()]);
        for (const [key, value] of now) {
          const meant = live.get(key);
          const isWritten = meant !== undefined && !refused.has(key.slice(key.indexOf(' ') + 1));
          const expected = isWritten ? meant : before.get(key);
          assert.ok(
            equalUnordered(schemaOf(value), [], expected, value),
            `${key}: ${JSON.stringify(planned.refused)}`,
          );
          if (isWritten) written += 1;
        }
        refusals += planned.refused.length;
        const second = await planOn(
          after,
          changes.map((change) => (change.kind === 'upsert' ? { ...change, handled: change.live } : change)),
        );
        assert.deepEqual(second.edits, []);
        for (const { object, reason } of planned.refused)
          assert.ok(
            reason === 'RenderRefused' || reason === 'UnplaceableEdit',
            `${reason} ${object && describeObject(object)}`,
          );
      }),
      { numRuns: 40, endOnFailure: true },
    );
    assert.ok(written > refusals, `${written} written, ${refusals} refused`);
  });
});
