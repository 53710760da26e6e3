import assert from 'node:assert/strict';
import { createIndexCache, type FileMode, type Tree } from '../../../src/core/folder/index.ts';
import { describeObject, identify, type ObjectId } from '../../../src/core/identity.ts';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import {
  builtinResource,
  type Change,
  type Delete,
  type Plan,
  type PlanOptions,
  plan,
  pluralOf,
  type Upsert,
} from '../../../src/core/plan/index.ts';
import { sanitize } from '../../../src/core/sanitize/index.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';

type Files = Readonly<Record<string, string>>;

function treeOf(files: Files, modes: Record<string, FileMode> = {}): Tree {
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    mode: modes[path] ?? ('100644' as const),
    id: `blob of ${text}`,
    size: Buffer.byteLength(text),
  }));
  return {
    entries: () => entries,
    read: async (path) => Buffer.from(files[path] ?? assert.fail(`${path} was read`)),
  };
}

async function planned(
  files: Files,
  changes: readonly Change[],
  options: Partial<PlanOptions> = {},
  modes: Record<string, FileMode> = {},
): Promise<Plan> {
  return await plan(treeOf(files, modes), changes, {
    folder: 'app',
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: ['kustomize-controller'], ignore: [] },
    isSensitive: ({ group, kind }) => group === '' && kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
    ...options,
  });
}

function objectOf(text: string): JsonObject {
  const [document] = readDocuments(text);
  assert.ok(document?.kind === 'value' && isObject(document.value));
  return document.value;
}

const configMap = (name: string, level: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: shop\ndata:\n  level: ${level}\n`;
const deployment = (name: string, replicas: number) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\n  namespace: shop\nspec:\n  replicas: ${replicas}\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec: {containers: [{name: c, image: "c:1"}]}\n`;

function live(text: string, handled?: string, rest: Partial<Upsert> = {}): Upsert {
  return {
    kind: 'upsert',
    live: objectOf(text),
    applierKnown: true,
    ...(handled === undefined ? {} : { handled: sanitize(objectOf(handled)) }),
    ...rest,
  };
}

function gone(text: string, rest: Partial<Delete> = {}): Delete {
  const object = objectOf(text);
  return { kind: 'delete', id: idOf(object), handled: sanitize(object), reason: 'observed', ...rest };
}

function idOf(object: JsonObject): ObjectId {
  return identify(object) ?? assert.fail('no identity');
}

function content(result: Plan, path: string): string | undefined {
  const edit = result.edits.find((one) => one.path === path);
  return edit?.content === undefined ? undefined : Buffer.from(edit.content).toString();
}

function outcomes(result: Plan): Record<string, string> {
  return Object.fromEntries(result.outcomes.map(({ object, outcome }) => [describeObject(object), outcome]));
}

describe('a plan', () => {
  it('names the edited fields, and those whose newer value in Git it overwrote', async () => {
    const files = { 'app/a.yaml': `${configMap('one', 'git')}  other: x\n` };
    const handled = `${configMap('one', 'old')}  other: x\n`;
    const result = await planned(files, [live(`${configMap('one', 'live')}  other: z\n`, handled)]);
    const [edit] = result.edits;
    assert.deepEqual(edit?.fields.map(({ field }) => field).toSorted(), ['data.level', 'data.other']);
    assert.deepEqual(
      edit?.overwritten.map(({ field }) => field),
      ['data.level'],
    );
    assert.deepEqual(
      result.notices.map(({ code, path }) => [code, path]),
      [['ForeignValueOverwritten', 'app/a.yaml']],
    );
  });

  it('never touches a field that only Git changed', async () => {
    const files = { 'app/a.yaml': `${configMap('one', 'git')}  other: x\n` };
    const handled = `${configMap('one', 'old')}  other: x\n`;
    const result = await planned(files, [live(`${configMap('one', 'old')}  other: z\n`, handled)]);
    assert.equal(content(result, 'app/a.yaml'), `${configMap('one', 'git')}  other: z\n`);
  });

  it('keeps the mode of a file', async () => {
    const change = live(configMap('one', 'b'), configMap('one', 'a'));
    const result = await planned(
      { 'app/a.yaml': configMap('one', 'a') },
      [change],
      {},
      { 'app/a.yaml': '100755' },
    );
    assert.deepEqual(
      result.edits.map(({ mode, action }) => [mode, action]),
      [['100755', 'edit']],
    );
  });

  it('takes the last of two changes of one object', async () => {
    const files = { 'app/a.yaml': configMap('one', 'a') };
    const result = await planned(files, [
      gone(configMap('one', 'a')),
      live(configMap('one', 'b'), configMap('one', 'a')),
    ]);
    assert.equal(content(result, 'app/a.yaml'), configMap('one', 'b'));
    assert.deepEqual(outcomes(result), { 'ConfigMap/shop/one': 'written' });
  });

  it('removes and adds in one file without leaving a trace of the old document', async () => {
    const result = await planned(
      { 'app/a.yaml': configMap('one', 'a') },
      [gone(configMap('one', 'a')), live(configMap('two', 'b'))],
      { placement: { default: 'a.yaml' } },
    );
    assert.equal(content(result, 'app/a.yaml'), configMap('two', 'b'));
  });

  it('refuses one object and writes the others', async () => {
    const files = { 'app/a.yaml': `${configMap('one', 'a')}---\n${configMap('two', '!own a')}` };
    const result = await planned(files, [
      live(configMap('one', 'b'), configMap('one', 'a')),
      live(configMap('two', 'b'), configMap('two', 'a')),
    ]);
    assert.equal(content(result, 'app/a.yaml'), `${configMap('one', 'b')}---\n${configMap('two', '!own a')}`);
    assert.deepEqual(outcomes(result), { 'ConfigMap/shop/one': 'written', 'ConfigMap/shop/two': 'refused' });
  });

  it('never freezes a variable that Flux fills in after Git', async () => {
    const variable = '\u0024{LEVEL:=low}';
    const files = { 'app/a.yaml': `${configMap('one', variable)}  other: x\n` };
    const other = live(`${configMap('one', 'low')}  other: z\n`, `${configMap('one', 'low')}  other: x\n`);
    const substituted = { isSubstituted: true };
    assert.equal(
      content(await planned(files, [other], substituted), 'app/a.yaml'),
      `${configMap('one', variable)}  other: z\n`,
    );
    const own = live(`${configMap('one', 'high')}  other: x\n`, `${configMap('one', 'low')}  other: x\n`);
    const result = await planned(files, [own], substituted);
    assert.deepEqual(result.edits, []);
    assert.deepEqual(
      result.refused.map(({ reason }) => reason),
      ['RenderDoesNotMatchLive'],
    );
    assert.match(result.refused[0]?.message ?? '', /data\.level .*LEVEL:=low/);
    assert.equal(
      (await planned(files, [own])).edits.length,
      1,
      'without substitution it is a text like any other',
    );
  });

  it('refuses a document for an object that an applier rendered from a template of the folder', async () => {
    const chart = {
      'app/templates/d.yaml':
        '{{- if .Values.on }}\nkind: Deployment\nmetadata:\n  name: {{ include "full" . }}\n{{- end }}\n',
    };
    const rendered = objectOf(deployment('web', 3));
    const mine: Change = { kind: 'upsert', live: rendered, applierKnown: true };
    assert.deepEqual((await planned(chart, [mine])).refused, []);
    assert.ok(isObject(rendered.metadata));
    rendered.metadata.annotations = { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web' };
    const handled = sanitize(objectOf(deployment('web', 2)));
    const result = await planned(chart, [{ ...mine, handled }]);
    assert.deepEqual(
      result.refused.map(({ reason, path }) => [reason, path]),
      [['InUnreadableFile', 'app/templates/d.yaml']],
    );
  });

  it('refuses a new object of a kind that discovery does not know', async () => {
    const text =
      'apiVersion: example.test/v1\nkind: Thing\nmetadata: {name: x, namespace: shop}\nspec: {a: 1}\n';
    const result = await planned({ 'app/.gitkeep': '' }, [live(text)]);
    assert.deepEqual(
      result.refused.map(({ reason, actor }) => [reason, actor]),
      [['UnknownKind', 'platform-operator']],
    );
  });

  it('leaves an object alone that is on its way out', async () => {
    const files = { 'app/a.yaml': configMap('one', 'a') };
    const object = objectOf(configMap('one', 'b'));
    assert.ok(isObject(object.metadata));
    object.metadata.deletionTimestamp = '2026-11-20T10:15:00Z';
    const change: Change = { kind: 'upsert', live: object, applierKnown: true };
    assert.deepEqual(outcomes(await planned(files, [change])), { 'ConfigMap/shop/one': 'unchanged' });
  });

  it('gives a document to a size that an autoscaler of the same batch sets no number', async () => {
    const hpa =
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 9}\n';
    const files = { 'app/web.yaml': deployment('web', 2), 'app/api.yaml': deployment('api', 2) };
    const result = await planned(files, [
      live(hpa),
      live(deployment('web', 7), deployment('web', 2)),
      live(deployment('api', 7), deployment('api', 2)),
    ]);
    assert.equal(content(result, 'app/web.yaml'), undefined);
    assert.equal(content(result, 'app/api.yaml'), deployment('api', 7));
  });

  it("counts an object's own appliers before those of the options", async () => {
    const owned = objectOf(configMap('one', 'b'));
    assert.ok(isObject(owned.metadata));
    owned.metadata.managedFields = [
      {
        manager: 'argocd-controller',
        operation: 'Apply',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:level': {} } },
      },
    ];
    const files = { 'app/a.yaml': configMap('one', 'a') };
    const change = { ...live(configMap('one', 'b'), configMap('one', 'a')), live: owned };
    assert.equal((await planned(files, [change])).edits.length, 1);
    const managers = { appliers: ['argocd-controller'], ignore: [] };
    assert.deepEqual((await planned(files, [{ ...change, managers }])).edits, []);
  });

  it('throws when the tree is not the one that was indexed', async () => {
    const tree = treeOf({ 'app/a.yaml': configMap('one', 'a') });
    const cache = createIndexCache(10);
    const options = {
      folder: 'app',
      placement: {},
      prune: 'OnEvent' as const,
      managers: { appliers: [], ignore: [] },
      isSensitive: () => false,
      resourceOf: builtinResource,
      bootstrap: false,
      cache,
    };
    await plan(tree, [], options);
    const lying: Tree = { entries: tree.entries, read: async () => Buffer.from('a: b\n') };
    await assert.rejects(plan(lying, [live(configMap('one', 'b'))], options), /app\/a\.yaml/);
  });
});

describe('the first files of a folder', () => {
  const change = live(configMap('one', 'a'));

  it('come with the first edit when the branch has no path under it', async () => {
    const result = await planned({ 'other/x.yaml': 'a: b\n' }, [change], { bootstrap: true });
    assert.deepEqual(
      result.edits.map(({ path, action }) => [path, action]),
      [
        ['app/.gittargetignore', 'create'],
        ['app/README.md', 'create'],
        ['app/shop/configmaps/one.yaml', 'create'],
      ],
    );
    const ignore = content(result, 'app/.gittargetignore') ?? '';
    assert.ok(ignore.split('\n').every((line) => line === '' || line.startsWith('#')));
  });

  it('never come into a folder that is there, nor without an edit, nor unasked', async () => {
    const there = await planned({ 'app/.gitkeep': '' }, [change], { bootstrap: true });
    assert.equal(there.edits.length, 1);
    assert.deepEqual((await planned({}, [], { bootstrap: true })).edits, []);
    assert.equal((await planned({}, [change])).edits.length, 1);
  });
});

describe('a live delete', () => {
  const sealed =
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\n  namespace: shop\ndata:\n  k: ENC[x]\nsops: {mac: y}\n';
  const id: ObjectId = { group: '', kind: 'Secret', namespace: 'shop', name: 'key' };
  const files = { 'app/key.sops.yaml': sealed };

  it('removes an encrypted document only while it is the very blob that was handled', async () => {
    const known: Change = { kind: 'delete', id, documentBlob: `blob of ${sealed}`, reason: 'observed' };
    assert.deepEqual(
      (await planned(files, [known])).edits.map(({ action }) => action),
      ['delete'],
    );
    const changed = await planned(files, [{ ...known, documentBlob: 'another' }]);
    assert.deepEqual(
      changed.refused.map(({ reason }) => reason),
      ['DocumentChangedSince'],
    );
    const compared = await planned(files, [
      { kind: 'delete', id, handled: objectOf(sealed), reason: 'observed' },
    ]);
    assert.deepEqual(
      compared.refused.map(({ reason }) => reason),
      ['DocumentChangedSince'],
    );
  });

  it('ignores what the server and controllers add to the object that was handled', async () => {
    const written = deployment('web', 2);
    const handled = objectOf(written);
    assert.ok(isObject(handled.spec));
    handled.spec.revisionHistoryLimit = 10;
    const change: Change = { kind: 'delete', id: idOf(handled), handled, reason: 'absent' };
    const result = await planned({ 'app/web.yaml': `# mine\n${written}` }, [change]);
    assert.deepEqual(
      result.edits.map(({ path, action }) => [path, action]),
      [['app/web.yaml', 'delete']],
    );
  });

  it('of an object without a document does nothing', async () => {
    const result = await planned({ 'app/.gitkeep': '' }, [gone(configMap('one', 'a'))]);
    assert.deepEqual([result.edits, outcomes(result)], [[], { 'ConfigMap/shop/one': 'unchanged' }]);
  });

  it('of an object that stands in a file nobody can read is refused, so that the applier does not bring it back unnoticed', async () => {
    const broken = { 'app/broken.yaml': `${configMap('one', 'a')}  oops: [\n` };
    const result = await planned(broken, [gone(configMap('one', 'a'))]);
    assert.deepEqual(
      result.refused.map(({ reason }) => reason),
      ['InUnreadableFile'],
    );
    assert.deepEqual((await planned(broken, [gone(configMap('one', 'a'))], { prune: 'Never' })).refused, []);
  });

  it('of a cluster-scoped object finds a document that states a namespace all the same', async () => {
    const role =
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: shop}\nrules: []\n';
    const object = { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespace: '', name: 'r' };
    const result = await planned({ 'app/r.yaml': role }, [
      { kind: 'delete', id: object, reason: 'observed' },
    ]);
    assert.deepEqual(
      result.edits.map(({ action }) => action),
      ['delete'],
    );
    const named = await planned({ 'app/one.yaml': configMap('one', 'a') }, [
      {
        kind: 'delete',
        id: { group: '', kind: 'ConfigMap', namespace: '', name: 'one' },
        reason: 'observed',
      },
    ]);
    assert.deepEqual(named.edits, [], 'a namespaced object is never meant without its namespace');
  });
});

describe('the built-in resource table', () => {
  it('knows plurals and scopes', () => {
    assert.deepEqual(builtinResource('networking.k8s.io/v1', 'Ingress'), {
      resource: 'ingresses',
      namespaced: true,
    });
    assert.deepEqual(builtinResource('v1', 'Endpoints'), { resource: 'endpoints', namespaced: true });
    assert.deepEqual(builtinResource('v1', 'Namespace'), { resource: 'namespaces', namespaced: false });
    assert.deepEqual(builtinResource('gateway.networking.k8s.io/v1', 'Gateway'), {
      resource: 'gateways',
      namespaced: true,
    });
    assert.deepEqual(builtinResource('source.toolkit.fluxcd.io/v1', 'GitRepository'), {
      resource: 'gitrepositories',
      namespaced: true,
    });
    assert.equal(builtinResource('apps/v1', 'Ingress'), undefined);
    assert.equal(pluralOf('StorageClass'), 'storageclasses');
  });
});
