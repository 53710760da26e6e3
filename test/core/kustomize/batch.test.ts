/** Many changes at once: how often kustomize is asked, and that a bad one takes no other with it. */
import assert from 'node:assert/strict';
import { createIndexCache, type Tree } from '../../../src/core/folder/index.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createRenderCache, type Render } from '../../../src/core/kustomize/index.ts';
import { documentAt, hasDocument } from '../../../src/core/plan/document-at.ts';
import { builtinResource, type Change, type Plan, plan } from '../../../src/core/plan/index.ts';
import { Concealed, type Sealer } from '../../../src/core/sealed/index.ts';
import { objectsOf, open, render, type Texts, treeOf } from './folders.ts';

function counting(): Render & { builds: number } {
  return {
    builds: 0,
    async build(request) {
      this.builds += 1;
      return await render.build(request);
    },
  };
}

async function planOn(
  texts: Texts,
  changes: readonly Change[],
  given: Render,
  cache = createRenderCache(20_000),
) {
  return await plan(treeOf(texts), changes, {
    folder: 'app',
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: () => false,
    resourceOf: builtinResource,
    bootstrap: false,
    kustomize: { render: given, cache },
  });
}

function upsert(live: JsonObject, handled?: JsonObject): Change {
  return { kind: 'upsert', live, applierKnown: true, ...(handled === undefined ? {} : { handled }) };
}

function object(kind: string, name: string, more: JsonObject = {}, namespace = 'shop'): JsonObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace }, ...more };
}

function textAt({ edits }: Plan, path: string): string {
  return Buffer.from(edits.find((one) => one.path === path)?.content ?? []).toString('utf8');
}

function applied(texts: Texts, { edits }: Plan): Texts {
  const result: Record<string, string> = { ...texts };
  for (const { path, content } of edits) {
    if (content === undefined) delete result[path];
    else result[path] = Buffer.from(content).toString('utf8');
  }
  return result;
}

const names = (count: number, stem = 'n') => Array.from({ length: count }, (_, at) => `${stem}${1000 + at}`);

describe('many new objects at once', () => {
  const texts: Texts = {
    'app/kustomization.yaml': '# ours\nnamespace: shop\nresources:\n  - old.yaml # first\n',
    'app/old.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {a: x}\n',
  };

  it('are listed in one edit and cost one build before and one after', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const wanted = names(300);
    const planned = await planOn(
      texts,
      wanted.map((name) => upsert(object('ConfigMap', name, { data: { a: name } }))),
      kustomize,
    );
    assert.deepEqual(planned.refused, []);
    assert.equal(kustomize.builds, 2);
    assert.equal(
      textAt(planned, 'app/kustomization.yaml'),
      `${texts['app/kustomization.yaml']}${wanted.map((name) => `  - ${name}.yaml\n`).join('')}`,
    );
    assert.equal(planned.edits.length, 301);
  });

  it('of the wrong namespace are refused one by one without a build', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const planned = await planOn(
      texts,
      names(40).map((name, at) => upsert(object('ConfigMap', name, {}, at % 2 === 0 ? 'shop' : 'other'))),
      kustomize,
    );
    assert.equal(planned.refused.length, 20);
    assert.ok(planned.refused.every(({ reason }) => reason === 'RenderRefused'));
    assert.equal(planned.edits.length, 21);
    assert.equal(kustomize.builds, 2);
  });

  it('that the build changes are refused in one more build', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const patched = {
      ...texts,
      'app/kustomization.yaml': `${texts['app/kustomization.yaml']}patches:\n  - target: {kind: ConfigMap, name: "n100[0-4]"}\n    patch: '[{"op": "add", "path": "/data/b", "value": "y"}]'\n`,
    };
    const planned = await planOn(
      patched,
      names(60).map((name) => upsert(object('ConfigMap', name, { data: { a: name } }))),
      kustomize,
    );
    assert.equal(planned.refused.length, 5, planned.refused[0]?.message);
    assert.equal(planned.edits.length, 56);
    assert.equal(kustomize.builds, 3);
  });

  it('one of which breaks the build cost a few builds more, and the others are written', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const fragile = {
      ...texts,
      'app/account.yaml': 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: main}\n',
      'app/kustomization.yaml': `${texts['app/kustomization.yaml']}  - account.yaml
replacements:
  - source: {kind: ServiceAccount}
    targets: [{select: {name: old}, fieldPaths: [data.a]}]
`,
    };
    const changes = names(63).map((name) => upsert(object('ConfigMap', name, { data: { a: name } })));
    const planned = await planOn(
      fragile,
      [...changes, upsert(object('ServiceAccount', 'second'))],
      kustomize,
    );
    assert.deepEqual(
      planned.refused.map(({ object: one }) => one?.name),
      ['second'],
    );
    assert.equal(planned.edits.length, 64);
    assert.ok(kustomize.builds <= 16, `${kustomize.builds} builds`);
  });
});

describe('many changes of what is there', () => {
  const own = names(40);
  const texts: Texts = {
    'app/kustomization.yaml': `namespace: shop\nresources:\n${own.map((name) => `  - ${name}.yaml\n`).join('')}`,
    ...Object.fromEntries(
      own.map((name) => [
        `app/${name}.yaml`,
        `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: x # why\n`,
      ]),
    ),
  };
  const base: Texts = Object.fromEntries([
    ['app/kustomization.yaml', 'namespace: shop\nresources: [../base]\n'],
    ...Object.entries(texts).map(([path, text]) => [path.replace('app/', 'base/'), text]),
  ]);

  it('cost two builds, and one when the last plan has built what stands there', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const cache = createRenderCache(20_000);
    const edited = (value: string) =>
      own.map((name) => upsert(object('ConfigMap', name, { data: { a: value } })));
    const planned = await planOn(texts, edited('y'), kustomize, cache);
    assert.equal(planned.edits.length, 40);
    assert.equal(kustomize.builds, 2);
    const after = applied(texts, planned);
    assert.deepEqual((await planOn(after, edited('y'), kustomize, cache)).edits, []);
    assert.equal(kustomize.builds, 2);
    assert.equal((await planOn(after, edited('z').slice(0, 1), kustomize, cache)).edits.length, 1);
    assert.equal(kustomize.builds, 3);
  });

  it('inherited ones become patches that are listed in one edit', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const planned = await planOn(
      base,
      own.map((name) => upsert(object('ConfigMap', name, { data: { a: 'y' } }))),
      kustomize,
    );
    assert.deepEqual(planned.refused, []);
    assert.equal(planned.edits.length, 41);
    assert.equal(kustomize.builds, 2);
    assert.equal(textAt(planned, 'app/kustomization.yaml').match(/- path: configmap-n/g)?.length, 40);
  });

  it('deletes leave no entry behind', async function () {
    this.timeout(60_000);
    const kustomize = counting();
    const gone = own.slice(1).map(
      (name): Change => ({
        kind: 'delete',
        id: { group: '', kind: 'ConfigMap', namespace: 'shop', name },
        reason: 'observed',
      }),
    );
    const planned = await planOn(texts, gone, kustomize);
    assert.deepEqual(planned.refused, []);
    assert.equal(textAt(planned, 'app/kustomization.yaml'), 'namespace: shop\nresources:\n  - n1000.yaml\n');
    assert.equal(kustomize.builds, 2);
  });
});

describe('a generated ConfigMap and a workload that names it', () => {
  const texts: Texts = {
    'app/kustomization.yaml':
      'namespace: shop\nresources: [web.yaml]\nconfigMapGenerator:\n  - name: settings\n    literals: [level=info]\n',
    'app/web.yaml':
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n  template: {spec: {containers: [{name: c, image: "c:1", envFrom: [{configMapRef: {name: settings}}]}]}}\n',
  };

  it('are edited in one batch, although the name changes with the content', async () => {
    const [web, settings] = [...(await builtBy(texts))];
    assert.ok(web && settings);
    const kustomize = counting();
    const planned = await planOn(
      texts,
      [
        upsert({ ...web, spec: { ...(web.spec as JsonObject), replicas: 3 } }, web),
        upsert({ ...settings, data: { level: 'debug' } }, settings),
      ],
      kustomize,
    );
    assert.deepEqual(planned.refused, []);
    assert.match(textAt(planned, 'app/kustomization.yaml'), /level=debug/);
    assert.match(textAt(planned, 'app/web.yaml'), /replicas: 3/);
    assert.match(textAt(planned, 'app/web.yaml'), /name: settings\}/);
    assert.equal(kustomize.builds, 2);
  });
});

async function builtBy(texts: Texts): Promise<JsonObject[]> {
  return objectsOf(await open(texts, 'app'))
    .values()
    .toArray()
    .sort((a, b) => (a.kind === 'Deployment' ? -1 : b.kind === 'Deployment' ? 1 : 0));
}

describe('sealed documents of a first adoption', () => {
  const sealedFiles: Texts = Object.fromEntries(
    names(11, 's').map((name) => [
      `app/${name}.sops.yaml`,
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\n  namespace: shop\ndata:\n  a: ENC[x]\nsops:\n  mac: ENC[y]\n`,
    ]),
  );

  /** Counts how many documents are open at once; every opening takes a turn of the event loop. */
  async function mostAtOnce(texts: Texts): Promise<{ most: number; opened: number }> {
    let open = 0;
    let most = 0;
    let opened = 0;
    const sealer: Sealer = {
      recipients: [],
      async open(path) {
        open += 1;
        opened += 1;
        most = Math.max(most, open);
        await new Promise((done) => setImmediate(done));
        open -= 1;
        const name = path.replace(/^app\/|\.sops\.yaml$/g, '');
        return { kind: 'opened', document: new Concealed(object('Secret', name, { data: { a: 'eA==' } })) };
      },
      seal: async () => assert.fail('nothing is edited'),
      change: async () => assert.fail('nothing is edited'),
    };
    const planned = await plan(
      treeOf(texts),
      names(11, 's').map((name) => upsert(object('Secret', name, { data: { a: 'eA==' } }))),
      {
        folder: 'app',
        placement: {},
        prune: 'OnEvent',
        managers: { appliers: [], ignore: [] },
        isSensitive: () => true,
        resourceOf: builtinResource,
        bootstrap: false,
        sealer,
        kustomize: { render },
      },
    );
    assert.deepEqual([planned.edits, planned.refused], [[], []]);
    return { most, opened };
  }

  it('are opened a few at a time, each once', async () => {
    assert.deepEqual(await mostAtOnce(sealedFiles), { most: 4, opened: 11 });
    const listed = Object.keys(sealedFiles).map((path) => `  - ${path.slice(4)}\n`);
    const overlay = { ...sealedFiles, 'app/kustomization.yaml': `resources:\n${listed.join('')}` };
    assert.deepEqual(await mostAtOnce(overlay), { most: 4, opened: 11 });
  });
});

describe('single questions about a commit', () => {
  const texts: Texts = {
    'app/kustomization.yaml': `namespace: shop\nresources:\n${names(60)
      .map((name) => `  - ${name}.yaml\n`)
      .join('')}`,
    ...Object.fromEntries(
      names(60).map((name) => [
        `app/${name}.yaml`,
        `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: x\n`,
      ]),
    ),
  };
  const id = (name: string) => ({
    id: { group: '', kind: 'ConfigMap', namespace: 'shop', name },
    namespaced: true,
  });

  it('open its folder once', async () => {
    const tree = treeOf(texts);
    let reads = 0;
    const counted: Tree = {
      entries: tree.entries,
      read: async (path) => {
        reads += 1;
        return await tree.read(path);
      },
    };
    const kustomize = { render: counting(), opened: [] };
    const cache = createIndexCache(1_000);
    for (const name of names(60)) {
      const found = await documentAt(counted, 'app', id(name), cache, undefined, kustomize);
      assert.deepEqual(found?.metadata, { name, namespace: 'shop' });
      assert.equal(await hasDocument(counted, 'app', id(name), cache, kustomize), true);
    }
    assert.equal(kustomize.render.builds, 1);
    // Each file for the index, and for the build; the kustomization to decode it, too.
    assert.equal(reads, 2 * 60 + 2);
  });

  it('open another commit anew, and a folder that did not build again', async () => {
    const kustomize = { render: counting(), opened: [] };
    const cache = createIndexCache(1_000);
    assert.ok(await documentAt(treeOf(texts), 'app', id('n1000'), cache, undefined, kustomize));
    const { 'app/n1000.yaml': _gone, ...rest } = texts;
    const without = treeOf({
      ...rest,
      'app/kustomization.yaml': (texts['app/kustomization.yaml'] ?? '').replace('  - n1000.yaml\n', ''),
    });
    assert.equal(await documentAt(without, 'app', id('n1000'), cache, undefined, kustomize), undefined);
    const broken = treeOf(rest);
    assert.equal(await documentAt(broken, 'app', id('n1001'), cache, undefined, kustomize), undefined);
    assert.equal(kustomize.opened.length, 2);
  });
});
