import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { GateAnswer, GateQuestion } from '../../src/core/gate/index.ts';
import { type GateServerResult, startGateServer } from '../../src/server/gate.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { freePort } from '../cluster/port.ts';
import { run } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';

const root = join(import.meta.dirname, '../..');
const revision = 'a'.repeat(40);
const tip = 'b'.repeat(40);
const superseded: GateAnswer = {
  decision: 'superseded',
  tip,
  edits: [
    {
      target: 'shop/live',
      object: 'Deployment/shop/web',
      fields: ['spec.replicas'],
      commit: tip,
      author: 'alice',
    },
  ],
  refused: [{ target: 'shop/live', object: 'Secret/shop/login', fields: [], reason: 'NotSealed' }],
};
const closed: GateAnswer = {
  decision: 'closed',
  reason: 'PushRefused',
  message: 'the host said "no"',
  retryAfterMs: 1_000,
};
const open: GateAnswer = { decision: 'open', covered: true, tip, revision, edits: [], refused: [] };

const folder = temporaryFolder('gate');
const path = process.env.PATH ?? '';
/** The plugin's programs; each variant of the wrapper is the same contract. */
const wrappers = [
  {
    name: 'gitops-reverser gate',
    argv: [process.execPath, join(root, 'src/main.ts'), 'gate'],
    path,
    http: true,
  },
  {
    name: 'gate.sh with curl',
    argv: ['dash', join(root, 'sidecar/gate.sh')],
    path: only('curl'),
    http: true,
  },
  {
    name: 'gate.sh with wget',
    argv: ['dash', join(root, 'sidecar/gate.sh')],
    path: only('wget'),
    http: false,
  },
];

after(() => folder.remove());

for (const wrapper of wrappers) {
  describe(wrapper.name, function () {
    this.timeout(120_000);
    const answers: GateAnswer[] = [];
    const asked: GateQuestion[] = [];
    let server: Extract<GateServerResult, { kind: 'ok' }>;
    let tokenFile = '';

    before(async () => {
      tokenFile = join(folder.path, `token-${wrappers.indexOf(wrapper)}`);
      writeFileSync(tokenFile, 'correct-horse\n');
      server = await serve({ host: '127.0.0.1', port: 0 });
    });
    after(() => server?.stop());
    beforeEach(() => {
      answers.length = 0;
      asked.length = 0;
    });

    async function serve(address: Parameters<typeof startGateServer>[0]['address']) {
      const started = await startGateServer({
        address,
        token: async () => 'correct-horse',
        gate: () => ({
          async ask(question) {
            asked.push(question);
            // The last answer stays.
            return (answers.length > 1 ? answers.shift() : answers[0]) ?? open;
          },
          flush: async () => undefined,
          ready: () => true,
        }),
        version: '0',
        log: silentLog(),
      });
      assert.ok(started.kind === 'ok');
      return started;
    }

    function gate(flags: readonly string[], command: readonly string[], more: NodeJS.ProcessEnv = {}) {
      const [program = '', ...args] = wrapper.argv;
      const address = ['--address', `127.0.0.1:${server.port}`, '--token-file', tokenFile];
      const env = {
        PATH: wrapper.path,
        ARGOCD_APP_NAME: 'shop',
        ARGOCD_APP_NAMESPACE: 'elsewhere',
        ARGOCD_APP_REVISION: revision,
        ARGOCD_APP_SOURCE_REPO_URL: 'https://git.example.com/team/con"fig\\',
        ARGOCD_APP_SOURCE_PATH: 'apps/shop',
        ARGOCD_APP_SOURCE_TARGET_REVISION: 'main',
        ...more,
      };
      return run(program, [...args, ...address, ...flags, '--', ...command], { env, cwd: folder.path });
    }

    it('asks about the very commit that is rendered', async () => {
      await gate([], ['true']);
      assert.deepEqual(asked, [
        {
          applier: 'argocd',
          application: { namespace: 'argocd', name: 'shop' },
          repoURL: 'https://git.example.com/team/con"fig\\',
          targetRevision: 'main',
          revision,
          path: 'apps/shop',
          phase: 'render',
        },
      ]);
    });

    it('takes an Application of another namespace from its name', async () => {
      await gate([], ['true'], { ARGOCD_APP_NAME: 'team-a_shop' });
      assert.deepEqual(asked[0]?.application, { namespace: 'team-a', name: 'shop' });
    });

    it('hands every byte of the command on, and its exit code', async () => {
      const file = join(folder.path, 'bytes');
      const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) % 256);
      writeFileSync(file, bytes);
      const answered = await runBinary(['sh', '-c', 'cat bytes; exit 7']);
      assert.equal(answered.code, 7);
      assert.ok(Buffer.from(bytes).equals(answered.stdout), 'other bytes came out');
    });

    it('gives the command its arguments and its environment as they are', async () => {
      const { stdout, code } = await gate(
        [],
        [
          'sh',
          '-c',
          'for one; do printf "<%s>" "$one"; done; printf %s "$ARGOCD_ENV_X$path$mode$status$name$IFS"',
          'x',
          'a b',
          '',
          '--mode',
          '$HOME*',
        ],
        { ARGOCD_ENV_X: ' y ', path: '/p', mode: 'm', status: '7', name: 'n' },
      );
      assert.deepEqual([stdout, code], ['<a b><><--mode><$HOME*> y /pm7n \t\n', 0]);
    });

    it('says nothing when the door is open', async () => {
      assert.deepEqual(await gate(['--mode', 'strict'], ['echo', 'kind: X']), {
        stdout: 'kind: X\n',
        stderr: '',
        code: 0,
      });
    });

    it('renders in advise whatever the answer, and says it', async () => {
      for (const [answer, words] of [
        [superseded, /superseded: aaaaaaaaaaaa is not the newest; bbbbbbbbbbbb .*Deployment\/shop\/web/],
        [closed, /closed \(PushRefused\): the host said ["']no["']\./],
      ] as const) {
        answers[0] = answer;
        const { stdout, stderr, code } = await gate([], ['echo', 'kind: X']);
        assert.deepEqual([stdout, code], ['kind: X\n', 0]);
        assert.match(stderr, words);
      }
    });

    it('does not render a superseded commit in strict', async () => {
      answers[0] = superseded;
      const { stdout, stderr, code } = await gate(['--mode', 'strict'], ['echo', 'kind: X']);
      assert.deepEqual([stdout, code], ['', 65]);
      assert.match(stderr, /Deployment\/shop\/web/);
      assert.match(stderr, /cannot be written to Git.*Secret\/shop\/login/);
    });

    it('waits in strict for a door that is closed', async () => {
      answers.push(closed, open);
      const { stdout, code } = await gate(['--mode', 'strict'], ['echo', 'kind: X']);
      assert.deepEqual([stdout, code, asked.length], ['kind: X\n', 0, 2]);
    });

    it('gives up in strict when it stays closed', async () => {
      answers[0] = closed;
      const { stdout, code } = await gate(['--mode', 'strict', '--deadline', '5s'], ['echo', 'kind: X']);
      assert.deepEqual([stdout, code], ['', 66]);
    });

    it('renders in advise and fails in strict when nobody answers', async () => {
      const nobody = ['--address', `127.0.0.1:${await freePort()}`];
      const advised = await gate(nobody, ['echo', 'kind: X']);
      assert.deepEqual([advised.stdout, advised.code], ['kind: X\n', 0]);
      assert.match(advised.stderr, /the sidecar gives no answer/);
      const strict = await gate([...nobody, '--mode', 'strict', '--deadline', '2s'], ['echo', 'kind: X']);
      assert.deepEqual([strict.stdout, strict.code], ['', 69]);
      assert.match(strict.stderr, /the sidecar gives no answer/);
    });

    it('takes a wrong token for no answer, and does not show it', async () => {
      const other = join(folder.path, 'other-token');
      writeFileSync(other, 'wrong-horse');
      const { stderr, code } = await gate(
        ['--token-file', other, '--mode', 'strict', '--deadline', '5s'],
        ['true'],
      );
      assert.equal(code, 69);
      assert.match(stderr, /it answered 401/);
      assert.doesNotMatch(stderr, /horse/);
    });

    it('refuses bad use before anything runs', async () => {
      for (const flags of [
        ['--mode', 'loud'],
        ['--deadline', '2'],
        ['--deadline', '90s'],
        ['--nonsense', 'x'],
      ]) {
        const { stdout, stderr, code } = await gate(flags, ['echo', 'kind: X']);
        assert.deepEqual([stdout, code], ['', 64], flags.join(' '));
        assert.notEqual(stderr, '');
      }
      const outside = await gate([], ['echo', 'kind: X'], { ARGOCD_APP_REVISION: '' });
      assert.deepEqual([outside.stdout, outside.code], ['', 64]);
      assert.match(outside.stderr, /ARGOCD_APP_REVISION is not set/);
      assert.equal(asked.length, 0);
    });

    it('asks nothing about a source that is no Git commit', async () => {
      const { stdout, code } = await gate(['--mode', 'strict'], ['echo', 'kind: X'], {
        ARGOCD_APP_REVISION: '1.2.3',
      });
      assert.deepEqual([stdout, code, asked.length], ['kind: X\n', 0, 0]);
    });

    it('ends as shells do when there is no such command', async () => {
      const { stdout, code } = await gate([], ['/nowhere/render']);
      assert.deepEqual([stdout, code], ['', 127]);
    });

    it('passes signals on, and never ends well because of one', async () => {
      const started = join(folder.path, `started-${wrappers.indexOf(wrapper)}`);
      const [program = '', ...args] = wrapper.argv;
      const flags = ['--address', `127.0.0.1:${server.port}`, '--token-file', tokenFile, '--'];
      const script = `trap 'echo told; exit 9' TERM; : >${started}; while :; do sleep 0.1; done`;
      const child = spawn(program, [...args, ...flags, 'sh', '-c', script], {
        env: { ...process.env, PATH: wrapper.path, ...argo },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const ended = once(child, 'exit');
      let stdout = '';
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
      });
      await until('the command runs', () => existsSync(started), { timeoutMs: 60_000 });
      child.kill('SIGTERM');
      assert.deepEqual([(await ended)[0], stdout], [9, 'told\n']);
    });

    it('runs in the sidecar’s checkout of that commit, and in no other', async () => {
      const shared = join(folder.path, `shared-${wrappers.indexOf(wrapper)}`);
      const own = join(shared, 'commits', revision, 'apps/shop');
      mkdirSync(own, { recursive: true });
      const flags = ['--checkout-dir', shared];
      assert.equal((await gate(flags, ['pwd', '-P'])).stdout, `${own}\n`);
      assert.equal(
        (await gate(flags, ['pwd', '-P'], { ARGOCD_APP_REVISION: tip })).stdout,
        `${folder.path}\n`,
      );
      const outside = await gate(flags, ['pwd', '-P'], { ARGOCD_APP_SOURCE_PATH: '../..' });
      assert.equal(outside.stdout, `${folder.path}\n`);
    });

    if (wrapper.http) {
      it('asks over a unix socket', async () => {
        const socket = join(folder.path, `${wrappers.indexOf(wrapper)}.sock`);
        const other = await serve({ socket });
        try {
          const { code } = await gate(['--address', `unix:${socket}`, '--mode', 'strict'], ['true']);
          assert.deepEqual([code, asked.length], [0, 1]);
        } finally {
          await other.stop();
        }
      });
    }

    async function runBinary(command: readonly string[]): Promise<{ stdout: Buffer; code: number }> {
      const [program = '', ...args] = wrapper.argv;
      const flags = ['--address', `127.0.0.1:${server.port}`, '--token-file', tokenFile, '--'];
      const child = spawn(program, [...args, ...flags, ...command], {
        env: { PATH: wrapper.path, ...argo },
        cwd: folder.path,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const chunks: Buffer[] = [];
      child.stdout.on('data', (chunk) => chunks.push(chunk));
      const [code] = await once(child, 'close');
      return { stdout: Buffer.concat(chunks), code };
    }
  });
}

const argo = {
  ARGOCD_APP_NAME: 'shop',
  ARGOCD_APP_REVISION: revision,
  ARGOCD_APP_SOURCE_REPO_URL: 'https://git.example.com/team/config',
};

/** A PATH with every program of the machine's but the other client and Node. */
function only(client: 'curl' | 'wget'): string {
  const bin = join(folder.path, `only-${client}`);
  mkdirSync(bin);
  for (const name of [
    'sh',
    'dash',
    'sed',
    'tr',
    'cat',
    'rm',
    'date',
    'mktemp',
    'sleep',
    'tail',
    'head',
    'grep',
    'echo',
    'true',
    'pwd',
    client,
  ]) {
    const found = path
      .split(delimiter)
      .map((one) => join(one, name))
      .find((one) => existsSync(one));
    if (found === undefined) throw new Error(`${name} is not installed; run test/cluster/install-debian.sh`);
    symlinkSync(found, join(bin, name));
  }
  return bin;
}
