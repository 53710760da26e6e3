/** Which kustomization reads what, decided from the files alone. */
import assert from 'node:assert/strict';
import {
  decodeKustomization,
  featureRule,
  imagePattern,
  type KustomizeGraph,
  kustomizeLayout,
  outsideOf,
  parseImage,
  printImage,
  readGraph,
} from '../../../src/core/kustomize/index.ts';
import { referenceTo, resolveReference } from '../../../src/core/kustomize/reference.ts';
import { type Texts, treeOf } from './folders.ts';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

async function graphOf(texts: Texts, links: readonly string[] = []): Promise<KustomizeGraph> {
  return await readGraph(treeOf(texts, links), new Map());
}

function problems(graph: KustomizeGraph, root: string): string[] {
  return (graph.reaches.get(root)?.problems ?? []).map(({ kind, message }) => `${kind}: ${message}`);
}

describe('the graph of kustomizations', () => {
  it('has a root for each kustomization that no other loads, and knows who shares a file', async () => {
    const graph = await graphOf({
      'base/kustomization.yaml': 'resources: [cm.yaml]\n',
      'base/cm.yaml': configMap('cm'),
      'prod/kustomization.yaml': 'bases: [../base]\npatches: [{path: ../patches/p.yaml}]\n',
      'patches/p.yaml': configMap('cm'),
      'test/Kustomization': 'resources: [../base]\ncomponents: [../extra]\n',
      'extra/kustomization.yml': 'kind: Component\nresources: [more.yaml]\n',
      'extra/more.yaml': configMap('more'),
      'unused/kustomization.yaml': 'kind: Component\n',
    });
    assert.deepEqual(graph.roots, ['prod', 'test']);
    assert.deepEqual(graph.rootsOf('base/cm.yaml'), ['prod', 'test']);
    assert.deepEqual(graph.rootsOf('extra/more.yaml'), ['test']);
    assert.deepEqual(graph.rootsOf('unused/kustomization.yaml'), []);
    const reach = graph.reaches.get('prod');
    assert.ok(reach);
    assert.deepEqual(outsideOf(reach, 'prod'), ['base', 'patches']);
    assert.deepEqual(problems(graph, 'prod'), []);
  });

  it('names what is missing, remote, above the repository, behind a link, or goes in a circle', async () => {
    const graph = await graphOf(
      {
        'a/kustomization.yaml': 'resources: [gone.yaml, ../../up.yaml, link.yaml]\n',
        'b/kustomization.yaml':
          'resources: ["https://me:secret@git.example.test/x?ref=1", "git@git.example.test:x.git"]\n',
        'c/kustomization.yaml': 'resources: [../d]\n',
        'd/kustomization.yaml': 'resources: [../c]\n',
      },
      ['a/link.yaml'],
    );
    assert.deepEqual(problems(graph, 'a'), [
      'missing: a/kustomization.yaml: resources names gone.yaml, which is not there',
      'escapes: a/kustomization.yaml: resources names ../../up.yaml, which leaves the repository',
      'missing: a/kustomization.yaml: resources names link.yaml, which is not there',
    ]);
    assert.deepEqual(problems(graph, 'b'), [
      'remote: b/kustomization.yaml: resources names https://git.example.test/x, which is not in this repository',
      'remote: b/kustomization.yaml: resources names git@git.example.test:x.git, which is not in this repository',
    ]);
    assert.deepEqual(problems(graph, 'c'), ['cycle: c/kustomization.yaml: it loads itself (c -> d -> c)']);
  });

  it('tells which kustomization of a folder takes new objects in', async () => {
    const tree = treeOf({
      'a/kustomization.yaml': 'resources: [sub]\n',
      'a/sub/kustomization.yaml': 'namespace: x\n',
      'b/one/kustomization.yaml': 'namespace: x\n',
      'b/two/kustomization.yaml': 'namespace: y\n',
      'c/extra/kustomization.yaml': 'kind: Component\n',
      'd/kustomization.yaml': 'resources: [../e, ../f/cm.yaml]\n',
      'e/kustomization.yaml': 'resources: [common]\n',
      'e/common/kustomization.yaml': 'namespace: z\n',
      'f/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n',
    });
    assert.deepEqual(await kustomizeLayout(tree, 'a'), {
      kind: 'one',
      kustomization: 'a/kustomization.yaml',
      bases: [],
    });
    assert.deepEqual(await kustomizeLayout(tree, 'd'), {
      kind: 'one',
      kustomization: 'd/kustomization.yaml',
      bases: ['e', 'f'],
    });
    assert.deepEqual(await kustomizeLayout(tree, 'b'), {
      kind: 'several',
      kustomizations: ['b/one/kustomization.yaml', 'b/two/kustomization.yaml'],
    });
    assert.deepEqual(await kustomizeLayout(tree, 'c'), { kind: 'none' });
  });

  it('takes a folder with two kustomization files for broken', async () => {
    const graph = await graphOf({
      'a/kustomization.yaml': 'namespace: a\n',
      'a/Kustomization': 'namespace: b\n',
    });
    assert.match(problems(graph, 'a').join(), /^broken: .*kustomize takes only one/);
  });
});

describe('a kustomization file', () => {
  const broken: readonly (readonly [string, RegExp])[] = [
    ['', /empty/],
    ['a: [\n', /line/],
    ['a: 1\n---\nb: 1\n', /more than one/],
    ['- a\n', /not a map/],
    ['apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n', /not a kustomization/],
    ['resources: a.yaml\n', /resources is not a list/],
    ['images: [{name: "a["}]\n', /no usable regular expression/],
    ['images: [{name: "(a+)+"}]\n', /no usable regular expression/],
    ['images: [{newTag: x}]\n', /no name/],
    [
      'secretGenerator: [{name: a, literals: [word]}]\n',
      /a literal of a in secretGenerator is not of the form/,
    ],
    ['replicas: [{name: a, count: -1}]\n', /no whole count/],
  ];
  it('that cannot be decoded says why', () => {
    for (const [text, message] of broken) {
      const decoded = decodeKustomization(new TextEncoder().encode(text));
      assert.ok(!decoded.ok, text);
      assert.match(decoded.message, message);
    }
  });

  it('tells every feature it uses, and what is not known is refused', () => {
    const decoded = decodeKustomization(
      new TextEncoder().encode(
        'namePrefix: a-\npatches: [{patch: "- op: remove"}, {path: p.yaml}]\nhelmCharts: [{name: x}]\nnewField: 1\n',
      ),
    );
    assert.ok(decoded.ok);
    const verdicts = decoded.kustomization.features.map((one) => `${one}: ${featureRule(one).verdict}`);
    assert.deepEqual(verdicts, [
      'JSON6902 patch: read-only',
      'helmCharts: refused',
      'inline patch: read-only',
      'namePrefix: read-only',
      'newField: refused',
      'patches: editable',
    ]);
  });
});

describe('references', () => {
  it('lead from folder to file and back', () => {
    assert.equal(resolveReference('a/b', '../c/./d.yaml'), 'a/c/d.yaml');
    assert.equal(resolveReference('a', '../../d.yaml'), undefined);
    assert.equal(resolveReference('a', '/etc/passwd'), undefined);
    assert.equal(referenceTo('a/b', 'a/c/d.yaml'), '../c/d.yaml');
    assert.equal(referenceTo('', 'a/d.yaml'), 'a/d.yaml');
  });

  it('of images split at the tag and the digest, not at a port', () => {
    for (const [text, name, tag, digest] of [
      ['web', 'web', '', ''],
      ['host.example.test:5000/web', 'host.example.test:5000/web', '', ''],
      ['host.example.test:5000/web:1@sha256:ab', 'host.example.test:5000/web', '1', 'sha256:ab'],
      ['web@sha256:ab', 'web', '', 'sha256:ab'],
    ] as const) {
      assert.deepEqual(parseImage(text), { name, tag, digest });
      assert.equal(printImage(parseImage(text)), text);
    }
    assert.ok(imagePattern('web')?.test('web:1.2'));
    assert.ok(!imagePattern('web')?.test('other/web:1.2'));
  });
});
