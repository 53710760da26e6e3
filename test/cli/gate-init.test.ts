import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { initGate } from '../../src/cli/gate-init.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

function init(files: Readonly<Record<string, string>>, name = 'gitops-reverser') {
  return initGate(new Map(Object.entries(files)), 'apps/shop', name);
}

describe('gate init', () => {
  it('adds the gate to a plain folder and says so', () => {
    const result = init({ 'web.yaml': 'kind: A\n' });
    assert.ok(result.kind === 'ok');
    assert.deepEqual([...result.writes.keys()], ['sync-gate.yaml']);
    assert.match(result.words.join('\n'), /^wrote apps\/shop\/sync-gate\.yaml: /m);
    assert.match(result.words.join('\n'), /^next: commit and push/m);
  });

  it('writes the gate that the sample shows', () => {
    const result = init({});
    const sample = readFileSync(join(import.meta.dirname, '../../manifests/samples/syncgate.yaml'), 'utf8');
    const text = result.kind === 'ok' ? result.writes.get('sync-gate.yaml') : '';
    const plain = (yaml = '') => yaml.replace(/^#.*\n/gm, '');
    assert.equal(plain(text), plain(sample));
  });

  it('lists it in a kustomization and keeps every other byte', () => {
    const before =
      '# the shop\r\nresources:   # all of it\r\n  - ./web.yaml  # first\r\n\r\nnamespace: shop # ours\r\n';
    const result = init({ 'kustomization.yaml': before });
    assert.ok(result.kind === 'ok');
    assert.equal(
      result.writes.get('kustomization.yaml'),
      before.replace('  - ./web.yaml  # first\r\n', '  - ./web.yaml  # first\r\n  - ./sync-gate.yaml\r\n'),
    );
  });

  it('adds resources to a kustomization that has none', () => {
    const result = init({ Kustomization: 'namePrefix: a-\n' });
    assert.equal(
      result.kind === 'ok' && result.writes.get('Kustomization'),
      'namePrefix: a-\nresources:\n  - sync-gate.yaml\n',
    );
  });

  it('does nothing twice', () => {
    const first = init({ 'kustomization.yaml': 'resources:\n- web.yaml\n' });
    assert.ok(first.kind === 'ok');
    const second = init(Object.fromEntries(first.writes));
    assert.ok(second.kind === 'ok');
    assert.equal(second.writes.size, 0);
    assert.match(
      second.words.join('\n'),
      /holds a SyncGate already[\s\S]*lists it already[\s\S]*nothing to do/,
    );
  });

  it('lists a gate that is there in another file', () => {
    const gate = 'apiVersion: v1\nkind: A\n---\napiVersion: configbutler.ai/v1alpha3\nkind: SyncGate\n';
    const result = init({ 'all.yaml': gate, 'kustomization.yml': 'resources: []\n' });
    assert.ok(result.kind === 'ok');
    assert.deepEqual([...result.writes.keys()], ['kustomization.yml']);
    assert.match(result.writes.get('kustomization.yml') ?? '', /all\.yaml/);
  });

  const refused: [string, Readonly<Record<string, string>>, RegExp][] = [
    ['a chart', { 'Chart.yaml': 'name: a\n' }, /Helm chart.*templates/],
    ['two kustomizations', { 'kustomization.yaml': '{}', Kustomization: '{}' }, /only one/],
    ['its file name taken', { 'sync-gate.yaml': 'kind: Other\n' }, /holds no SyncGate; rename it/],
    [
      'a broken kustomization',
      { 'kustomization.yaml': 'resources: [\n' },
      /not one readable.*add "- sync-gate/,
    ],
    ['a list as kustomization', { 'kustomization.yaml': '- a\n' }, /not one readable/],
  ];
  for (const [name, files, message] of refused) {
    it(`refuses ${name}, and says what to do`, () => {
      const result = init(files);
      assert.match(result.kind === 'refused' ? result.message : 'it was not refused', message);
    });
  }

  describe('as a command', function () {
    this.timeout(60_000);
    let folder: Folder;
    before(() => {
      folder = temporaryFolder('gate-init');
    });
    after(() => folder?.remove());

    const run = (...args: string[]) =>
      spawnSync('node', [main, 'gate', 'init', ...args], { cwd: folder.path, encoding: 'utf8' });

    it('writes the files, and exits 0 both times', () => {
      mkdirSync(join(folder.path, 'shop'));
      writeFileSync(join(folder.path, 'shop/kustomization.yaml'), 'resources: [] # none\n');
      const first = run('shop', '--name', 'shop-gate');
      assert.equal(first.status, 0, first.stderr);
      assert.match(readFileSync(join(folder.path, 'shop/sync-gate.yaml'), 'utf8'), /^ {2}name: shop-gate$/m);
      assert.match(first.stdout, /wrote shop\/sync-gate\.yaml[\s\S]*added it to the resources of shop/);
      const second = run('shop');
      assert.match(second.stdout, /nothing to do/);
      assert.equal(second.status, 0);
      const left = execFileSync('ls', ['-A', join(folder.path, 'shop')], { encoding: 'utf8' });
      assert.equal(left, 'kustomization.yaml\nsync-gate.yaml\n');
    });

    it('exits 2 with one line for a folder that is not there, a wrong name and a linked kustomization', () => {
      mkdirSync(join(folder.path, 'linked'));
      symlinkSync('/etc/hostname', join(folder.path, 'linked/kustomization.yaml'));
      const rows: [string[], RegExp][] = [
        [['nowhere'], /^gate init: nowhere: no such file or folder$/m],
        [
          ['shop', '--name', 'Not_A_Name'],
          /^gate init: --name "Not_A_Name" is not a name Kubernetes takes$/m,
        ],
        [['linked'], /^gate init: linked\/kustomization\.yaml is a symbolic link/m],
      ];
      for (const [args, message] of rows) {
        const { status, stderr } = run(...args);
        assert.equal(status, 2);
        assert.match(stderr, message);
      }
    });
  });
});
