/** Sealed Secrets of a kustomize folder, with the real sops and the real kustomize; and what Git said at a commit. */
import assert from 'node:assert/strict';
import { createIndexCache } from '../../../src/core/folder/index.ts';
import { parseObject } from '../../../src/core/identity.ts';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import { documentAt, hasDocument } from '../../../src/core/plan/document-at.ts';
import { builtinResource, type Change, plan } from '../../../src/core/plan/index.ts';
import { openByHand, type SealScene, sealByHand, sealScene } from '../../seal/scene.ts';
import { render, type Texts, treeOf } from './folders.ts';

const live = (name: string, password: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop' },
  type: 'Opaque',
  data: { password: Buffer.from(password).toString('base64') },
});

describe('a sealed Secret of a kustomize folder', function () {
  this.timeout(60_000);
  let scene: SealScene;
  before(() => {
    scene = sealScene();
  });
  after(() => scene.folder.remove());

  async function planOn(texts: Texts, object: JsonObject, handled?: JsonObject) {
    const change: Change = {
      kind: 'upsert',
      live: object,
      applierKnown: true,
      ...(handled ? { handled } : {}),
    };
    return await plan(treeOf(texts), [change], {
      folder: 'app',
      placement: {},
      prune: 'OnEvent',
      managers: { appliers: [], ignore: [] },
      isSensitive: ({ kind }) => kind === 'Secret',
      resourceOf: builtinResource,
      bootstrap: false,
      sealer: scene.withKey,
      kustomize: { render },
    });
  }

  it('is edited in its own file', async () => {
    const sealed = await sealByHand(
      scene,
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\ntype: Opaque\ndata:\n  password: b25l\n',
    );
    const texts: Texts = {
      'app/kustomization.yaml': 'namespace: shop\nresources: [db.sops.yaml]\n',
      'app/db.sops.yaml': sealed,
    };
    const planned = await planOn(texts, live('db', 'two'), live('db', 'one'));
    assert.deepEqual(planned.refused, []);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['app/db.sops.yaml'],
    );
    const opened = await openByHand(scene, Buffer.from(planned.edits[0]?.content ?? []).toString('utf8'));
    assert.ok(isObject(opened.data));
    assert.equal(Buffer.from(String(opened.data.password), 'base64').toString(), 'two');
  });

  it('that is new is listed in the kustomization, and never stands there readable', async () => {
    const texts: Texts = { 'app/kustomization.yaml': 'namespace: shop\nresources: []\n' };
    const planned = await planOn(texts, live('fresh', 'hidden word'));
    assert.deepEqual(planned.refused, []);
    const contents = new Map(
      planned.edits.map(({ path, content }) => [path, Buffer.from(content ?? []).toString('utf8')]),
    );
    assert.match(contents.get('app/kustomization.yaml') ?? '', /fresh\.sops\.yaml/);
    const text = contents.get('app/fresh.sops.yaml') ?? '';
    assert.match(text, /ENC\[/);
    for (const one of contents.values()) {
      assert.ok(!one.includes('hidden word'));
      assert.ok(!one.includes(Buffer.from('hidden word').toString('base64')));
    }
  });
});

describe('what Git says of an object at a commit', () => {
  const texts: Texts = {
    'app/kustomization.yaml': 'namespace: shop\nnamePrefix: p-\nresources: [one.yaml]\n',
    'app/one.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: x\n',
  };

  it('is what the build gives where kustomize builds the folder', async () => {
    const id = parseObject('ConfigMap/shop/p-one');
    assert.ok(id);
    const object = { id, namespaced: true };
    const found = await documentAt(treeOf(texts), 'app', object, createIndexCache(100), undefined, {
      render,
    });
    assert.deepEqual(found, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'p-one', namespace: 'shop' },
      data: { a: 'x' },
    });
    assert.ok(await hasDocument(treeOf(texts), 'app', object, createIndexCache(100), { render }));
    const raw = { id: { ...id, name: 'one' }, namespaced: true };
    assert.ok(!(await hasDocument(treeOf(texts), 'app', raw, createIndexCache(100), { render })));
  });
});
