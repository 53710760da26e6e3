import assert from 'node:assert/strict';
import { type FolderReport, scan } from '../../../src/core/scan/index.ts';
import { render, type Texts, treeOf } from '../kustomize/folders.ts';

const configMap = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  level: info\n${more}`;
const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: open-sesame}\n';

async function scanOf(texts: Texts, links: readonly string[] = [], within = '') {
  return await scan(treeOf(texts, links), {
    within,
    render,
    isSensitive: (_, kind) => kind === 'Secret',
  });
}

async function only(texts: Texts, links: readonly string[] = []): Promise<FolderReport> {
  const { folders } = await scanOf(texts, links);
  assert.equal(folders.length, 1, folders.map(({ path }) => path).join());
  const [folder] = folders;
  assert.ok(folder);
  return folder;
}

function refusals({ refused }: FolderReport): string[] {
  return refused.map(({ reason, actor, path }) => `${reason} ${actor} ${path}`);
}

describe('a scan', () => {
  it('refuses a folder that does not build, with the file and who can mend it', async () => {
    const rows: readonly [Texts, string, RegExp][] = [
      [
        { 'a/kustomization.yaml': 'resources: [../b]\n', 'b/kustomization.yaml': 'resources: [../a]\n' },
        'BrokenKustomization repository-author',
        /loads itself/,
      ],
      [
        { 'a/kustomization.yaml': 'resources: [gone.yaml]\n' },
        'BrokenKustomization repository-author',
        /gone\.yaml, which is not there/,
      ],
      [
        { 'a/kustomization.yaml': 'resources: ["https://u:secret@git.example.test/base?ref=1"]\n' },
        'UnsupportedKustomize repository-author',
        /git\.example\.test\/base, which is not in this repository/,
      ],
      [
        { 'a/kustomization.yaml': 'images: [{name: "web(", newTag: "1"}]\n' },
        'BrokenKustomization repository-author',
        /no usable regular expression/,
      ],
      [
        { 'a/kustomization.yaml': 'helmCharts: [{name: web}]\n' },
        'UnsupportedKustomize repository-author',
        /helmCharts/,
      ],
      [
        { 'a/kustomization.yaml': 'resources: [../../../etc]\n' },
        'BrokenKustomization repository-author',
        /leaves the repository/,
      ],
      [
        {
          'a/kustomization.yaml': 'resources: [one.yaml, two.yaml]\n',
          'a/one.yaml': configMap('same'),
          'a/two.yaml': configMap('same'),
        },
        'BrokenKustomization repository-author',
        /may not add resource|already registered/,
      ],
    ];
    for (const [texts, reason, message] of rows) {
      const folder = await only(texts);
      assert.equal(folder.accepted, false);
      assert.deepEqual(refusals(folder), [`${reason} a/kustomization.yaml`]);
      assert.match(folder.refused[0]?.message ?? '', message);
      assert.doesNotMatch(JSON.stringify(folder), /u:secret/);
    }
  });

  it('does not follow a symbolic link', async () => {
    const behind = await only({ 'a/kustomization.yaml': 'resources: [link.yaml]\n' }, ['a/link.yaml']);
    assert.match(behind.refused[0]?.message ?? '', /link\.yaml, which is not there/);
    const beside = await only({ 'a/cm.yaml': configMap('cm') }, ['a/link.yaml']);
    assert.equal(beside.accepted, true);
    assert.deepEqual(beside.skipped, [{ path: 'a/link.yaml', reason: 'symbolic link, not followed' }]);
  });

  it('refuses two documents of one object in a plain folder', async () => {
    const folder = await only({ 'a/one.yaml': configMap('same'), 'a/two.yaml': configMap('same') });
    assert.deepEqual(refusals(folder), ['Duplicate repository-author a/two.yaml']);
  });

  it('names what stays as it is in an accepted folder, and shows no value of a Secret', async () => {
    const folder = await only({
      'a/kustomization.yaml':
        'resources: [secret.yaml, merged.yaml]\nsecretGenerator: [{name: made, literals: [token=open-sesame]}]\ncommonLabels: {team: a}\n',
      'a/secret.yaml': secret,
      'a/merged.yaml': `${configMap('merged')}labels: &x {a: b}\nmore:\n  <<: *x\n`,
      'a/stray.yaml': configMap('stray'),
    });
    assert.equal(folder.accepted, true);
    assert.deepEqual(
      folder.readOnly.map(({ path, what, actor }) => `${path} ${what} ${actor}`),
      [
        'a/kustomization.yaml commonLabels nobody',
        'a/kustomization.yaml secretGenerator repository-author',
        'a/merged.yaml ConfigMap/merged repository-author',
        'a/secret.yaml Secret/key repository-author',
        'a/stray.yaml ConfigMap/stray repository-author',
      ],
    );
    assert.doesNotMatch(JSON.stringify(folder), /open-sesame/);
  });

  it('tells a base shared by two roots from targets, and who reads a file of a folder', async () => {
    const texts = {
      'base/kustomization.yaml': 'resources: [cm.yaml]\n',
      'base/cm.yaml': configMap('cm'),
      'one/kustomization.yaml': 'namespace: one\nresources: [../base, own.yaml]\n',
      'one/own.yaml': configMap('own'),
      'two/kustomization.yaml': 'namespace: two\nresources: [../base, ../one/own.yaml]\n',
    };
    const { folders, bases } = await scanOf(texts);
    assert.deepEqual(bases, [{ path: 'base', readBy: ['one', 'two'] }]);
    assert.deepEqual(
      folders.map(({ path, reads, readBy }) => [path, reads, readBy]),
      [
        ['one', ['base'], ['two']],
        ['two', ['base', 'one'], []],
      ],
    );
    assert.match(folders[0]?.readOnly[0]?.why ?? '', /^two read it, too: .*becomes a patch/);
    assert.deepEqual(
      (await scanOf(texts, [], 'two')).folders.map(({ path }) => path),
      ['two'],
    );
  });

  it('counts the documents of a chart for nothing, and a folder above other folders for all of them', async () => {
    const { folders } = await scanOf({
      'chart/Chart.yaml': 'name: web\n',
      'chart/templates/cm.yaml': configMap('static'),
      'apps/top.yaml': configMap('top'),
      'apps/web/cm.yaml': configMap('cm'),
    });
    assert.deepEqual(
      folders.map(({ path, objects, overlaps }) => [path, objects.total, overlaps]),
      [
        ['apps', 2, ['apps/web']],
        ['apps/web', 1, ['apps']],
      ],
    );
  });

  it('says that kustomize is missing where there is none', async () => {
    const { folders } = await scan(treeOf({ 'a/kustomization.yaml': 'resources: []\n' }), {
      within: '',
      render: { build: async () => ({ ok: false, reason: 'Unavailable', message: 'no kustomize' }) },
      isSensitive: () => false,
    });
    assert.deepEqual(refusals(folders[0] ?? assert.fail()), [
      'KustomizeMissing platform-operator a/kustomization.yaml',
    ]);
  });

  it('builds every root once', async () => {
    let builds = 0;
    const texts: Record<string, string> = { 'base/kustomization.yaml': 'namePrefix: a-\n' };
    for (let at = 0; at < 40; at += 1) texts[`apps/${at}/kustomization.yaml`] = 'resources: [../../base]\n';
    const told: number[] = [];
    const { folders } = await scan(treeOf(texts), {
      within: '',
      render: {
        async build() {
          builds += 1;
          return { ok: true, text: configMap('cm') };
        },
      },
      isSensitive: () => false,
      progress: (done) => told.push(done),
    });
    assert.equal(folders.length, 40);
    assert.equal(builds, 40);
    assert.deepEqual(
      told,
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
  });
});
