/**
 * The recorded discovery reports of the shared corpora, where they lie beside the project, against ours, field by field.
 * Every difference is named here with its reason; docs/design/kustomize.md says why ours is better.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { type FolderReport, type ScanReport, scan } from '../../../src/core/scan/index.ts';
import { filesOf, treeOf } from '../../cases/corpus.ts';
import { render } from '../kustomize/folders.ts';

const corpora = resolve(import.meta.dirname, '../../../../shared/corpora/upstream');

/** Folder and field -> what we say instead of what was recorded. */
const differences: Readonly<Record<string, Json>> = {
  // A file that is no Kubernetes object is skipped and refuses nothing.
  'plain-nonkrm app accepted': true,
  'plain-nonkrm app refused': [],
  // The values file of a release is no object either: named as skipped, whoever reads it.
  'argocd-external-helm-values app nonKrm': 1,
  'flux-helmrelease-values app nonKrm': 1,
  // Charts and the like are the author's to take out.
  'helm-inflation app refused': ['yes'],
  // Its features are read-only to us; it is refused for the component that is not there.
  'unsupported-kustomize app refused': ['yes'],
  // What does not build gives no objects.
  'unsupported-kustomize app rendered': 0,
  'unsupported-kustomize app editable': 0,
};

/** Refused there because of one file or feature; we leave that file or feature alone and accept the rest. */
const acceptedByUs = [
  '1-desired-state/argocd-plain apps/frontend',
  '2-rendered/kustomize-overlays apps/frontend/overlays/production',
  '2-rendered/kustomize-overlays apps/frontend/overlays/staging',
  '2-rendered/rendered-manifests src/frontend/overlays/production',
  '2-rendered/rendered-manifests src/frontend/overlays/staging',
  '3-expanded/argocd-applicationset-files .',
  '3-expanded/flux-helmrelease apps/frontend',
  '6-hostile/mixed-and-hostile mixed',
];

function skipWithout(context: Mocha.Context): void {
  if (existsSync(corpora)) return;
  console.log('    skipped: ../shared/corpora is not there');
  context.skip();
}

async function scanned(path: string): Promise<ScanReport> {
  return await scan(treeOf(await filesOf(join(corpora, path))), {
    within: '',
    render,
    isSensitive: (apiVersion, kind) => apiVersion === 'v1' && kind === 'Secret',
  });
}

/** Our report of a folder in the fields of the recorded ones. */
function mapped(folder: FolderReport): Record<string, Json> {
  const { byNamespace, undeclared } = folder.kinds;
  const layout = { plain: 'plain', kustomize: 'kustomize-single', 'kustomize-overlay': 'kustomize-overlay' };
  return {
    layout: folder.accepted || folder.layout === 'plain' ? layout[folder.layout] : 'refused-structural',
    accepted: folder.accepted,
    renderRoot: folder.layout !== 'plain',
    readScope: [...folder.reads],
    readBy: [...folder.readBy],
    namespace: folder.namespace ?? '',
    rendered: folder.objects.total,
    editable: folder.objects.inFolder,
    nonKrm: folder.skipped.length,
    overlapsWith: [...folder.overlaps],
    byNamespace: Object.fromEntries(Object.entries(byNamespace).map(([key, kinds]) => [key, [...kinds]])),
    undeclared: [...undeclared],
    refused: folder.accepted ? [] : folder.refused.map(({ actor }) => (actor === 'nobody' ? 'no' : 'yes')),
  };
}

function recorded(candidate: JsonObject): Record<string, Json> {
  const types = isObject(candidate.renderedTypes) ? candidate.renderedTypes : {};
  const { rendered, editable, nonKrm } = isObject(candidate.resources) ? candidate.resources : {};
  const reasons = Array.isArray(candidate.refusalReasons) ? candidate.refusalReasons.filter(isObject) : [];
  return {
    layout: candidate.layout ?? '',
    accepted: candidate.acceptedByOperator ?? false,
    renderRoot: candidate.renderRoot ?? false,
    readScope: candidate.readScope ?? [],
    readBy: candidate.readBy ?? [],
    namespace: candidate.inferredNamespace ?? '',
    rendered: rendered ?? 0,
    editable: editable ?? 0,
    nonKrm: nonKrm ?? 0,
    overlapsWith: candidate.overlapsWith ?? [],
    byNamespace: types.byNamespace ?? {},
    undeclared: types.namespaceUndeclared ?? [],
    refused: reasons.map(({ solvable }) => (solvable === true ? 'yes' : 'no')),
  };
}

describe('the recorded discovery reports', () => {
  it('are what a scan says, but for the named differences', async function () {
    skipWithout(this);
    this.timeout(120_000);
    const used = new Set<string>();
    let compared = 0;
    for (const group of ['supported', 'unsupported']) {
      const files = (await readdir(join(corpora, 'scan-repo', group))).filter((one) =>
        one.endsWith('.golden.json'),
      );
      for (const file of files) {
        const name = file.replace('.golden.json', '');
        const golden: Json = JSON.parse(await readFile(join(corpora, 'scan-repo', group, file), 'utf8'));
        assert.ok(isObject(golden) && Array.isArray(golden.candidates) && isObject(golden.summary));
        const report = await scanned(`scan-repo/${group}/${name}`);
        const candidates = golden.candidates.filter(isObject);
        assert.deepEqual(
          report.folders.map(({ path }) => path),
          candidates.map(({ path }) => path),
          name,
        );
        for (const [at, candidate] of candidates.entries()) {
          const folder = report.folders[at];
          assert.ok(folder);
          const want = recorded(candidate);
          for (const field of Object.keys(want)) {
            const key: string = `${name} ${folder.path} ${field}`;
            if (Object.hasOwn(differences, key)) used.add(key);
            assert.deepEqual(
              mapped(folder)[field],
              Object.hasOwn(differences, key) ? differences[key] : want[field],
              key,
            );
            compared += 1;
          }
        }
        assert.deepEqual(conflictsOf(report), golden.summary.overlapConflicts ?? [], name);
        assert.deepEqual(edgesOf(report), golden.summary.readEdges ?? [], name);
      }
    }
    assert.ok(compared > 250, `${compared} fields`);
    assert.deepEqual([...used].sort(), Object.keys(differences).sort(), 'a difference that is none');
  });
});

function conflictsOf({ folders }: ScanReport): Json {
  return folders.flatMap(({ path, overlaps }) =>
    overlaps
      .filter((other) => other.startsWith(`${path}/`))
      .map((descendant) => ({ ancestor: path, descendant })),
  );
}

function edgesOf({ folders }: ScanReport): Json {
  return folders.flatMap(({ path, reads }) => reads.map((to) => ({ from: path, to })));
}

describe('the 19 recorded layouts', () => {
  it('are scanned at least as permissively, and no object is lost', async function () {
    skipWithout(this);
    this.timeout(120_000);
    const text = await readFile(join(corpora, 'gitops-layouts/support-today.md'), 'utf8');
    const sections = text.split(/^## /m).slice(2);
    assert.equal(sections.length, 19);
    const more: string[] = [];
    for (const section of sections) {
      const [name = ''] = section.split('\n');
      const rows = [
        ...section.matchAll(
          /^\| `([^`]+)` \| `([^`]+)` \| (true|false) \| `([^`]+)` \| (\d+)\/(\d+)\/(\d+)/gm,
        ),
      ];
      const report = await scanned(`gitops-layouts/${name}`);
      assert.deepEqual(
        report.folders.map(({ path }) => path || '.'),
        rows.map(([, path]) => path),
        name,
      );
      for (const [
        at,
        [, path = '', layout = '', accepted, namespace = '', rendered, editable],
      ] of rows.entries()) {
        const folder = report.folders[at];
        assert.ok(folder);
        const what = `${name} ${path}`;
        if (folder.accepted !== (accepted === 'true')) {
          assert.ok(folder.accepted, `${what}: ${folder.refused[0]?.message}`);
          more.push(what);
        }
        if (!folder.accepted || accepted === 'false') continue;
        const found = mapped(folder);
        assert.deepEqual(
          [found.layout, found.namespace, found.rendered, found.editable],
          [layout, namespace === '-' ? '' : namespace, Number(rendered), Number(editable)],
          what,
        );
      }
    }
    assert.deepEqual(more, acceptedByUs);
  });
});
