/** The parts the other suites stand on: a control plane, a git server and an ssh server that really work. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type Folder, temporaryFolder } from './folder.ts';
import { git, tryGit } from './git.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { kubectl } from './kubectl.ts';
import { partsFolder } from './parts.ts';
import { freePort } from './port.ts';
import { commitTo, diff, listFiles, log, readFile, tip } from './repository.ts';
import { runOk } from './run.ts';
import { type SshServer, sshServerMissing, startSshServer } from './ssh-server.ts';
import { until } from './wait.ts';

const map = (name: string, color: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color } });

describe('control plane', function () {
  this.timeout(180_000);
  let cluster: ControlPlane;
  const audited: string[] = [];
  const webhook = createServer(async (request, answer) => {
    audited.push(await text(request));
    answer.end();
  });

  before(async () => {
    webhook.listen(await freePort(), '127.0.0.1');
    await once(webhook, 'listening');
    const { port } = webhook.address() as AddressInfo;
    const started = performance.now();
    cluster = await startControlPlane({ audit: { url: `http://127.0.0.1:${port}/` } });
    console.log(`      the control plane was ready after ${Math.round(performance.now() - started)} ms`);
  });
  after(async () => {
    await cluster?.stop();
    webhook.close();
    webhook.closeAllConnections();
  });

  it('takes an object from the administrator', async () => {
    const applied = await kubectl(cluster, ['apply', '-f', '-'], { stdin: map('paint', 'red') });
    assert.equal(applied.code, 0, applied.stderr);
    const { stdout } = await kubectl(cluster, ['get', 'configmap', 'paint', '-o', 'jsonpath={.data.color}']);
    assert.equal(stdout, 'red');
  });

  it('forbids everything to an ordinary user', async () => {
    const { code, stderr } = await kubectl(cluster, ['get', 'configmaps'], { user: 'alice' });
    assert.equal(code, 1);
    assert.match(stderr, /User "alice" cannot list resource "configmaps"/);
  });

  it('allows an ordinary user what a role allows', async () => {
    const grant = 'create rolebinding bob-edits --clusterrole=edit --user=bob'.split(' ');
    assert.equal((await kubectl(cluster, grant)).code, 0);
    await until('bob may edit', async () => {
      const { code } = await kubectl(cluster, ['apply', '-f', '-'], {
        stdin: map('tool', 'grey'),
        user: 'bob',
      });
      return code === 0;
    });
    await until('the audit webhook hears of it', () =>
      audited.some((events) => events.includes('"username":"bob"') && events.includes('"name":"tool"')),
    );
  });

  it('collects what an owner left behind', async () => {
    const create = 'create deployment web --image=web --replicas=0'.split(' ');
    assert.equal((await kubectl(cluster, create)).code, 0);
    const sets = async () => (await kubectl(cluster, ['get', 'replicasets', '-o', 'name'])).stdout;
    await until('the deployment has a replica set', sets);
    assert.equal((await kubectl(cluster, ['delete', 'deployment', 'web'])).code, 0);
    await until('the replica set is gone', async () => (await sets()) === '');
  });

  it('keeps its data over a restart of the API server', async () => {
    await kubectl(cluster, ['apply', '-f', '-'], { stdin: map('kept', 'blue') });
    await cluster.apiServer.kill();
    assert.equal(cluster.apiServer.running(), false);
    assert.notEqual((await kubectl(cluster, ['get', 'configmaps'])).code, 0);
    await cluster.apiServer.restart();
    const { stdout } = await kubectl(cluster, ['get', 'configmap', 'kept', '-o', 'jsonpath={.data.color}']);
    assert.equal(stdout, 'blue');
  });

  it('says in the end of a log why it did not start', async () => {
    const failing = startControlPlane({ flags: ['--no-such-flag'], controllers: false });
    await assert.rejects(failing, /kube-apiserver ended with exit code 1.*unknown flag: --no-such-flag/s);
  });

  it('leaves no process and no folder behind', async () => {
    const { pids, dir } = cluster;
    assert.equal(pids.length, 3);
    await cluster.stop();
    assert.deepEqual(pids.filter(isAlive), []);
    assert.equal(existsSync(dir), false);
  });
});

describe('parts', () => {
  it('are programs with their plain names on a PATH', async () => {
    const kubernetes = { env: { PATH: partsFolder('kubernetes'), HOME: '/nonexistent' } };
    assert.match(await runOk('kubectl', ['version', '--client'], kubernetes), /Client Version: v1\.36\.3/);
    const tools = { env: { PATH: partsFolder('tools'), HOME: '/nonexistent' } };
    assert.match(await runOk('kustomize', ['version'], tools), /v5\.8\.1/);
    assert.match(await runOk('sops', ['--version', '--disable-version-check'], tools), /3\.13\.2/);
    assert.match(await runOk('age-keygen', ['--version'], tools), /1\.3\.1/);
  });
});

describe('git server', function () {
  this.timeout(60_000);
  let server: GitServer;
  let scratch: Folder;

  before(async () => {
    scratch = temporaryFolder('git-client');
    server = await startGitServer({ users: { alice: 'secret' }, tokens: ['let-me-in'], tls: true });
    await server.createRepository('team/app', { files: { 'a.yaml': 'a: 1\n', 'dir/b.yaml': 'b: 1\n' } });
  });
  after(async () => {
    await server?.stop();
    await scratch?.remove();
  });
  afterEach(() => {
    server.setFault(undefined);
    server.setBefore(undefined);
  });

  const withLogin = () => server.url('team/app').replace('https://', 'https://alice:secret@');
  const client = () => ['-c', `http.sslCAInfo=${server.caFile}`];
  const clone = (url: string, name: string) =>
    tryGit([...client(), 'clone', '--quiet', url, join(scratch.path, name)]);
  async function push(name: string): Promise<{ code: number; stderr: string }> {
    const cwd = join(scratch.path, name);
    await git(['commit', '--quiet', '--allow-empty', '-m', `Change in ${name}`], { cwd, env: alice });
    return await tryGit([...client(), 'push', '--quiet', 'origin', 'HEAD:main'], { cwd });
  }

  it('lets a clone and a push in with a login', async () => {
    assert.equal((await clone(withLogin(), 'one')).code, 0);
    server.clearRequests();
    writeFileSync(join(scratch.path, 'one', 'big.bin'), randomBytes(4 << 20));
    await git(['add', '.'], { cwd: join(scratch.path, 'one') });
    assert.equal((await push('one')).code, 0);
    assert.deepEqual(await listFiles(server.bareDir('team/app'), 'main'), [
      'a.yaml',
      'big.bin',
      'dir/b.yaml',
    ]);
    const [first] = await log(server.bareDir('team/app'), 'main');
    assert.equal(first?.subject, 'Change in one');
    assert.equal(first?.author, 'Alice');
    assert.deepEqual(first?.files, ['big.bin']);
    assert.ok(server.requests.every(({ service }) => service === 'git-receive-pack'));
    assert.equal(server.requests.at(-1)?.user, 'alice');
  });

  it('reads the compressed question of a client that has much to ask', async () => {
    assert.equal((await clone(withLogin(), 'talkative')).code, 0);
    const cwd = join(scratch.path, 'talkative');
    for (let commit = 0; commit < 40; commit++) {
      await git(['commit', '--quiet', '--allow-empty', '-m', `Local ${commit}`], { cwd, env: alice });
    }
    const sha = await commitTo(server.bareDir('team/app'), 'main', { 'a.yaml': 'a: 1\n# seen\n' });
    server.clearRequests();
    const { code, stderr } = await tryGit([...client(), 'fetch', '--quiet', 'origin'], { cwd });
    assert.equal(code, 0, stderr);
    assert.equal((await git(['rev-parse', 'origin/main'], { cwd })).trim(), sha);
    assert.ok(server.requests.some(({ compressed }) => compressed));
  });

  it('takes a bearer token', async () => {
    const token = ['-c', 'http.extraHeader=Authorization: Bearer let-me-in'];
    const { code } = await tryGit([...client(), ...token, 'ls-remote', server.url('team/app')]);
    assert.equal(code, 0);
  });

  it('keeps everybody else out', async () => {
    const wrong = server.url('team/app').replace('https://', 'https://alice:wrong@');
    assert.match((await clone(wrong, 'two')).stderr, /Authentication failed/);
    assert.match((await clone(server.url('team/app'), 'two')).stderr, /could not read Username/);
  });

  it('is not trusted without its authority', async () => {
    assert.match((await tryGit(['ls-remote', withLogin()])).stderr, /certificate/);
  });

  it('refuses a push with the words of a hook', async () => {
    await clone(withLogin(), 'hooked');
    await server.refusePushes('team/app', 'nobody works on Sundays');
    assert.match((await push('hooked')).stderr, /nobody works on Sundays.*pre-receive hook declined/s);
    await server.refusePushes('team/app', undefined);
    assert.equal((await push('hooked')).code, 0);
  });

  it('fails as it is told to', async () => {
    server.setFault({ status: 503 });
    assert.match((await clone(withLogin(), 'broken')).stderr, /503/);
    server.setFault('refuse');
    assert.notEqual((await clone(withLogin(), 'broken')).code, 0);
    server.setFault('hang');
    await assert.rejects(
      tryGit([...client(), 'ls-remote', withLogin()], { timeoutMs: 500 }),
      /because it took more than 500 ms/,
    );
  });

  it('can do the work of a push and lose the answer', async () => {
    await clone(withLogin(), 'lost');
    server.setFault('lose-answer', 'git-receive-pack');
    assert.notEqual((await push('lost')).code, 0);
    const head = (await git(['rev-parse', 'HEAD'], { cwd: join(scratch.path, 'lost') })).trim();
    assert.equal(await tip(server.bareDir('team/app'), 'main'), head);
  });

  it('lets somebody else push in between', async () => {
    await clone(withLogin(), 'late');
    const bare = server.bareDir('team/app');
    server.setBefore(async ({ method }) => {
      if (method === 'POST') {
        await commitTo(bare, 'main', { 'a.yaml': 'a: 2\n', 'dir/b.yaml': null });
      }
    });
    assert.notEqual((await push('late')).code, 0);
    assert.equal(await readFile(bare, 'main', 'a.yaml'), 'a: 2\n');
    assert.equal(await readFile(bare, 'main', 'dir/b.yaml'), undefined);
    assert.match(await diff(bare, 'main~1', 'main'), /-a: 1\n-# seen\n\+a: 2/);
  });
});

describe('ssh server', function () {
  this.timeout(60_000);
  let server: SshServer;
  let scratch: Folder;

  before(async function () {
    const missing = sshServerMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      this.skip();
    }
    scratch = temporaryFolder('ssh-client');
    server = await startSshServer();
    await server.createRepository('app', { files: { 'a.yaml': 'a: 1\n' } });
  });
  after(async () => {
    await server?.stop();
    await scratch?.remove();
  });

  const clone = (name: string, knownHosts: string) => {
    const known = join(scratch.path, `${name}.known`);
    writeFileSync(known, `${knownHosts}\n`);
    const checks = `-o StrictHostKeyChecking=yes -o UserKnownHostsFile=${known} -o GlobalKnownHostsFile=/dev/null`;
    const ssh = `ssh -F none -i ${server.clientKeyFile} -o IdentitiesOnly=yes -o BatchMode=yes ${checks}`;
    const folder = join(scratch.path, name);
    mkdirSync(folder);
    return tryGit(['clone', '--quiet', server.url('app'), folder], { env: { GIT_SSH_COMMAND: ssh } });
  };

  it('lets a clone in that knows the host key', async () => {
    const { code, stderr } = await clone('known', server.knownHosts);
    assert.equal(code, 0, stderr);
    assert.ok(existsSync(join(scratch.path, 'known', 'a.yaml')));
  });

  it('is refused by a client that does not', async () => {
    assert.match((await clone('unknown', '')).stderr, /Host key verification failed/);
  });

  it('leaves no process behind', async () => {
    const { pids } = server;
    assert.equal(pids.length, 1);
    await server.stop();
    assert.deepEqual(pids.filter(isAlive), []);
  });
});

const alice = {
  GIT_AUTHOR_NAME: 'Alice',
  GIT_AUTHOR_EMAIL: 'alice@example.com',
  GIT_COMMITTER_NAME: 'Alice',
  GIT_COMMITTER_EMAIL: 'alice@example.com',
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
