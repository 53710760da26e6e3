/**
 * The repositories of the shared corpora, where they lie beside the project: roots, what they read, what they give, and verdicts at
 * least as permissive as those recorded there. docs/design/kustomize.md lists where we differ on purpose.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createIndexCache, folderLayout, indexFolder, type Tree } from '../../../src/core/folder/index.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import {
  createRenderCache,
  divergences,
  fillObject,
  type KustomizeGraph,
  openOverlay,
  outsideOf,
  type PostBuild,
  readGraph,
} from '../../../src/core/kustomize/index.ts';
import { builtinResource, type Plan, plan } from '../../../src/core/plan/index.ts';
import { decodeFile, readDocuments } from '../../../src/core/yaml/index.ts';
import { filesOf, treeOf } from '../../cases/corpus.ts';
import { render, schemaOf } from './folders.ts';

const corpora = resolve(import.meta.dirname, '../../../../shared/corpora/upstream');

interface Verdict {
  readonly path: string;
  readonly layout: string;
  readonly accepted: boolean;
  readonly namespace: string;
  readonly rendered: number;
  readonly readScope?: readonly string[];
  readonly types?: readonly string[];
}

function skipWithout(context: Mocha.Context): void {
  if (existsSync(corpora)) return;
  console.log('    skipped: ../shared/corpora is not there');
  context.skip();
}

async function treeAt(path: string): Promise<Tree> {
  return treeOf(await filesOf(join(corpora, path)));
}

/** Refused by the recorded verdicts, accepted by us: what we cannot edit is refused object by object. */
const acceptedByUs = new Set([
  'gitops-layouts/2-rendered/kustomize-overlays apps/frontend/overlays/production',
  'gitops-layouts/2-rendered/kustomize-overlays apps/frontend/overlays/staging',
  'gitops-layouts/2-rendered/rendered-manifests src/frontend/overlays/production',
  'gitops-layouts/2-rendered/rendered-manifests src/frontend/overlays/staging',
  'gitops-layouts/3-expanded/flux-helmrelease apps/frontend',
]);

async function checkRepository(name: string, verdicts: readonly Verdict[]): Promise<void> {
  const tree = await treeAt(name);
  const graph = await readGraph(tree, new Map());
  const cache = createRenderCache(10_000);
  const built = verdicts.filter(({ path }) => graph.nodes.has(folderOf(path)));
  assert.deepEqual(
    graph.roots.filter((root) => graph.nodes.get(root)?.decoded.ok === true || built.length > 0),
    built.map(({ path }) => folderOf(path)).sort(),
    `${name}: the roots`,
  );
  for (const verdict of verdicts) {
    const folder = folderOf(verdict.path);
    const what = `${name} ${verdict.path}`;
    const index = await indexFolder(tree, folder, createIndexCache(1_000));
    if (!built.includes(verdict)) {
      assert.notEqual(folderLayout({ ...index, kustomizations: [] }).kind, 'closed', what);
      continue;
    }
    const overlay = await openOverlay(tree, index, { render, cache });
    const own = overlay?.builds.find(({ root }) => root === folder);
    const isDifferent = acceptedByUs.has(what);
    assert.equal(
      own !== undefined,
      verdict.accepted || isDifferent,
      `${what}: ${overlay?.failures[0]?.message}`,
    );
    if (verdict.namespace !== '') assert.equal(namespaceOf(graph, folder), verdict.namespace, what);
    if (own === undefined || isDifferent) continue;
    assert.equal(own.objects.length, verdict.rendered, what);
    const outside = outsideOf(own.reach, folder);
    // The recorded scope names a folder once, with all that lies in it.
    const scope = outside.filter((one) => !outside.some((other) => one.startsWith(`${other}/`)));
    if (verdict.readScope !== undefined) assert.deepEqual(scope, verdict.readScope, what);
    const layout = scope.length === 0 ? 'kustomize-single' : 'kustomize-overlay';
    assert.equal(layout, verdict.layout, what);
    if (verdict.types !== undefined) {
      const types = own.objects.map(({ value }) => `${String(value.apiVersion)}/${String(value.kind)}`);
      assert.deepEqual([...new Set(types)].sort(), verdict.types, what);
    }
  }
}

function folderOf(path: string): string {
  return path === '.' ? '' : path;
}

function namespaceOf(graph: KustomizeGraph, folder: string): string {
  const decoded = graph.nodes.get(folder)?.decoded;
  return decoded?.ok === true ? decoded.kustomization.namespace : '';
}

describe('the recorded discovery of repositories', () => {
  it('is reproduced for scan-repo', async function () {
    skipWithout(this);
    this.timeout(60_000);
    for (const group of ['supported', 'unsupported']) {
      const names = (await readdir(join(corpora, 'scan-repo', group))).filter((one) =>
        one.endsWith('.golden.json'),
      );
      for (const file of names) {
        const golden: Json = JSON.parse(await readFile(join(corpora, 'scan-repo', group, file), 'utf8'));
        assert.ok(isObject(golden) && Array.isArray(golden.candidates));
        const name = `scan-repo/${group}/${file.replace('.golden.json', '')}`;
        await checkRepository(name, golden.candidates.filter(isObject).map(verdictOf));
      }
    }
  });

  it('is reproduced for the 19 layouts, or is more permissive', async function () {
    skipWithout(this);
    this.timeout(60_000);
    const text = await readFile(join(corpora, 'gitops-layouts/support-today.md'), 'utf8');
    const sections = text.split(/^## /m).slice(2);
    assert.equal(sections.length, 19);
    for (const section of sections) {
      const [name = ''] = section.split('\n');
      const rows = [
        ...section.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| (true|false) \| `([^`]+)` \| (\d+)\//gm),
      ];
      await checkRepository(
        `gitops-layouts/${name}`,
        rows
          // Namespaces and counts of folders that do not build are nobody's promise.
          .map(([, path = '', layout = '', accepted, namespace = '', rendered]) => ({
            path,
            layout,
            accepted: accepted === 'true',
            namespace: layout === 'kustomize-overlay' ? namespace : '',
            rendered: Number(rendered),
          })),
      );
    }
  });
});

function verdictOf(candidate: JsonObject): Verdict {
  const { path, layout, acceptedByOperator, inferredNamespace, resources, readScope, renderedTypes } =
    candidate;
  const types = isObject(renderedTypes) ? renderedTypes : {};
  const lists = [
    ...Object.values(isObject(types.byNamespace) ? types.byNamespace : {}),
    types.namespaceUndeclared ?? [],
  ];
  return {
    path: String(path),
    layout: String(layout),
    accepted: acceptedByOperator === true,
    namespace: layout === 'kustomize-overlay' ? String(inferredNamespace ?? '') : '',
    rendered: isObject(resources) ? Number(resources.rendered) : 0,
    ...(Array.isArray(readScope) ? { readScope: readScope.map(String) } : {}),
    types: [...new Set(lists.flatMap((list) => (Array.isArray(list) ? list.map(String) : [])))].sort(),
  };
}

describe('contextual namespaces', () => {
  const expected: Readonly<Record<string, readonly string[] | RegExp>> = {
    'supported/flat-namespace': ['a app', 'b app'],
    'supported/nested-base': ['child app', 'root app'],
    'supported/multi-doc': ['one app', 'two app'],
    'supported/explicit-namespace': ['cm explicit-ns'],
    'supported/images-overlay': ['web app'],
    'supported/replicas-overlay': ['web app'],
    'unsupported/ambiguous-two-roots': ['shared team-a', 'shared team-b'],
    // Both roots give one object; below, its edits are refused.
    'unsupported/ambiguous-images': ['web app', 'web app'],
    // Features that refuse a folder in the recorded verdicts, and only what they own here.
    'unsupported/patches': /does not apply/,
    'unsupported/components': /names \.\/comp, which is not there/,
    'unsupported/name-prefix': ['dev-cm app'],
    'unsupported/generators': ['cm app', 'gen-4h2mbtbbt6 app'],
    'unsupported/diamond-images': /already registered id|may not add/,
    'unsupported/helm': /helmCharts/,
    'unsupported/remote-base': /not in this repository/,
  };

  it('come from the build', async function () {
    skipWithout(this);
    this.timeout(60_000);
    for (const [name, want] of Object.entries(expected)) {
      const tree = await treeAt(`contextual-namespace/${name}`);
      const index = await indexFolder(tree, '', createIndexCache(1_000));
      const overlay = await openOverlay(tree, index, { render });
      assert.ok(overlay, name);
      if (want instanceof RegExp) {
        assert.match(overlay.failures.map(({ message }) => message).join(), want, name);
        continue;
      }
      const found = overlay.builds.flatMap(({ objects }) =>
        objects.map(({ id }) => `${id.name} ${id.namespace}`),
      );
      assert.deepEqual(found.sort(), want, `${name}: ${overlay.failures[0]?.message ?? ''}`);
    }
  });
});

describe('folders whose context does not tell enough', () => {
  it('two roots with other images over one file: nothing is routed, and every edit of it is refused', async function () {
    skipWithout(this);
    const tree = await treeAt('contextual-namespace/unsupported/ambiguous-images');
    for (const tag of ['1.0.0', '2.0.0', '3.0.0']) {
      const planned = await planFor(tree, '', `ghcr.io/example/podinfo:${tag}`);
      assert.deepEqual(planned.edits, [], tag);
      assert.equal(planned.refused[0]?.reason, 'Duplicate', tag);
    }
    // With the folder of one root, that root's own entry may say it, and never the file of both.
    const { edits } = await planFor(tree, 'other', 'ghcr.io/example/podinfo:3.0.0');
    assert.deepEqual(
      edits.map(({ path }) => path),
      ['other/kustomization.yaml'],
    );
  });

  it('without any, a document has no namespace', async function () {
    skipWithout(this);
    const tree = await treeAt('contextual-namespace/unsupported/no-context');
    const index = await indexFolder(tree, '', createIndexCache(10));
    assert.equal(await openOverlay(tree, index, { render }), undefined);
    assert.deepEqual(
      [...index.documents.values()].flat().map(({ id }) => id.namespace),
      [''],
    );
  });
});

async function planFor(tree: Tree, folder: string, image: string): Promise<Plan> {
  const metadata = { name: 'web', namespace: 'app' };
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'podinfo', image }] } };
  const spec = { selector: { matchLabels: labels }, template };
  const live: JsonObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  return await plan(tree, [{ kind: 'upsert', live, applierKnown: true }], {
    folder,
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: () => false,
    resourceOf: builtinResource,
    bootstrap: false,
    kustomize: { render },
  });
}

describe('texts that look like variables', () => {
  it('diverge where the recorded verdict says so', async function () {
    skipWithout(this);
    const folder = join(corpora, 'render-fidelity');
    for (const name of await readdir(folder)) {
      const tree = await treeAt(`render-fidelity/${name}/git`);
      const live = await objectIn(join(folder, name, 'live.yaml'));
      const want = await objectIn(join(folder, name, 'want.yaml'));
      const built = await builtIn(tree);
      const found = divergences(built, live);
      const expected = Array.isArray(want.divergences) ? want.divergences : [];
      assert.deepEqual(found, expected, name);
      assert.equal(found.length === 0, want.condition === 'True', name);
    }
  });

  it('are filled in where nothing is unset, and then nothing diverges', async function () {
    skipWithout(this);
    const folder = join(corpora, 'render-fidelity/plain-postbuild-token');
    const built = await builtIn(await treeAt('render-fidelity/plain-postbuild-token/git'));
    const live = await objectIn(join(folder, 'live.yaml'));
    const postBuild: PostBuild = { variables: new Map(), unread: ['ConfigMap flux-system/vars'], where: 'x' };
    assert.deepEqual(divergences(fillObject(postBuild, schemaOf(built), built, live), live), []);
  });
});

async function builtIn(tree: Tree): Promise<JsonObject> {
  const index = await indexFolder(tree, '', createIndexCache(100));
  const overlay = await openOverlay(tree, index, { render });
  const object = overlay?.builds[0]?.objects[0]?.value;
  if (object !== undefined) return object;
  for (const { path } of tree.entries()) {
    const decoded = decodeFile(await tree.read(path));
    const [document] = decoded.ok ? readDocuments(decoded.text) : [];
    if (document?.kind === 'value' && isObject(document.value)) return document.value;
  }
  return assert.fail('no object');
}

async function objectIn(path: string): Promise<JsonObject> {
  const [document] = readDocuments(await readFile(path, 'utf8'));
  assert.ok(document?.kind === 'value' && isObject(document.value));
  return document.value;
}
