/** Both wrappers of a plugin, asking a gate in another pod: over TLS, and only one that shows the right certificate. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Gate, startGateServer } from '../../src/server/gate.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { type Certificate, makeCertificate } from '../cluster/certificate.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { type RunResult, run } from '../cluster/run.ts';

const root = join(import.meta.dirname, '../..');
const token = 'token-of-the-gate';

describe('a wrapper that asks over TLS', function () {
  this.timeout(120_000);
  let folder: Folder;
  let certificate: Certificate;
  let foreign: Certificate;
  let server: { readonly port: number; stop(): Promise<void> };
  let asked = 0;

  before(async () => {
    folder = temporaryFolder('wrapper-tls');
    for (const name of ['ours', 'foreign', 'bin']) mkdirSync(join(folder.path, name));
    certificate = await makeCertificate(join(folder.path, 'ours'));
    foreign = await makeCertificate(join(folder.path, 'foreign'));
    writeFileSync(join(folder.path, 'token'), token);
    const gate: Gate = {
      async ask() {
        asked += 1;
        return { decision: 'open', covered: false };
      },
      flush: async () => undefined,
      ready: () => true,
    };
    const started = await startGateServer({
      address: { host: '127.0.0.1', port: 0 },
      tls: certificate,
      token: async () => token,
      gate: () => gate,
      version: '1.2.3',
      log: silentLog(),
    });
    assert.ok(started.kind === 'ok');
    server = started;
  });
  after(async () => {
    await server?.stop();
    await folder?.remove();
  });
  beforeEach(() => {
    asked = 0;
  });

  const wrappers = {
    'gitops-reverser gate': ['node', join(root, 'src/main.ts'), 'gate'],
    'gate.sh with curl': ['sh', join(root, 'sidecar/gate.sh')],
    'gate.sh with wget': ['sh', join(root, 'sidecar/gate.sh')],
  } as const;

  /** @param address HOST:PORT with its scheme */
  async function render(name: keyof typeof wrappers, address: string, caFile: string): Promise<RunResult> {
    const [command, ...args] = wrappers[name];
    const options = ['--mode', 'strict', '--deadline', '3s', '--address', address, '--ca-file', caFile];
    const env = {
      ...process.env,
      ...(name.endsWith('wget') ? { PATH: await withoutCurl() } : {}),
      GITOPS_REVERSER_GATE_TOKEN_FILE: join(folder.path, 'token'),
      ARGOCD_APP_NAME: 'shop',
      ARGOCD_APP_REVISION: 'a'.repeat(40),
      ARGOCD_APP_SOURCE_REPO_URL: 'https://git.example.com/team/config',
      ARGOCD_APP_SOURCE_TARGET_REVISION: 'main',
    };
    return await run(command, [...args, ...options, '--', '/bin/echo', 'rendered'], { env });
  }

  /** A PATH with what gate.sh needs, and wget. */
  async function withoutCurl(): Promise<string> {
    const bin = join(folder.path, 'bin');
    const programs = 'sh cat sed tr grep head tail date sleep mktemp rm wget'.split(' ');
    for (const program of programs) {
      const { stdout } = await run('sh', ['-c', `command -v ${program}`]);
      const path = stdout.trim();
      if (path.startsWith('/')) await run('ln', ['-sf', path, join(bin, program)]);
    }
    return bin;
  }

  for (const name of Object.keys(wrappers) as (keyof typeof wrappers)[]) {
    it(`${name}: gets the answer, and none from who shows another certificate or speaks plain HTTP`, async function () {
      const tool = /curl|wget/.exec(name)?.[0];
      if (tool !== undefined && (await run('sh', ['-c', `command -v ${tool}`])).code !== 0) {
        console.log(`      skipped: ${tool} is not installed`);
        return this.skip();
      }
      const address = `https://localhost:${server.port}`;
      const right = await render(name, address, certificate.caFile);
      assert.deepEqual([right.code, right.stdout, asked], [0, 'rendered\n', 1], right.stderr);
      const wrong = await render(name, address, foreign.caFile);
      assert.deepEqual([wrong.code, wrong.stdout, asked], [69, '', 1], wrong.stderr);
      const plain = await render(name, `localhost:${server.port}`, certificate.caFile);
      assert.deepEqual([plain.code, plain.stdout, asked], [69, '', 1], plain.stderr);
      assert.doesNotMatch(`${wrong.stderr}${plain.stderr}`, new RegExp(token));
    });
  }
});
