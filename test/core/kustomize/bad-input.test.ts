/**
 * Folders and edits that must not go through: refused for the objects concerned, with the reason and who can mend it; never a write
 * outside of the folder, never a file that nothing builds, never a change of another environment.
 */
import assert from 'node:assert/strict';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import { createRenderCache } from '../../../src/core/kustomize/index.ts';
import { builtinResource, type Change, type Plan, plan } from '../../../src/core/plan/index.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';
import { objectsOf, open, render, type Texts, treeOf } from './folders.ts';

const cache = createRenderCache(10_000);

async function planOn(
  texts: Texts,
  folder: string,
  changes: readonly Change[],
  links: readonly string[] = [],
) {
  return await plan(treeOf(texts, links), changes, {
    folder,
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: ({ kind }) => kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
    kustomize: { render, cache },
  });
}

function objectOf(yaml: string): JsonObject {
  const [document] = readDocuments(yaml);
  assert.ok(document?.kind === 'value' && isObject(document.value));
  return document.value;
}

/** Live differs from what was handled, unless both are the same. */
function edited(live: string, handled?: string): Change {
  return {
    kind: 'upsert',
    live: objectOf(live),
    applierKnown: true,
    ...(handled === undefined ? {} : { handled: objectOf(handled) }),
  };
}

const configMap = (name: string, value: string, namespace = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${namespace === '' ? '' : `  namespace: ${namespace}\n`}data:\n  a: ${value}\n`;

const deployment = (name: string, image: string, namespace = '') =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\n${namespace === '' ? '' : `  namespace: ${namespace}\n`}spec:\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec: {containers: [{name: c, image: "${image}"}]}\n`;

function refusals({ refused }: Plan): string[] {
  return refused.map(({ reason, actor, object }) => `${reason} ${object?.name ?? '-'} ${actor}`);
}

function applied(texts: Texts, { edits }: Plan): Texts {
  const result: Record<string, string> = { ...texts };
  for (const { path, content } of edits) {
    if (content === undefined) delete result[path];
    else result[path] = Buffer.from(content).toString('utf8');
  }
  return result;
}

describe('a kustomization that cannot be built', () => {
  const rows: Readonly<
    Record<
      string,
      { readonly texts: Texts; readonly links?: string[]; readonly says: RegExp; readonly reason?: string }
    >
  > = {
    'loads itself': {
      texts: {
        'app/kustomization.yaml': 'resources: [sub]\n',
        'app/sub/kustomization.yaml': 'resources: [..]\n',
      },
      says: /loads itself \(app -> app\/sub -> app\)/,
    },
    'names a file that is not there': {
      texts: { 'app/kustomization.yaml': 'resources: [gone.yaml]\n' },
      says: /names gone\.yaml, which is not there/,
    },
    'names a patch that is not there': {
      texts: { 'app/kustomization.yaml': 'patches: [{path: gone.yaml}]\n' },
      says: /names gone\.yaml, which is not there/,
    },
    'names a remote': {
      texts: { 'app/kustomization.yaml': 'resources: ["https://me:pass-word@git.example.test/base"]\n' },
      says: /git\.example\.test\/base, which is not in this repository/,
      reason: 'UnsupportedKustomize',
    },
    'leaves the repository': {
      texts: { 'app/kustomization.yaml': 'resources: [../../outside]\n' },
      says: /leaves the repository/,
    },
    'has no usable expression in images': {
      texts: { 'app/kustomization.yaml': 'images: [{name: "(", newTag: "1"}]\n' },
      says: /no usable regular expression/,
    },
    'names a symbolic link': {
      texts: { 'app/kustomization.yaml': 'resources: [link.yaml]\n' },
      links: ['app/link.yaml'],
      says: /names link\.yaml, which is not there/,
    },
    'is a symbolic link beside a real one': {
      texts: { 'app/kustomization.yaml': 'resources: [sub]\n', 'app/sub/one.yaml': configMap('one', 'x') },
      links: ['app/sub/kustomization.yaml'],
      says: /names sub, which is not there/,
    },
    'holds a secret that is no KEY=VALUE': {
      texts: { 'app/kustomization.yaml': 'secretGenerator: [{name: s, literals: [pass-word]}]\n' },
      says: /a literal of s in secretGenerator is not of the form KEY=VALUE/,
    },
    'takes one file twice': {
      texts: {
        'app/kustomization.yaml': 'resources: [one.yaml, ./one.yaml]\n',
        'app/one.yaml': configMap('one', 'x'),
      },
      says: /may not add resource|already registered/,
    },
    'runs a program': {
      texts: { 'app/kustomization.yaml': 'generators: [plugin.yaml]\n', 'app/plugin.yaml': 'kind: Any\n' },
      says: /generators, and its configuration may run programs/,
      reason: 'UnsupportedKustomize',
    },
  };

  for (const [what, { texts, links, says, reason = 'BrokenKustomization' }] of Object.entries(rows)) {
    it(`because it ${what}: only what was edited is refused, and nothing is written`, async () => {
      const planned = await planOn(
        texts,
        'app',
        [
          edited(configMap('new', 'y', 'shop')),
          edited(configMap('old', 'x', 'shop'), configMap('old', 'x', 'shop')),
        ],
        links,
      );
      assert.deepEqual(refusals(planned), [`${reason} new repository-author`]);
      assert.match(planned.refused[0]?.message ?? '', says);
      assert.doesNotMatch(JSON.stringify(planned), /pass-word/);
      assert.deepEqual(planned.edits, []);
    });
  }
});

describe('a broken root', () => {
  it('does not stop the other roots of the folder', async () => {
    const texts = {
      'app/good/kustomization.yaml': 'namespace: good\nresources: [one.yaml]\n',
      'app/good/one.yaml': configMap('one', 'x'),
      'app/bad/kustomization.yaml': 'namespace: bad\nresources: [gone.yaml]\n',
    };
    const planned = await planOn(texts, 'app', [
      edited(configMap('one', 'y', 'good')),
      edited(configMap('two', 'y', 'bad')),
    ]);
    assert.deepEqual(refusals(planned), ['BrokenKustomization two repository-author']);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['app/good/one.yaml'],
    );
  });
});

describe('a Secret that a kustomization makes or lists in plain text', () => {
  const texts = {
    'app/kustomization.yaml':
      'namespace: shop\nresources: [plain.yaml, one.yaml]\nsecretGenerator: [{name: made, literals: [key=pass-word], options: {disableNameSuffixHash: true}}]\n',
    'app/plain.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: plain}\nstringData: {key: pass-word}\n',
    'app/one.yaml': configMap('one', 'x'),
  };
  const secret = (name: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: shop}\ndata: {key: b3RoZXI=}\n`;

  it('is never written, and everything beside it is', async () => {
    const planned = await planOn(texts, 'app', [
      edited(secret('plain')),
      edited(secret('made')),
      edited(secret('new')),
      edited(configMap('one', 'y', 'shop')),
    ]);
    assert.deepEqual(planned.refused.map(({ object }) => object?.name).sort(), ['made', 'new', 'plain']);
    assert.doesNotMatch(JSON.stringify(planned.refused), /pass-word|cGFzcy13b3Jk|b3RoZXI/);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['app/one.yaml'],
    );
  });
});

describe('a base that two environments build', () => {
  const texts: Texts = {
    'base/kustomization.yaml': 'resources: [one.yaml, web.yaml]\n',
    'base/one.yaml': configMap('one', 'x'),
    'base/web.yaml': deployment('web', 'web:1'),
    'prod/kustomization.yaml': 'namespace: prod\nresources: [../base]\nimages: [{name: web, newTag: "2"}]\n',
    'test/kustomization.yaml': 'namespace: test\nresources: [../base]\nimages: [{name: web, newTag: "3"}]\n',
  };

  it('is not written from one of them, whatever values the two give it', async () => {
    const planned = await planOn(texts, 'prod', [
      edited(configMap('one', 'y', 'prod')),
      edited(deployment('web', 'web:4', 'prod')),
    ]);
    assert.deepEqual(planned.refused, []);
    assert.ok(planned.edits.every(({ path }) => path.startsWith('prod/')));
    const before = objectsOf(await open(texts, 'test'));
    const now = objectsOf(await open(applied(texts, planned), 'test'));
    assert.deepEqual(now, before);
  });

  it('is not written as a folder of its own either: each object is refused, naming who else reads it', async () => {
    const planned = await planOn(texts, 'base', [edited(configMap('one', 'y', 'prod'))]);
    assert.deepEqual(refusals(planned), ['WriteFanIn one repository-author']);
    assert.match(planned.refused[0]?.message ?? '', /also read by prod and test/);
    assert.deepEqual(planned.edits, []);
  });

  it('is written where the folder holds both of them only in the one that was edited', async () => {
    const nested: Texts = Object.fromEntries(
      Object.entries(texts).map(([path, text]) => [`all/${path}`, text]),
    );
    const planned = await planOn(nested, 'all', [edited(configMap('one', 'y', 'prod'))]);
    assert.deepEqual(planned.refused, []);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      ['all/prod/configmap-one-edits.yaml', 'all/prod/kustomization.yaml'],
    );
  });
});

describe('an edit that would change another environment', () => {
  it('through an own file that the other one reads, becomes a patch of this one', async () => {
    const texts: Texts = {
      'prod/kustomization.yaml': 'namespace: prod\nresources: [one.yaml]\n',
      'prod/one.yaml': configMap('one', 'x'),
      'test/kustomization.yaml': 'namespace: test\nresources: [../prod/one.yaml]\n',
    };
    const planned = await planOn(texts, 'prod', [edited(configMap('one', 'y', 'prod'))]);
    assert.deepEqual(planned.refused, []);
    assert.equal(applied(texts, planned)['prod/one.yaml'], texts['prod/one.yaml']);
    const other = objectsOf(await open(applied(texts, planned), 'test'));
    assert.deepEqual(other, objectsOf(await open(texts, 'test')));
  });

  it('through the whole kustomization, is refused', async () => {
    const texts: Texts = {
      'prod/kustomization.yaml': 'resources: [one.yaml]\n',
      'prod/one.yaml': configMap('one', 'x'),
      'east/kustomization.yaml': 'namespace: east\nresources: [../prod]\n',
      'west/kustomization.yaml': 'namespace: west\nresources: [../prod]\n',
    };
    const planned = await planOn(texts, 'prod', [
      edited(configMap('one', 'y', 'east')),
      edited(configMap('two', 'y', 'east')),
    ]);
    assert.deepEqual(refusals(planned), [
      'WriteFanIn one repository-author',
      'WriteFanIn two repository-author',
    ]);
    assert.deepEqual(planned.edits, []);
  });
});

describe('a new object', () => {
  it('is not written where no kustomization would list it', async () => {
    const texts: Texts = {
      'app/parts/one.yaml': configMap('one', 'x'),
      'root/kustomization.yaml': 'namespace: shop\nresources: [../app/parts/one.yaml]\n',
    };
    const planned = await planOn(texts, 'app', [edited(configMap('new', 'y', 'shop'))]);
    assert.deepEqual(refusals(planned), ['AmbiguousLayout new platform-operator']);
    assert.match(planned.refused[0]?.message ?? '', /no applier would read it/);
    assert.deepEqual(planned.edits, []);
  });
});

describe('one image entry for two Deployments', () => {
  it('is not changed for one of them alone', async () => {
    const texts: Texts = {
      'app/kustomization.yaml':
        'namespace: shop\nresources: [a.yaml, b.yaml]\nimages: [{name: web, newTag: "2"}]\n',
      'app/a.yaml': deployment('a', 'web:1'),
      'app/b.yaml': deployment('b', 'web:1'),
    };
    const alone = await planOn(texts, 'app', [edited(deployment('a', 'web:3', 'shop'))]);
    assert.deepEqual(refusals(alone), ['RenderRefused a repository-author']);
    assert.deepEqual(alone.edits, []);
    const both = await planOn(texts, 'app', [
      edited(deployment('a', 'web:3', 'shop')),
      edited(deployment('b', 'web:3', 'shop')),
    ]);
    assert.deepEqual(both.refused, []);
    assert.match(applied(texts, both)['app/kustomization.yaml'] ?? '', /newTag: "3"/);
  });
});
