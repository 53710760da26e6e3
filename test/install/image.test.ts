/**
 * `sidecar/Dockerfile`, as far as it can be judged without an engine that builds it: its files exist and reach the build, its
 * scripts are shell, its programs are the tested ones, and what the manifests expect of the image is in it.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { run } from '../cluster/run.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Instruction {
  readonly name: string;
  readonly text: string;
}

interface Stage {
  readonly name: string;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

describe('the Dockerfile', () => {
  const stages = stagesOf(read('sidecar/Dockerfile'));
  const last = stages.at(-1);
  const all = (name: string, among = stages) =>
    among.flatMap(({ instructions }) => instructions.filter((one) => one.name === name));
  const copies = all('COPY').map(({ text }) => {
    const words = text.split(/\s+/);
    const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
    const paths = words.filter((word) => !word.startsWith('--'));
    return { from, sources: paths.slice(0, -1), to: paths.at(-1) ?? '' };
  });

  it('has the stages it copies from, before they are copied from', () => {
    assert.deepEqual(
      stages.map(({ name }) => name),
      ['bundle', 'tools', ''],
    );
    for (const { from } of copies)
      if (from !== undefined)
        assert.ok(
          stages.some(({ name }) => name === from),
          from,
        );
  });

  it('copies files that exist and that its .dockerignore lets through', () => {
    const patterns = read('sidecar/Dockerfile.dockerignore').trim().split('\n');
    const sources = copies.filter(({ from }) => from === undefined).flatMap((one) => one.sources);
    assert.ok(sources.length > 8, sources.join());
    for (const source of sources) {
      const file = statSync(join(root, source)).isDirectory() ? `${source}/any` : source;
      assert.ok(reaches(file, patterns), `${file} does not reach the build`);
    }
    for (const secret of ['node_modules/x', '.git/config', 'dist/x', '.env'])
      assert.ok(!reaches(secret, patterns), secret);
  });

  it('has scripts that the shell reads', async () => {
    const scripts = all('RUN').map(({ text }) => text);
    assert.ok(scripts.length >= 4);
    for (const script of scripts) {
      const { code, stderr } = await run('sh', ['-n', '-c', script]);
      assert.equal(code, 0, `${script}\n${stderr}`);
    }
    assert.equal((await run('sh', ['-n', join(root, 'sidecar/gate.sh')])).code, 0);
  });

  it('builds on the Node and the Go that the project uses, at the versions of the tests', () => {
    const { engines } = JSON.parse(read('package.json'));
    const node = /\d+/.exec(engines.node)?.[0];
    const images = stages.map(({ image }) => image);
    assert.deepEqual(
      images.filter((image) => image.startsWith('node:')),
      [`node:${node}-bookworm-slim`, `node:${node}-bookworm-slim`],
    );
    const module = read('test/cluster/tools/go.mod');
    const go = /^go (\d+\.\d+)/m.exec(module)?.[1];
    assert.ok(images.includes(`golang:${go}-bookworm`), images.join());
    const [tools] = all(
      'RUN',
      stages.filter(({ name }) => name === 'tools'),
    );
    for (const tool of ['sigs.k8s.io/kustomize/kustomize/v5', 'github.com/getsops/sops/v3/cmd/sops']) {
      assert.match(module, new RegExp(`^\\t${tool}$`, 'm'), 'a tool of the tests');
      assert.ok(tools?.text.includes(` ${tool}`), tool);
    }
  });

  it('ends as user 999, who has a name, and starts the program', () => {
    assert.ok(last !== undefined);
    const text = (name: string) => all(name, [last]).at(-1)?.text ?? '';
    assert.equal(text('USER'), '999:999');
    assert.match(text('ENV'), /\bHOME=\/tmp\b/, 'the root is read-only');
    assert.match(
      all('RUN', [last])
        .map((one) => one.text)
        .join('\n'),
      /useradd --uid 999 --gid 999/,
    );
    assert.deepEqual(JSON.parse(text('ENTRYPOINT')), ['gitops-reverser']);
    assert.deepEqual(all('ADD'), []);
  });

  it('holds what sidecar, plugin and wrapper call', () => {
    assert.ok(last !== undefined);
    const scripts = all('RUN', [last])
      .map(({ text }) => text)
      .join('\n');
    for (const name of ['git', 'openssh-client', 'curl', 'ca-certificates']) {
      assert.match(scripts, new RegExp(`install [^&]*\\b${name}\\b`), name);
    }
    const placed = copies.map(({ to }) => to);
    assert.ok(placed.includes('/home/argocd/cmp-server/config/plugin.yaml'));
    const plugin = parse(read('sidecar/plugin.yaml'));
    const { command, args } = plugin.spec.generate;
    assert.deepEqual([command[0], args[0]], ['gitops-reverser', 'kustomize']);
    assert.match(
      scripts,
      /ln -s \/opt\/gitops-reverser\/gitops-reverser\.mjs \/usr\/local\/bin\/gitops-reverser/,
    );
  });

  describe('its bundle', () => {
    let folder: Folder;
    before(function () {
      if (!exists('dist/gitops-reverser.mjs')) {
        console.log('      skipped: the bundle is not built (make build)');
        return this.skip();
      }
      folder = temporaryFolder('image');
    });
    after(() => folder?.remove());

    it('runs through the link that the image makes, with nothing but Node', async function () {
      this.timeout(60_000);
      const opt = join(folder.path, 'opt');
      cpSync(join(root, 'dist'), opt, { recursive: true });
      const link = join(folder.path, 'gitops-reverser');
      symlinkSync(join(opt, 'gitops-reverser.mjs'), link);
      const env = { PATH: process.env.PATH, HOME: '/tmp' };
      const { version } = JSON.parse(read('package.json'));
      assert.equal((await run(link, ['version'], { env, cwd: folder.path })).stdout, `${version}\n`);
      assert.match(
        (await run(link, ['crds'], { env, cwd: folder.path })).stdout,
        /^kind: CustomResourceDefinition$/m,
      );
      const help = await run(link, ['run', '--help'], { env, cwd: folder.path });
      assert.match(help.stdout, /^Usage: gitops-reverser run /);
    });
  });
});

function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile.split('\n').filter((line) => !/^\s*#/.test(line));
  const joined = lines.join('\n').replaceAll('\\\n', ' ').split('\n');
  const stages: { name: string; image: string; instructions: Instruction[] }[] = [];
  for (const line of joined.filter((one) => one.trim() !== '')) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    assert.notEqual(name, '', `no instruction: ${line}`);
    if (name !== 'FROM') {
      stages.at(-1)?.instructions.push({ name, text });
      continue;
    }
    const words = text.split(/\s+/).filter((word) => !word.startsWith('--'));
    stages.push({ name: words[2] ?? '', image: words[0] ?? '', instructions: [] });
  }
  return stages;
}

/** The last pattern that matches the path or a folder above it decides; only `*` and plain paths are used. */
function reaches(path: string, patterns: readonly string[]): boolean {
  let reached = true;
  for (const pattern of patterns) {
    const plain = pattern.replace(/^!/, '');
    if (plain === '*' || path === plain || path.startsWith(`${plain}/`)) reached = pattern.startsWith('!');
  }
  return reached;
}

function exists(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false;
}
