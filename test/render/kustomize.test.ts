/** The rim around the kustomize program: the jail, its limits, and what comes of a program that is not there or misbehaves. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RenderOutput, RenderRequest } from '../../src/core/kustomize/index.ts';
import { createKustomize } from '../../src/render/index.ts';
import { part } from '../cluster/parts.ts';

let folder: string;
let scratch: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'render-test-'));
  scratch = await mkdtemp(join(folder, 'scratch-'));
});
after(async () => {
  await rm(folder, { recursive: true });
});

function request(files: Readonly<Record<string, string>>, root = ''): RenderRequest {
  const encoder = new TextEncoder();
  return {
    root,
    files: Object.entries(files).map(([path, text]) => ({ path, content: encoder.encode(text) })),
  };
}

async function program(script: string): Promise<string> {
  const path = join(folder, `program-${(await readdir(folder)).length}`);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

function failure(output: RenderOutput): { reason: string; message: string } {
  assert.ok(!output.ok);
  return output;
}

const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n';

describe('the kustomize rim', () => {
  it('builds from exactly the files it is given, also across folders, and leaves nothing behind', async () => {
    const render = createKustomize({ program: part('kustomize'), scratch });
    const output = await render.build(
      request(
        { 'a/kustomization.yaml': 'resources: [../b/cm.yaml]\nnamespace: x\n', 'b/cm.yaml': configMap },
        'a',
      ),
    );
    assert.deepEqual(output, {
      ok: true,
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n  namespace: x\n',
    });
    assert.deepEqual(await readdir(scratch), []);
  });

  it('says why a build fails, in words of the repository', async () => {
    const render = createKustomize({ program: part('kustomize'), scratch });
    const output = await render.build(request({ 'a/kustomization.yaml': 'resources: [gone.yaml]\n' }, 'a'));
    const { reason, message } = failure(output);
    assert.equal(reason, 'BuildFailed');
    assert.match(message, /gone\.yaml/);
    assert.ok(!message.includes(scratch), message);
    assert.deepEqual(await readdir(scratch), []);
  });

  it('does not repeat what stands in files when a build fails', async () => {
    const render = createKustomize({ program: part('kustomize'), scratch });
    const patch =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: none}\nstringData: {password: hidden-word}\n';
    for (const kustomization of [
      `resources: [cm.yaml]\npatches:\n  - patch: |-\n${patch.replace(/^/gm, '      ')}\n`,
      'resources: [cm.yaml]\npatches: [{path: p.yaml}]\n',
      'resources: [cm.yaml]\npatches: [{target: {name: one}, patch: \'[{"op": "add", "path": "/a/b/c", "value": "hidden-word"}]\'}]\n',
    ]) {
      const files = { 'kustomization.yaml': kustomization, 'cm.yaml': configMap, 'p.yaml': patch };
      const { message } = failure(await render.build(request(files)));
      assert.ok(!message.includes('hidden-word'), message);
    }
  });

  it('writes nothing outside of the copy', async () => {
    const render = createKustomize({ program: part('kustomize'), scratch });
    await assert.rejects(render.build(request({ '../up.yaml': configMap })), /leaves the scratch copy/);
    assert.deepEqual(await readdir(scratch), []);
  });

  it('starts no other program and fetches nothing', async () => {
    const render = createKustomize({ program: part('kustomize'), scratch });
    const git = await render.build(
      request({ 'kustomization.yaml': 'resources: ["https://127.0.0.1:1/x.git"]\n' }),
    );
    assert.equal(failure(git).reason, 'BuildFailed');
    const helm = await render.build(
      request({ 'kustomization.yaml': 'helmCharts: [{name: x, repo: "https://127.0.0.1:1"}]\n' }),
    );
    assert.match(failure(helm).message, /enable-helm/);
    const exec = await render.build(
      request({
        'kustomization.yaml': 'transformers: [t.yaml]\nresources: [cm.yaml]\n',
        'cm.yaml': configMap,
        't.yaml': `apiVersion: x/v1\nkind: T\nmetadata:\n  name: t\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: /bin/true}\n`,
      }),
    );
    assert.equal(failure(exec).reason, 'BuildFailed');
  });

  it('hands no environment of ours to the program', async () => {
    process.env.KUSTOMIZE_RIM_TEST = 'secret';
    try {
      const render = createKustomize({ program: await program('/usr/bin/env'), scratch });
      const output = await render.build(request({ 'kustomization.yaml': '' }));
      assert.ok(output.ok);
      const names = output.text.split('\n').map((line) => line.split('=')[0]);
      assert.deepEqual(
        names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', ''].includes(name ?? '')).sort(),
        ['GOGC', 'GOMAXPROCS', 'HOME', 'LC_ALL', 'PATH', 'TMPDIR', 'XDG_CONFIG_HOME'],
      );
    } finally {
      delete process.env.KUSTOMIZE_RIM_TEST;
    }
  });

  it('ends a build that takes too long or prints too much, and refuses too many files', async () => {
    const slow = createKustomize({ program: await program('exec /bin/sleep 60'), scratch, deadlineMs: 200 });
    assert.equal(failure(await slow.build(request({ 'kustomization.yaml': '' }))).reason, 'TimedOut');
    const loud = createKustomize({
      program: await program('while :; do echo 0123456789; done'),
      scratch,
      maxOutputBytes: 10_000,
    });
    assert.equal(failure(await loud.build(request({ 'kustomization.yaml': '' }))).reason, 'TooLarge');
    const few = createKustomize({ program: part('kustomize'), scratch, maxFiles: 1 });
    const two = request({ 'kustomization.yaml': '', 'a.yaml': configMap });
    assert.equal(failure(await few.build(two)).reason, 'TooLarge');
    assert.deepEqual(await readdir(scratch), []);
  });

  it('without a program is a value that names it, and is looked for again', async () => {
    const path = join(folder, 'later');
    const render = createKustomize({ program: path, scratch });
    const missing = failure(await render.build(request({ 'kustomization.yaml': '' })));
    assert.equal(missing.reason, 'Unavailable');
    assert.match(missing.message, /later cannot be run; install kustomize or name it with --kustomize/);
    await writeFile(path, '#!/bin/sh\necho done\n');
    await chmod(path, 0o755);
    assert.deepEqual(await render.build(request({ 'kustomization.yaml': '' })), { ok: true, text: 'done\n' });
  });

  it('that is no program is a value, too', async () => {
    const path = join(folder, 'garbage');
    await writeFile(path, Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0]));
    await chmod(path, 0o755);
    const render = createKustomize({ program: path, scratch });
    assert.equal(failure(await render.build(request({ 'kustomization.yaml': '' }))).reason, 'Unavailable');
    assert.deepEqual(await readdir(scratch), []);
  });

  it('runs only so many builds at the same time', async () => {
    const log = join(folder, 'log');
    await writeFile(log, '');
    const script = `echo + >> ${log}; /bin/sleep 0.1; echo - >> ${log}`;
    const render = createKustomize({ program: await program(script), scratch, concurrency: 1 });
    await Promise.all([1, 2, 3].map(() => render.build(request({ 'kustomization.yaml': '' }))));
    assert.equal(await readFile(log, 'utf8'), '+\n-\n+\n-\n+\n-\n');
  });
});
