/** `placement.useKustomize`: the first new document of a folder brings a kustomization with it. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  builtinResource,
  type Change,
  type Plan,
  type PlanOptions,
  plan,
} from '../../../src/core/plan/index.ts';
import { objectsOf, open, render, type Texts, treeOf } from '../kustomize/folders.ts';

const configMap = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: shop\ndata:\n  a: x\n`;

function live(name: string, value = 'x'): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data: { a: value } };
}

async function planOn(texts: Texts, objects: readonly JsonObject[], options: Partial<PlanOptions> = {}) {
  const changes = objects.map((object): Change => ({ kind: 'upsert', live: object, applierKnown: true }));
  return await plan(treeOf(texts), changes, {
    folder: 'app',
    placement: { useKustomize: true },
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: () => false,
    resourceOf: builtinResource,
    bootstrap: true,
    kustomize: { render },
    ...options,
  });
}

function applied(texts: Texts, { edits }: Plan): Texts {
  return {
    ...texts,
    ...Object.fromEntries(
      edits.map(({ path, content }) => [path, Buffer.from(content ?? []).toString('utf8')]),
    ),
  };
}

const texts: Texts = {
  'app/one.yaml': configMap('one'),
  'app/parts/two.yaml': configMap('two'),
  'app/notes.md': '# notes\n',
};

describe('a folder that wants a kustomization', () => {
  it('gets one with its first new document, which lists all that the folder holds', async () => {
    const planned = await planOn(texts, [live('three'), live('one', 'y')]);
    assert.deepEqual(planned.refused, []);
    assert.deepEqual(
      planned.edits.map(({ path, action }) => `${action} ${path}`),
      ['create app/kustomization.yaml', 'edit app/one.yaml', 'create app/three.yaml'],
    );
    const after = applied(texts, planned);
    assert.equal(
      after['app/kustomization.yaml'],
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - one.yaml\n  - parts/two.yaml\n  - three.yaml\n',
    );
    const built = [...objectsOf(await open(after, 'app')).keys()];
    assert.deepEqual(built.map((key) => key.split('/').at(-1)).sort(), ['one', 'three', 'two']);
    assert.deepEqual((await planOn(after, [live('three'), live('one', 'y')])).edits, []);
  });

  it('gets it in an empty branch, too, beside what every new folder gets', async () => {
    const planned = await planOn({}, [live('one')]);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['app/.gittargetignore', 'app/README.md', 'app/kustomization.yaml', 'app/one.yaml'],
    );
    assert.match(applied({}, planned)['app/kustomization.yaml'] ?? '', /resources:\n {2}- one\.yaml\n$/);
  });

  it('does not get it for an edit or a delete, when one is there, or when it is not asked for', async () => {
    assert.deepEqual(
      (await planOn(texts, [live('one', 'y')])).edits.map(({ path }) => path),
      ['app/one.yaml'],
    );
    const governed = { ...texts, 'app/parts/kustomization.yaml': 'resources: [two.yaml]\n' };
    const own = await planOn(governed, [live('three')]);
    assert.ok(own.edits.every(({ path }) => path !== 'app/kustomization.yaml'));
    const plain = await planOn(texts, [live('three')], { placement: {} });
    assert.deepEqual(
      plain.edits.map(({ path }) => path),
      ['app/shop/configmaps/three.yaml'],
    );
  });

  it('is refused where it would take a file from who applies the folder', async () => {
    const hidden = {
      ...texts,
      'app/.gittargetignore': 'secret.yaml\n',
      'app/secret.yaml': configMap('hidden'),
    };
    const template = { ...texts, 'app/chart.yaml': 'a: b\n' };
    for (const [given, path] of [
      [hidden, 'app/secret.yaml'],
      [template, 'app/chart.yaml'],
    ] as const) {
      const planned = await planOn(given, [live('three'), live('one', 'y')]);
      assert.deepEqual(
        planned.refused.map(({ reason, object }) => `${reason} ${object?.name}`),
        ['AmbiguousLayout three'],
      );
      assert.match(planned.refused[0]?.message ?? '', new RegExp(path));
      assert.deepEqual(
        planned.edits.map((edit) => edit.path),
        ['app/one.yaml'],
      );
    }
  });

  it('is refused when the build does not go through', async () => {
    const twice = { ...texts, 'app/three.yaml': configMap('two').replace('shop', 'other') };
    const broken = {
      render: { build: async () => ({ ok: false, reason: 'BuildFailed', message: 'no' }) as const },
    };
    const planned = await planOn(twice, [live('four')], { kustomize: broken });
    assert.equal(planned.refused[0]?.reason, 'BrokenKustomization');
    assert.deepEqual(planned.edits, []);
  });
});
