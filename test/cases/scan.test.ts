import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { part } from '../cluster/parts.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const deployment = (name: string) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${name}\nspec:\n  replicas: 1\n`;

describe('the scan command', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'scan-command-'));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  }

  async function scan(...argv: readonly string[]) {
    return await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const options = { cwd: tmpdir(), env: { PATH: process.env.PATH, INIT_CWD: root } };
      execFile(
        process.execPath,
        [main, 'scan', '--kustomize', part('kustomize'), ...argv],
        options,
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  }

  const overlay = {
    'base/kustomization.yaml': 'resources: [web.yaml]\n',
    'base/web.yaml': deployment('web'),
    'prod/kustomization.yaml': 'namespace: shop\nresources: [../base]\n',
  };

  it('prints a table and ends with 0 when everything is accepted', async () => {
    await write(overlay);
    const { code, stdout, stderr } = await scan('.');
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      [
        'FOLDER  LAYOUT             VERDICT   NAMESPACE  OBJECTS  IN FOLDER  READ-ONLY',
        'prod    kustomize-overlay  accepted  shop       1        0          0',
        '',
        'prod:',
        '  reads base',
        '',
        'Built from by other folders, so no targets of their own:',
        '  base: prod',
        '',
      ].join('\n'),
    );
  });

  it('ends with 3 when a folder is refused, and says why and who can mend it', async () => {
    await write({ ...overlay, 'dev/kustomization.yaml': 'resources: [gone.yaml]\n' });
    const { code, stdout } = await scan('.');
    assert.equal(code, 3);
    assert.match(
      stdout,
      /^ {2}refused BrokenKustomization \(repository-author\): dev\/kustomization\.yaml: /m,
    );
  });

  it('prints JSON of one folder of a repository', async () => {
    await write({
      ...overlay,
      '.git/HEAD': 'ref: refs/heads/main\n',
      'dev/kustomization.yaml': 'resources: [x]\n',
    });
    const { code, stdout } = await scan('prod', '--output', 'json');
    assert.equal(code, 0);
    const report = JSON.parse(stdout);
    assert.deepEqual(report.summary, { accepted: 1, refused: 0 });
    assert.deepEqual(report.folders[0].kinds, {
      byNamespace: { shop: ['apps/v1/Deployment'] },
      undeclared: [],
    });
  });

  it('takes further types as sensitive', async () => {
    await write({ 'a/d.yaml': deployment('web') });
    const { stdout } = await scan(
      '.',
      '--additional-sensitive-resources',
      'deployments.apps',
      '--output',
      'json',
    );
    assert.match(JSON.parse(stdout).folders[0].readOnly[0].why, /sensitive and stands in plain text/);
  });

  it('ends with 2 for bad input', async () => {
    await write({ 'notes.txt': 'hello\n' });
    const rows: readonly [readonly string[], RegExp][] = [
      [['gone'], /gone: no such file or folder/],
      [['notes.txt'], /notes\.txt: is not a folder/],
      [['https://git.example.test/shop.git'], /clone the repository first/],
      [['.', '--output', 'xml'], /xml/],
      [['.', '--kustomize', '/nowhere/kustomize'], /there is no such program/],
      [[], /missing required argument/],
    ];
    for (const [argv, message] of rows) {
      const { code, stdout, stderr } = await scan(...argv);
      assert.equal(code, 2, argv.join(' '));
      assert.match(stderr, message);
      assert.equal(stdout, '');
    }
  });

  it('says so when there is nothing to adopt', async () => {
    await write({ 'notes.txt': 'hello\n' });
    const { code, stderr } = await scan('.');
    assert.equal(code, 0);
    assert.match(stderr, /no folder with manifests/);
  });
});
