import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Access } from '../../src/git/credentials.ts';
import { type Repository, repositoryFolder } from '../../src/git/repository.ts';
import { SecretText } from '../../src/git/secret-text.ts';
import { generateSigningKey, readSigner } from '../../src/git/signing.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { freePort } from '../cluster/port.ts';
import { until } from '../cluster/wait.ts';
import { processes, processesIn } from './processes.ts';
import {
  basic,
  bearer,
  commitOne,
  expectKind,
  type Fixture,
  openFor,
  spec,
  urlOf,
} from './remote-fixture.ts';

const secret = 'pa55-%s-hunter2';
/** Also as git and curl would write it. */
const spellings = [
  secret,
  encodeURIComponent(secret),
  Buffer.from(`bob:${secret}`).toString('base64'),
  Buffer.from(`:${secret}`).toString('base64'),
];

function holdsSecret(text: string): boolean {
  return spellings.some((spelling) => text.includes(spelling));
}

/** What a person who looks over our shoulder would call chatty. */
const chatty = {
  ...process.env,
  GIT_TRACE: '1',
  GIT_TRACE_CURL: '1',
  GIT_CURL_VERBOSE: '1',
  GIT_TRACE_PACKET: '1',
};

describe('passwords and tokens', () => {
  let server: GitServer;
  before(async () => {
    server = await startGitServer({ users: { bob: secret, '': secret }, tokens: [secret] });
    await server.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
  });
  after(async () => {
    await server.stop();
  });
  afterEach(() => server.setFault(undefined));

  function logins(): Access[] {
    const url = server.url('fleet');
    return [basic(url, 'bob', secret), basic(url, '', secret), bearer(url, secret)];
  }

  /** Everything that talks to the remote, one by one; the results as text. */
  async function everything(
    repository: Repository,
    access: Access,
    base: string,
    newTip: string,
  ): Promise<string[]> {
    const brief = { deadlineMs: 400 };
    const results: unknown[] = [];
    for (const operation of [
      () => repository.lsRemote(access, undefined, brief),
      () => repository.fetch('main', access, brief),
      () => repository.push({ branch: 'main', newTip, expectedOld: base, access }, brief),
    ]) {
      const running = operation();
      await look(access);
      results.push(await running);
    }
    return results.map((result) => JSON.stringify(result));
  }

  /** While a git of ours runs: no process on this machine shows the secret. */
  async function look(access: Access): Promise<void> {
    await until('git runs', () => processes().some(({ args }) => args.includes(access.url.remote)));
    for (const { args, environment } of processes()) {
      assert.ok(!holdsSecret(args), 'a process shows the secret in its arguments');
      assert.ok(!holdsSecret(environment), 'a process shows the secret in its environment');
    }
  }

  function filesWithSecret(folder: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => holdsSecret(readFileSync(file, 'latin1')));
  }

  function checkVolume({ volume, url }: Fixture): void {
    const session = join(repositoryFolder(volume.path, url), 'session');
    const files = filesWithSecret(volume.path);
    assert.ok(files.length > 0, 'the login stands nowhere: this test proves nothing');
    for (const file of files) {
      assert.ok(file.startsWith(`${session}/`), file);
      assert.equal(statSync(file).mode & 0o777, 0o600, file);
      assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700, file);
    }
  }

  it('stand in no argument, environment, message or repository file while a remote hangs', async () => {
    for (const access of logins()) {
      const fixture = await openFor(access, { ambient: chatty });
      const { repository } = fixture;
      const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
      const newTip = await commitOne(repository, 'main', base, [{ path: 'b.yaml', content: '1\n' }]);
      server.setFault('hang');
      const said = await everything(repository, access, base, newTip);
      server.setFault(undefined);
      assert.ok(
        said.every((text) => text.includes('"TimedOut"')),
        said.join('\n'),
      );
      assert.ok(!holdsSecret(said.join('\n')));
      checkVolume(fixture);
      assert.ok(processesIn(fixture.volume.path).every((args) => args.includes('cat-file')));
      await repository.close();
      assert.deepEqual(filesWithSecret(fixture.volume.path), []);
    }
  });

  it('stand in no message when the remote refuses, even if it repeats them', async () => {
    for (const access of logins()) {
      const fixture = await openFor(access, { ambient: chatty });
      const { repository } = fixture;
      const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
      const newTip = await commitOne(repository, 'main', base, [{ path: 'b.yaml', content: '1\n' }]);
      for (const status of [401, 403, 404, 500]) {
        server.setFault({ status, body: `no access for https://bob:${secret}@git.example.com/fleet\n` });
        const result = await repository.push({ branch: 'main', newTip, expectedOld: base, access });
        assert.ok(!holdsSecret(JSON.stringify(expectKind(result, 'failed'))));
      }
      server.setFault(undefined);
      await server.refusePushes('fleet', `see https://bob:${secret}@git.example.com/fleet`);
      const refused = await repository.push({ branch: 'main', newTip, expectedOld: base, access });
      assert.match(expectKind(refused, 'refused').message, /see https:\/\/git\.example\.com\/fleet/);
      await server.refusePushes('fleet', undefined);
    }
  });

  it('are replaced with the Secret: the old ones leave the volume', async () => {
    const access = basic(server.url('fleet'), 'bob', secret);
    const fixture = await openFor(access);
    for (const password of ['old-1', 'old-2', 'old-3', secret]) {
      await fixture.repository.lsRemote(basic(server.url('fleet'), 'bob', password));
    }
    const session = join(repositoryFolder(fixture.volume.path, fixture.url), 'session');
    assert.equal(readdirSync(session).filter((name) => name.startsWith('login-')).length, 2);
  });

  it('of ssh keys stand nowhere either, and no key outlives a signature', async () => {
    const port = await freePort();
    const silent = createServer();
    silent.listen(port, '127.0.0.1');
    await once(silent, 'listening');
    const keys = temporaryFolder('keys');
    const { data } = await generateSigningKey(keys.path, 'test', process.env);
    const pem = Buffer.from(data['signing.key'] ?? '', 'base64').toString();
    const access: Access = {
      url: urlOf(`ssh://git@127.0.0.1:${port}/fleet.git`),
      credentials: { kind: 'ssh', privateKey: new SecretText(pem), passphrase: new SecretText(secret) },
      knownHosts: 'any',
    };
    const fixture = await openFor(access, { allowMissingKnownHosts: true, ambient: chatty });
    const { repository } = fixture;
    const read = await readSigner(data, keys.path, process.env);
    assert.ok(read.ok);
    const base = await commitOne(repository, 'main', null, [{ path: 'b.yaml', content: '1\n' }]);
    const commits = [spec('x', [{ path: 'c.yaml', content: '1\n' }])];
    const made = expectKind(
      await repository.commit({ branch: 'main', base, commits, signer: read.signer }),
      'ok',
    );
    const said = await everything(repository, access, base, made.commits[0]?.commit ?? '');
    assert.ok(
      said.every((text) => text.includes('"TimedOut"')),
      said.join('\n'),
    );
    assert.ok(!holdsSecret(said.join('\n')));
    checkVolume(fixture);
    const body = pem.split('\n')[2] ?? '';
    const inVolume = () =>
      readdirSync(fixture.volume.path, { recursive: true, withFileTypes: true })
        .filter(
          (entry) =>
            entry.isFile() && readFileSync(join(entry.parentPath, entry.name), 'latin1').includes(body),
        )
        .map((entry) => entry.name);
    assert.deepEqual(inVolume(), ['key']);
    await repository.close();
    assert.deepEqual(inVolume(), []);
    silent.close();
    await keys.remove();
  });
});
