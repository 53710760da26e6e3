import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readAppliers } from '../../src/cli/plan-applier.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { filesOf, treeOf } from './corpus.ts';

const run = promisify(execFile);

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in a folder; `callFrom` is what npm would leave in INIT_CWD. */
async function command(callFrom: string, argv: readonly string[], input = ''): Promise<Result> {
  const script = join(import.meta.dirname, 'run-plan.ts');
  const child = spawn(process.execPath, [script, ...argv], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, INIT_CWD: callFrom },
  });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const code = child.exitCode ?? (await new Promise<number>((done) => child.once('close', done)));
  return { code, stdout, stderr };
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('latin1');
}

const configMap = (name: string, level: string, namespace = 'shop') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\ndata:\n  level: ${level}\n`;

describe('who applies a folder', () => {
  const objects = {
    'flux.yaml':
      'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\nspec: {path: ./apps/shop/}\n',
    'argo.yml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {sources: [{chart: c}, {path: /apps/web}]}\n',
    'broken.yaml': 'kustomize.toolkit.fluxcd.io [\n',
    'root.yaml':
      'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\nspec: {postBuild: {substitute: {A: b}}}\n',
  };
  const readWith = async (folder: string, ...names: (keyof typeof objects)[]) => {
    const files = new Map(names.map((name) => [`clusters/eu/${name}`, Buffer.from(objects[name])]));
    return await readAppliers({ tree: treeOf(files), folder }, undefined);
  };
  const live = (metadata: JsonObject = {}): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', ...metadata },
  });

  it('is told by a Flux Kustomization or an Argo CD Application of the repository', async () => {
    assert.equal((await readWith('apps/shop', 'broken.yaml', 'flux.yaml')).isApplied(live()), true);
    assert.equal((await readWith('apps/web', 'argo.yml')).isApplied(live()), true);
    assert.equal((await readWith('', 'root.yaml')).isApplied(live()), true);
    assert.equal((await readWith('apps', 'flux.yaml', 'argo.yml')).isApplied(live()), false);
    assert.equal((await readWith('apps/shop', 'broken.yaml')).isApplied(live()), false);
  });

  it('is told by the marks and managers of a live object', async () => {
    const { isApplied } = await readWith('apps/shop');
    const flux = { 'kustomize.toolkit.fluxcd.io/name': 'k', 'kustomize.toolkit.fluxcd.io/namespace': 'n' };
    assert.equal(isApplied(live({ labels: flux })), true);
    assert.equal(isApplied(live({ managedFields: [{ manager: 'argocd-controller' }] })), true);
    assert.equal(isApplied(live({ managedFields: [{ manager: 'kubectl-edit' }] })), false);
    assert.equal(isApplied(live({})), false);
  });

  it('tells whether variables are replaced after Git', async () => {
    assert.equal((await readWith('apps/shop', 'flux.yaml')).isSubstituted, false);
    assert.equal((await readWith('', 'root.yaml')).isSubstituted, true);
  });
});

describe('the plan command', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'plan-command-'));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  async function write(path: string, text: string | Uint8Array): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }

  async function gitApply(diff: string): Promise<void> {
    await run('git', ['init', '-q', '.'], { cwd: root });
    const child = run('git', ['apply', '--whitespace=nowarn', '-'], { cwd: root });
    child.child.stdin?.end(Buffer.from(diff, 'latin1'));
    await child;
  }

  it('seals further kinds that are listed, and refuses them where nothing seals', async () => {
    await write('live.yaml', configMap('one', 'x'));
    await write('app/.keep', '');
    const argv = ['app', '--repo-root', '.', '--live', 'live.yaml', '--output', 'json'];
    assert.equal((await command(root, argv)).code, 0);
    const { code, stdout } = await command(root, [...argv, '--additional-sensitive-resources', 'configmaps']);
    assert.equal(code, 3);
    assert.equal(JSON.parse(stdout).edits.length, 0);
    assert.equal(JSON.parse(stdout).refused[0].object, 'ConfigMap/shop/one');
  });

  it('prints a diff that git applies: new, removed, CRLF, no final newline, BOM, blanks and quotes in names', async () => {
    const crlf = configMap('crlf', 'a').replaceAll('\n', '\r\n').slice(0, -2);
    await write('repo/app/sp ace/größe.yaml', `\uFEFF${configMap('bom', 'a')}`);
    await write('repo/app/cr"lf.yaml', crlf);
    await write('repo/app/gone.yaml', configMap('gone', 'a').slice(0, -1));
    await write('repo/app/many.yaml', `${configMap('m1', 'a')}---\n${configMap('m2', 'a')}`);
    await write('live.yaml', ['bom', 'crlf', 'new', 'm2'].map((name) => configMap(name, 'é')).join('---\n'));
    await write(
      'before.yaml',
      ['bom', 'crlf', 'gone', 'm1', 'm2'].map((name) => configMap(name, 'a')).join('---\n'),
    );
    const argv = ['repo/app', '--repo-root', 'repo', '--live', 'live.yaml', '--previous', 'before.yaml'];
    const { code, stdout, stderr } = await command(root, argv);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const before = await filesOf(join(root, 'repo'));

    await command(root, [...argv, '--write']);
    const written = await filesOf(join(root, 'repo'));
    assert.deepEqual([...written.keys()].sort(), [
      'app/cr"lf.yaml',
      'app/many.yaml',
      'app/shop/configmaps/new.yaml',
      'app/sp ace/größe.yaml',
    ]);
    assert.equal(
      Buffer.from(written.get('app/cr"lf.yaml') ?? []).toString(),
      crlf.replace('level: a', 'level: é'),
    );

    await rm(join(root, 'repo'), { recursive: true });
    for (const [path, bytes] of before) await write(join('repo', path), bytes);
    root = join(root, 'repo');
    await gitApply(stdout);
    const applied = await filesOf(root);
    root = dirname(root);
    const visible = (files: typeof applied) =>
      [...files]
        .filter(([path]) => !path.startsWith('.git/'))
        .map(([path, bytes]) => [path, Buffer.from(bytes).toString('hex')]);
    assert.deepEqual(visible(applied), visible(written));
  });

  it('answers in JSON, refuses per object with exit 3, and writes the rest', async () => {
    await write('app/one.yaml', configMap('one', 'a'));
    await write('app/broken.yaml', `${configMap('twin', 'a')}  oops: [\n`);
    await write('app/link.yaml', '');
    await rm(join(root, 'app/link.yaml'));
    await symlink('one.yaml', join(root, 'app/link.yaml'));
    await write(
      'live.yaml',
      `${configMap('one', 'b')}---\n${configMap('twin', 'b')}---\n${configMap('kube-root-ca.crt', 'x')}`,
    );
    const { code, stdout, stderr } = await command(root, [
      'app',
      '--live',
      'live.yaml',
      '--output',
      'json',
      '--write',
    ]);
    assert.equal(code, 3);
    const report = JSON.parse(stdout);
    assert.deepEqual(report.edits, [
      {
        path: 'one.yaml',
        action: 'edit',
        objects: ['ConfigMap/shop/one'],
        fields: [{ object: 'ConfigMap/shop/one', field: 'data.level' }],
      },
    ]);
    assert.equal(report.refused.length, 1);
    const [{ object, reason, path, actor, message }] = report.refused;
    assert.deepEqual(
      [object, reason, path, actor],
      ['ConfigMap/shop/twin', 'InUnreadableFile', 'broken.yaml', 'repository-author'],
    );
    assert.match(message, /broken\.yaml/);
    assert.deepEqual(
      report.skipped.map((one: { path?: string; object?: string }) => one.path ?? one.object),
      ['broken.yaml', 'link.yaml', 'ConfigMap/shop/kube-root-ca.crt'],
    );
    const refusals = stderr.split('\n').filter((line) => line.startsWith('refused '));
    assert.equal(refusals.length, 1);
    assert.match(
      refusals[0] ?? '',
      /InUnreadableFile ConfigMap\/shop\/twin broken\.yaml \(repository-author\)/,
    );
    assert.match(await readFile(join(root, 'app/one.yaml'), 'utf8'), /level: b/);
  });

  it('finds the root by .git, keeps permissions, leaves no temporary file, and reads standard input', async () => {
    await write('repo/.git/HEAD', 'ref: refs/heads/main\n');
    await write('repo/apps/shop/one.yaml', configMap('one', 'a'));
    await write('repo/apps/nested/.git', 'gitdir: ../../elsewhere\n');
    await chmod(join(root, 'repo/apps/shop/one.yaml'), 0o750);
    const list = `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"shop"},"data":{"level":"b"}}]}`;
    const { code, stdout } = await command(join(root, 'repo'), ['apps/shop', '--live', '-', '--write'], list);
    assert.equal(code, 0);
    assert.match(stdout, /^diff --git a\/apps\/shop\/one\.yaml b\/apps\/shop\/one\.yaml\n--- a\//);
    assert.equal((await stat(join(root, 'repo/apps/shop/one.yaml'))).mode & 0o777, 0o750);
    assert.deepEqual(await readdir(join(root, 'repo/apps/shop')), ['one.yaml']);
  });

  it('takes a single delete, a typed list and the settings of a GitTarget', async () => {
    await write('app/one.yaml', configMap('one', 'a'));
    await write(
      'target.yaml',
      'apiVersion: configbutler.ai/v1alpha3\nkind: GitTarget\nmetadata: {name: t}\nspec:\n  path: app\n  placement: {default: "all/{namespace}/{name}.yaml"}\n  serializeNamespace: false\n',
    );
    const list =
      'apiVersion: v1\nkind: ConfigMapList\nitems:\n  - metadata: {name: two, namespace: shop}\n    data: {level: b}\n';
    await write('live.yaml', list);
    const argv = [
      'app',
      '--live',
      'live.yaml',
      '--deleted',
      'ConfigMap/shop/one',
      '--target',
      'target.yaml',
      '--write',
    ];
    assert.equal((await command(root, argv)).code, 0);
    const files = await filesOf(join(root, 'app'));
    assert.deepEqual([...files.keys()], ['all/shop/two.yaml']);
    assert.ok(
      !Buffer.from(files.get('all/shop/two.yaml') ?? [])
        .toString()
        .includes('namespace'),
    );
  });

  it('uses CRDs for the plural of a kind and for its defaults', async () => {
    await write('app/.gitkeep', '');
    await write(
      'crds/widget.yaml',
      `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wares.shop.example.test}
spec:
  group: shop.example.test
  scope: Namespaced
  names: {kind: Ware, plural: wares}
  versions:
    - name: v1
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {color: {type: string, default: red}}}}}}
`,
    );
    await write(
      'live.yaml',
      'apiVersion: shop.example.test/v1\nkind: Ware\nmetadata: {name: cup, namespace: shop}\nspec: {color: red, size: 3}\n',
    );
    const { code, stdout } = await command(root, ['app', '--live', 'live.yaml', '--crds', 'crds']);
    assert.equal(code, 0);
    assert.match(stdout, /\+\+\+ b\/shop\/shop\.example\.test\/wares\/cup\.yaml/);
    assert.match(stdout, /\+ {2}size: 3/);
    assert.doesNotMatch(stdout, /color/);
  });

  it('takes what Git alone has out of a folder that nobody applies', async () => {
    await write('app/one.yaml', `${configMap('one', 'a')}  only-in-git: x\n`);
    await write('live.yaml', configMap('one', 'a'));
    const { code, stdout } = await command(root, ['app', '--live', 'live.yaml']);
    assert.equal(code, 0);
    assert.match(stdout, /^- {2}only-in-git: x$/m);
    assert.match(await readFile(join(root, 'app/one.yaml'), 'utf8'), /only-in-git/);
  });

  const bad: [string, string[], RegExp][] = [
    ['an unknown option', ['app', '--live', 'live.yaml', '--nope'], /unknown option '--nope'/],
    ['no folder', ['--live', 'live.yaml'], /missing required argument 'folder'/],
    ['nothing to plan', ['app'], /give --live/],
    ['a folder that is not there', ['missing', '--live', 'live.yaml'], /missing: no such file or folder/],
    ['a folder that is a file', ['live.yaml', '--live', 'live.yaml'], /live\.yaml: is not a folder/],
    [
      'a folder outside the root',
      ['app', '--repo-root', 'other', '--live', 'live.yaml'],
      /not inside the repository root/,
    ],
    ['a missing live file', ['app', '--live', 'none.yaml'], /none\.yaml: no such file or folder/],
    ['broken YAML', ['app', '--live', 'broken.yaml'], /broken\.yaml: line \d+: /],
    ['broken JSON', ['app', '--live', 'broken.json'], /broken\.json: /],
    ['a scalar', ['app', '--live', 'scalar.yaml'], /scalar\.yaml \(document 2\): not a Kubernetes object/],
    [
      'an object without a name',
      ['app', '--live', 'nameless.yaml'],
      /nameless\.yaml \(document 1\).*metadata\.name/,
    ],
    ['bytes that are no text', ['app', '--live', 'binary.yaml'], /binary\.yaml: not UTF-8/],
    ['one object twice', ['app', '--live', 'live.yaml', 'live.yaml'], /ConfigMap\/shop\/one is given twice/],
    ['a wrong delete', ['app', '--deleted', 'ConfigMap'], /--deleted ConfigMap: not of the form/],
    ['a wrong output', ['app', '--live', 'live.yaml', '--output', 'xml'], /'xml' is invalid/],
    [
      'a target of another kind',
      ['app', '--live', 'live.yaml', '--target', 'live.yaml'],
      /live\.yaml: apiVersion: /,
    ],
    [
      'a target with a bad template',
      ['app', '--live', 'live.yaml', '--target', 'target.yaml'],
      /unknown variable \{nmae\}/,
    ],
  ];
  it('ends with 2 and one clear line for bad input', async () => {
    await write('app/.gitkeep', '');
    await write('other/.gitkeep', '');
    await write('live.yaml', configMap('one', 'a'));
    await write('broken.yaml', 'a: [\n');
    await write('broken.json', '{"a":');
    await write('scalar.yaml', `${configMap('one', 'a')}---\njust text\n`);
    await write('nameless.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n');
    await write('binary.yaml', Uint8Array.from([0x61, 0xff, 0xfe]));
    await write(
      'target.yaml',
      'apiVersion: configbutler.ai/v1alpha3\nkind: GitTarget\nspec: {placement: {default: "{nmae}.yaml"}}\n',
    );
    for (const [what, argv, message] of bad) {
      const { code, stdout, stderr } = await command(root, argv);
      assert.equal(code, 2, what);
      assert.equal(stdout, '', what);
      assert.equal(stderr.trimEnd().split('\n').length, 1, `${what}: ${stderr}`);
      assert.match(stderr, message, what);
    }
  });
});
