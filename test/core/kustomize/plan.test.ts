/** Kustomize folders through the plan: new objects, deletes and their undo, and everything that refuses one object only. */
import assert from 'node:assert/strict';
import { parseObject } from '../../../src/core/identity.ts';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import { createRenderCache, type PostBuild, postBuildOf } from '../../../src/core/kustomize/index.ts';
import {
  builtinResource,
  type Change,
  type Plan,
  type PlanOptions,
  plan,
} from '../../../src/core/plan/index.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';
import { createKustomize } from '../../../src/render/index.ts';
import { render, type Texts, treeOf } from './folders.ts';

const cache = createRenderCache(10_000);

async function planOn(
  texts: Texts,
  changes: readonly Change[],
  options: Partial<PlanOptions> = {},
): Promise<Plan> {
  return await plan(treeOf(texts), changes, {
    folder: 'app',
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: ['kustomize-controller'], ignore: [] },
    isSensitive: ({ kind }) => kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
    kustomize: { render, cache },
    ...options,
  });
}

function live(yaml: string): JsonObject {
  const [document] = readDocuments(yaml);
  assert.ok(document?.kind === 'value' && isObject(document.value));
  return document.value;
}

function upsert(yaml: string, handled?: string): Change {
  return {
    kind: 'upsert',
    live: live(yaml),
    applierKnown: true,
    ...(handled === undefined ? {} : { handled: live(handled) }),
  };
}

function gone(text: string): Change {
  const id = parseObject(text);
  assert.ok(id);
  return { kind: 'delete', id, reason: 'observed' };
}

function applied(texts: Texts, { edits }: Plan): Record<string, string> {
  const result: Record<string, string> = { ...texts };
  for (const { path, content } of edits) {
    if (content === undefined) delete result[path];
    else result[path] = Buffer.from(content).toString('utf8');
  }
  return result;
}

const configMap = (name: string, value: string, namespace = 'shop') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\ndata:\n  a: ${value}\n`;

const single: Texts = {
  'app/kustomization.yaml': 'namespace: shop\nresources:\n  - one.yaml # first\n',
  'app/one.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: x\n',
};

describe('a new object of a kustomize folder', () => {
  it('stands beside the kustomization, is listed there, and leaves the namespace to it', async () => {
    const planned = await planOn(single, [upsert(configMap('two', 'new'))]);
    assert.deepEqual(planned.refused, []);
    const after = applied(single, planned);
    assert.equal(after['app/kustomization.yaml'], `${single['app/kustomization.yaml']}  - two.yaml\n`);
    assert.equal(
      after['app/two.yaml'],
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: two\ndata:\n  a: new\n',
    );
    assert.deepEqual((await planOn(after, [upsert(configMap('two', 'new'))])).edits, []);
  });

  it('loses the prefix that the kustomization adds, and is refused without it', async () => {
    const texts: Texts = {
      ...single,
      'app/kustomization.yaml': 'namePrefix: p-\nnamespace: shop\nresources: [one.yaml]\n',
    };
    const planned = await planOn(texts, [upsert(configMap('p-two', 'new')), upsert(configMap('three', 'z'))]);
    assert.deepEqual(
      planned.refused.map(({ reason, object }) => `${reason} ${object?.name}`),
      ['RenderRefused three'],
    );
    const after = applied(texts, planned);
    assert.match(after['app/p-two.yaml'] ?? after['app/two.yaml'] ?? '', /name: two\n/);
  });

  it('of another namespace than the kustomization sets is refused', async () => {
    const planned = await planOn(single, [upsert(configMap('two', 'new', 'other'))]);
    assert.deepEqual(planned.edits, []);
    assert.equal(planned.refused[0]?.reason, 'RenderRefused');
  });

  it('gets the labels that the kustomization sets on everything, unless selectors would change', async () => {
    const labelled = {
      ...single,
      'app/kustomization.yaml': `${single['app/kustomization.yaml']}labels:\n  - pairs: {team: a}\ncommonAnnotations: {note: b}\n`,
    };
    const planned = await planOn(labelled, [upsert(configMap('two', 'new'))]);
    assert.deepEqual(planned.refused, []);
    assert.doesNotMatch(applied(labelled, planned)['app/two.yaml'] ?? '', /team|note/);
    const selecting = {
      ...single,
      'app/kustomization.yaml': `${single['app/kustomization.yaml']}commonLabels: {team: a}\n`,
    };
    const service =
      'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n';
    const refused = await planOn(selecting, [upsert(service), upsert(configMap('two', 'new'))]);
    assert.deepEqual(
      refused.refused.map(({ object }) => object?.name),
      ['web'],
    );
    const other = configMap('two', 'new').replace('\ndata', '\n  labels: {team: mine}\ndata');
    assert.equal((await planOn(labelled, [upsert(other)])).refused[0]?.reason, 'RenderRefused');
  });

  it('follows a declared path, and two kinds of one name do not meet', async () => {
    const service =
      'apiVersion: v1\nkind: Service\nmetadata: {name: one, namespace: shop}\nspec: {ports: [{port: 80}]}\n';
    const first = await planOn(single, [upsert(service)]);
    assert.deepEqual(first.refused, []);
    assert.deepEqual(
      first.edits.map(({ path, action }) => `${action} ${path}`),
      ['edit app/kustomization.yaml', 'create app/service-one.yaml'],
    );
    const placed = await planOn(single, [upsert(configMap('two', 'new'))], {
      placement: { default: 'all/{kind}.yaml' },
    });
    assert.deepEqual(placed.refused, []);
    assert.match(applied(single, placed)['app/kustomization.yaml'] ?? '', / {2}- all\/ConfigMap\.yaml\n/);
    const appended = await planOn(single, [upsert(configMap('two', 'new'))], {
      placement: { default: 'one.yaml' },
    });
    assert.deepEqual(appended.refused, []);
    assert.deepEqual(
      appended.edits.map(({ path }) => path),
      ['app/one.yaml'],
    );
  });

  it('is refused where several kustomizations could take it, and existing objects are still edited', async () => {
    const texts: Texts = {
      'app/a/kustomization.yaml': 'namespace: a\nresources: [one.yaml]\n',
      'app/a/one.yaml': single['app/one.yaml'] ?? '',
      'app/b/kustomization.yaml': 'namespace: b\nresources: [../a]\n',
      'app/c/kustomization.yaml': 'namespace: c\nresources: [one.yaml]\n',
      'app/c/one.yaml': single['app/one.yaml'] ?? '',
    };
    const planned = await planOn(texts, [
      upsert(configMap('two', 'new', 'c')),
      upsert(configMap('one', 'z', 'c')),
    ]);
    assert.deepEqual(
      planned.refused.map(({ reason }) => reason),
      ['AmbiguousLayout'],
    );
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['app/c/one.yaml'],
    );
  });
});

describe('a deleted object of an overlay', () => {
  const texts: Texts = {
    'base/kustomization.yaml': 'resources: [one.yaml]\n',
    'base/one.yaml': single['app/one.yaml'] ?? '',
    'app/kustomization.yaml': 'namespace: shop\nnamePrefix: p-\nresources: [../base]\n',
  };

  it('is taken away by a patch, and the patch goes when the object is back, with what was edited meanwhile', async () => {
    const deleted = await planOn(texts, [gone('ConfigMap/shop/p-one')]);
    assert.deepEqual(deleted.refused, []);
    const without = applied(texts, deleted);
    assert.ok(without['app/configmap-one-delete.yaml']);
    assert.deepEqual((await planOn(without, [gone('ConfigMap/shop/p-one')])).edits, []);
    const back = await planOn(without, [upsert(configMap('p-one', 'x'))]);
    assert.deepEqual(back.refused, []);
    assert.deepEqual(applied(without, back), texts);
    const changed = await planOn(without, [upsert(configMap('p-one', 'new'))]);
    assert.deepEqual(changed.refused, []);
    const after = applied(without, changed);
    assert.equal(after['app/configmap-one-delete.yaml'], undefined);
    assert.match(after['app/configmap-one-edits.yaml'] ?? '', /data:\n {2}a: new\n/);
    assert.deepEqual((await planOn(after, [upsert(configMap('p-one', 'new'))])).edits, []);
  });

  it('stays by the prune mode, and when Git changed it since it was handled', async () => {
    const kept = await planOn(texts, [gone('ConfigMap/shop/p-one')], { prune: 'Never' });
    assert.deepEqual(
      kept.outcomes.map(({ outcome }) => outcome),
      ['retained'],
    );
    const id = parseObject('ConfigMap/shop/p-one');
    assert.ok(id);
    const handled = live(configMap('p-one', 'older'));
    const planned = await planOn(texts, [{ kind: 'delete', id, handled, reason: 'observed' }]);
    assert.equal(planned.refused[0]?.reason, 'DocumentChangedSince');
  });
});

describe('what refuses single objects', () => {
  it('no kustomize program: each edited object, by the name of the program', async () => {
    const missing = { render: createKustomize({ program: '/nowhere/kustomize' }) };
    const handled = configMap('one', 'x');
    const planned = await planOn(
      single,
      [upsert(configMap('one', 'new'), handled), upsert(configMap('two', 'x'), configMap('two', 'x'))],
      { kustomize: missing },
    );
    assert.deepEqual(planned.edits, []);
    assert.deepEqual(
      planned.outcomes.map(({ object, outcome }) => `${object.name} ${outcome}`),
      ['one refused', 'two unchanged'],
    );
    assert.equal(planned.refused[0]?.reason, 'KustomizeMissing');
    assert.match(planned.refused[0]?.message ?? '', /\/nowhere\/kustomize/);
  });

  it('a document that the kustomization does not list', async () => {
    const texts: Texts = { ...single, 'app/two.yaml': configMap('two', 'x') };
    const planned = await planOn(texts, [upsert(configMap('two', 'new'))]);
    assert.deepEqual(planned.edits, []);
    assert.match(
      planned.refused[0]?.message ?? '',
      /app\/two\.yaml, which app\/kustomization\.yaml does not read/,
    );
  });

  it('patches are no twins of the objects they patch', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': 'namespace: shop\nresources: [one.yaml]\npatches: [{path: patch.yaml}]\n',
      'app/one.yaml': single['app/one.yaml'] ?? '',
      'app/patch.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  b: z\n',
    };
    const planned = await planOn(texts, [upsert(`${configMap('one', 'new')}  b: w\n`)]);
    assert.deepEqual(planned.refused, []);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['app/one.yaml', 'app/patch.yaml'],
    );
  });
});

/* biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of Flux, not of JavaScript. */
describe('variables in a built object', () => {
  const texts: Texts = {
    'app/kustomization.yaml': 'namespace: shop\nresources: [one.yaml]\n',
    'app/one.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: x\n  host: web.${DOMAIN}\n  port: "${PORT:=80}"\n  raw: $${HOME}\n',
  };
  const kustomization = live(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: flux-system}
spec: {path: ./app, postBuild: {substitute: {DOMAIN: example.test}, substituteFrom: [{kind: Secret, name: vars}]}}
`);
  const running = (a: string, host = 'web.example.test', port = '80') =>
    `${configMap('one', a)}  host: ${host}\n  port: "${port}"\n  raw: \${HOME}\n`;

  function filling(sources: readonly JsonObject[]): {
    kustomize: { render: typeof render; postBuild: PostBuild };
  } {
    const postBuild = postBuildOf(kustomization, sources);
    assert.ok(postBuild);
    return { kustomize: { render, postBuild } };
  }

  it('stay, whether or not all their sources are known', async () => {
    const secret = live(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: vars, namespace: flux-system}\ndata: {PORT: OTA=}\n',
    );
    for (const [sources, port] of [
      [[secret], '90'],
      [[], '81'],
    ] as const) {
      const planned = await planOn(
        texts,
        [upsert(running('new', 'web.example.test', port))],
        filling([...sources]),
      );
      assert.deepEqual(planned.refused, []);
      assert.deepEqual(
        applied(texts, planned)['app/one.yaml'],
        texts['app/one.yaml']?.replace('a: x', 'a: new'),
      );
    }
  });

  it('are told by name when an edit would need them', async () => {
    const planned = await planOn(texts, [upsert(running('x', 'other.test'))], filling([]));
    assert.deepEqual(planned.edits, []);
    assert.match(
      planned.refused[0]?.message ?? '',
      /data\.host.*DOMAIN lives in Kustomization flux-system\/app/,
    );
  });

  it('refuse their object only when nobody told who fills them in', async () => {
    const planned = await planOn(texts, [upsert(running('new'))]);
    assert.deepEqual(planned.edits, []);
    assert.equal(planned.refused[0]?.reason, 'RenderDoesNotMatchLive');
    const literal = running('new')
      .replace('web.example.test', 'web.${DOMAIN}')
      .replace('"80"', '${PORT:=80}')
      .replace('raw: ${HOME}', 'raw: $${HOME}');
    assert.deepEqual((await planOn(texts, [upsert(literal)])).refused, []);
  });

  it('a new text of a person that looks like one is written so that it stays a text', async () => {
    const planned = await planOn(texts, [upsert(`${running('x')}  more: "\${NEW} and $$1"\n`)], filling([]));
    assert.deepEqual(planned.refused, []);
    assert.match(applied(texts, planned)['app/one.yaml'] ?? '', /more: "?\$\$\{NEW\} and \$\$\$1"?\n/);
  });
});
describe('variables in a folder without a kustomization', () => {
  const postBuild: PostBuild = {
    variables: new Map([['DOMAIN', { value: 'example.test', where: 'Kustomization flux-system/app' }]]),
    unread: [],
    where: 'Kustomization flux-system/app',
  };
  const substitution = { isSubstituted: true, postBuild };
  const texts: Texts = { 'app/one.yaml': configMap('one', 'web.${DOMAIN}') };

  it('stay where the applier of the object is known, and its own applier counts before the options', async () => {
    const change = { ...upsert(`${configMap('one', 'web.example.test')}  b: new\n`), substitution } as Change;
    const planned = await planOn(texts, [change]);
    assert.deepEqual(planned.refused, []);
    assert.equal(applied(texts, planned)['app/one.yaml'], `${texts['app/one.yaml']}  b: new\n`);
    const none = { ...change, substitution: { isSubstituted: true } } as Change;
    const refused = await planOn(texts, [none], { kustomize: { render, postBuild } });
    assert.equal(refused.refused[0]?.reason, 'RenderDoesNotMatchLive');
  });

  it('do not keep a document of a deleted object', async () => {
    const handled = live(configMap('one', 'web.example.test'));
    const change: Change = { ...gone('ConfigMap/shop/one'), handled, substitution } as Change;
    assert.deepEqual(applied(texts, await planOn(texts, [change])), {});
  });

  it('are not made of what a person writes into a new object', async () => {
    const fresh = { ...upsert(configMap('two', '${HOME}')), substitution } as Change;
    const path = 'shop/configmaps/two.yaml';
    assert.match(applied(texts, await planOn(texts, [fresh]))[`app/${path}`] ?? '', /a: \$\$\{HOME\}\n/);
  });

  it('that live still holds were not filled in, so the text around them is edited', async () => {
    const change = {
      ...upsert(configMap('one', 'ftp.${DOMAIN}')),
      substitution: { isSubstituted: true },
    } as Change;
    const planned = await planOn(texts, [change]);
    assert.equal(applied(texts, planned)['app/one.yaml'], configMap('one', 'ftp.${DOMAIN}'));
  });
});
/* biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above. */
