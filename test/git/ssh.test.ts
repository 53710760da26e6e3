import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from '../../src/git/credentials.ts';
import { SecretText } from '../../src/git/secret-text.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { freePort } from '../cluster/port.ts';
import { tip } from '../cluster/repository.ts';
import { runOk } from '../cluster/run.ts';
import { type SshServer, sshServerMissing, startSshServer } from '../cluster/ssh-server.ts';
import { commitOne, expectKind, openFor, urlOf } from './remote-fixture.ts';

describe('a remote over ssh', () => {
  const keys = temporaryFolder('ssh-keys');
  let server: SshServer;
  let privateKey: string;

  before(async function () {
    const missing = sshServerMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      this.skip();
    }
    server = await startSshServer();
    await server.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
    privateKey = readFileSync(server.clientKeyFile, 'utf8');
  });
  after(async () => {
    await server?.stop();
    await keys.remove();
  });

  function access(
    change: { key?: string; passphrase?: string; knownHosts?: Access['knownHosts']; url?: string } = {},
  ): Access {
    return {
      url: urlOf(change.url ?? server.url('fleet')),
      credentials: {
        kind: 'ssh',
        privateKey: new SecretText(change.key ?? privateKey),
        passphrase: change.passphrase === undefined ? undefined : new SecretText(change.passphrase),
      },
      knownHosts: 'knownHosts' in change ? change.knownHosts : { text: `${server.knownHosts}\n` },
    };
  }

  async function failureOf(wanted: Access) {
    const { repository, close } = await openFor(wanted);
    const failure = expectKind(await repository.fetch('main', wanted, { deadlineMs: 15_000 }), 'failed');
    await close();
    return failure;
  }

  it('fetches and pushes with a key', async () => {
    const login = access();
    const { repository } = await openFor(login);
    const { tip: base } = expectKind(await repository.fetch('main', login), 'ok');
    const newTip = await commitOne(repository, 'main', base, [{ path: 'a.yaml', content: '2\n' }]);
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: base, access: login }), 'pushed');
    assert.equal(await tip(server.bareDir('fleet'), 'main'), newTip);
    expectKind(
      await repository.push({ branch: 'main', newTip, expectedOld: base, access: login }),
      'up-to-date',
    );
  });

  it('opens a key with its passphrase, and says so when it is the wrong one', async () => {
    const file = join(keys.path, 'locked');
    await runOk('cp', [server.clientKeyFile, file]);
    await runOk('ssh-keygen', ['-p', '-q', '-P', '', '-N', "it's locked", '-f', file]);
    const key = readFileSync(file, 'utf8');
    const right = access({ key, passphrase: "it's locked" });
    const { repository } = await openFor(right);
    expectKind(await repository.fetch('main', right), 'ok');
    for (const wrong of [access({ key, passphrase: 'other' }), access({ key })]) {
      const failure = await failureOf(wrong);
      assert.equal(failure.reason, 'AuthenticationFailed', failure.message);
    }
  });

  it('HostKeyUnknown: another key for this host, and a host that is not listed', async () => {
    const other = join(keys.path, 'other_host');
    await runOk('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', other]);
    const [type, key] = readFileSync(`${other}.pub`, 'utf8').split(' ');
    for (const text of [`[127.0.0.1]:${server.port} ${type} ${key}\n`, `git.example.com ${type} ${key}\n`]) {
      const failure = await failureOf(access({ knownHosts: { text } }));
      assert.equal(failure.reason, 'HostKeyUnknown', failure.message);
    }
  });

  it('accepts any host key only when that is allowed', async () => {
    const any = access({ knownHosts: 'any' });
    const { repository, close } = await openFor(any);
    assert.equal(expectKind(await repository.fetch('main', any), 'failed').reason, 'Refused');
    await close();
    const trusting = await openFor(any, { allowMissingKnownHosts: true });
    expectKind(await trusting.repository.fetch('main', any), 'ok');
  });

  it('AuthenticationFailed: a key the server does not know', async () => {
    const stranger = join(keys.path, 'stranger');
    await runOk('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', stranger]);
    const failure = await failureOf(access({ key: readFileSync(stranger, 'utf8') }));
    assert.equal(failure.reason, 'AuthenticationFailed', failure.message);
  });

  it('RepositoryNotFound and RemoteUnreachable', async () => {
    const missing = await failureOf(access({ url: server.url('other') }));
    assert.equal(missing.reason, 'RepositoryNotFound', missing.message);
    const port = await freePort();
    const nobody = await failureOf(
      access({ url: server.url('fleet').replace(`:${server.port}`, `:${port}`) }),
    );
    assert.equal(nobody.reason, 'RemoteUnreachable', nobody.message);
  });
});
