import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { checkAccess, readCredentials, type SecretData } from '../../src/git/credentials.ts';
import { chooseKnownHosts, knownHostsIn, parseKnownHosts } from '../../src/git/known-hosts.ts';
import { urlOf } from './remote-fixture.ts';

const pem = '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n';
const ed25519 = `ssh-ed25519 ${keyBlob('ssh-ed25519')}`;

function keyBlob(type: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.alloc(36, 7)]).toString('base64');
}

function secret(values: Readonly<Record<string, string>>): SecretData {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
}

/** The credentials as plain values, or the message of the refusal. */
function read(values: Readonly<Record<string, string>>): unknown {
  const result = readCredentials(secret(values));
  if (!result.ok) return result.message;
  const { credentials } = result;
  if (credentials.kind === 'basic')
    return { user: credentials.username, password: credentials.password.reveal() };
  if (credentials.kind === 'bearer') return { token: credentials.token.reveal() };
  if (credentials.kind !== 'ssh') return credentials;
  return { key: credentials.privateKey.reveal(), passphrase: credentials.passphrase?.reveal() };
}

describe('credentials of a Secret', () => {
  it('reads the ssh keys of every tool, in order of precedence', () => {
    const second = pem.replace('AAAA', 'BBBB');
    const third = pem.replace('AAAA', 'CCCC');
    const all = { 'ssh-privatekey': pem, identity: second, sshPrivateKey: third };
    assert.deepEqual(read(all), { key: pem, passphrase: undefined });
    assert.deepEqual(read({ identity: second, sshPrivateKey: third }), {
      key: second,
      passphrase: undefined,
    });
    assert.deepEqual(read({ sshPrivateKey: third, password: 'p' }), { key: third, passphrase: 'p' });
    assert.deepEqual(read({ identity: second, 'ssh-password': 'a', password: 'b', bearerToken: 't' }), {
      key: second,
      passphrase: 'a',
    });
  });

  it('takes a password before a token, and a password without a user name', () => {
    assert.deepEqual(read({ username: 'bob', password: 'pw', bearerToken: 't' }), {
      user: 'bob',
      password: 'pw',
    });
    assert.deepEqual(read({ password: 'pw\n' }), { user: '', password: 'pw' });
    assert.deepEqual(read({ bearerToken: 'token\n' }), { token: 'token' });
    assert.deepEqual(readCredentials(undefined), {
      ok: true,
      credentials: { kind: 'anonymous' },
      knownHosts: undefined,
    });
  });

  it('mends the line ends of a key', () => {
    assert.deepEqual(read({ identity: pem.replaceAll('\n', '\r\n').trim() }), {
      key: pem,
      passphrase: undefined,
    });
  });

  it('refuses what cannot be used, and never shows a value', () => {
    const refused: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ username: 'bob' }, /username is there, but no key password/],
      [{ identity: 'hunter2' }, /identity is not a PEM private key/],
      [{ password: 'hunter2\nhunter3' }, /password is empty or holds a line break/],
      [{ username: 'a:b', password: 'hunter2' }, /username holds a colon/],
      [{ bearerToken: 'hunter2 x' }, /bearerToken holds a blank/],
      [{ password: 'hunter2', known_hosts: 'hunter2' }, /known_hosts: line 1/],
      [{ token: 'hunter2' }, /none of .* is set \(it has: token\)/],
      [{}, /it has: nothing/],
    ];
    for (const [values, pattern] of refused) {
      const message = String(read(values));
      assert.match(message, pattern);
      assert.doesNotMatch(message, /hunter/);
    }
    const binary = readCredentials({ password: Buffer.from([0xff, 0xfe]).toString('base64') });
    assert.ok(!binary.ok && binary.reason === 'SecretMalformed');
  });

  it('masks the values wherever they are printed', () => {
    const result = readCredentials(secret({ username: 'bob', password: 'hunter2', bearerToken: 'hunter3' }));
    const printed = [
      inspect(result, { depth: 9, showHidden: true }),
      JSON.stringify(result),
      `${result.ok && result.credentials.kind === 'basic' && result.credentials.password}`,
    ];
    assert.doesNotMatch(printed.join(), /hunter/);
    assert.match(printed.join(), /\[secret\]/);
  });
});

describe('the use of credentials', () => {
  const basic = readCredentials(secret({ username: 'bob', password: 'pw' }));
  const ssh = readCredentials(secret({ identity: pem }));
  const hosts = parseKnownHosts(`git.example.com ${ed25519}`);
  assert.ok(basic.ok && ssh.ok && hosts.ok);
  const { knownHosts } = hosts;

  it('never sends a password over http, unless that is allowed', () => {
    const access = { url: urlOf('http://git.example.com/fleet'), credentials: basic.credentials };
    assert.equal(checkAccess(access)?.reason, 'InsecureTransport');
    assert.equal(checkAccess(access, { allowHttp: true }), undefined);
    assert.equal(checkAccess({ ...access, url: urlOf('https://git.example.com/fleet') }), undefined);
  });

  it('wants ssh keys for ssh URLs and only for those', () => {
    const https = urlOf('https://git.example.com/fleet');
    const url = urlOf('ssh://git@git.example.com/fleet');
    assert.equal(checkAccess({ url: https, credentials: ssh.credentials })?.reason, 'CredentialsDoNotFit');
    assert.equal(
      checkAccess({ url, credentials: basic.credentials, knownHosts })?.reason,
      'CredentialsDoNotFit',
    );
    assert.equal(checkAccess({ url, credentials: ssh.credentials, knownHosts }), undefined);
  });

  it('stays closed without known host keys', () => {
    const access = { url: urlOf('ssh://git@git.example.com/fleet'), credentials: ssh.credentials };
    assert.equal(checkAccess(access)?.reason, 'KnownHostsMissing');
    assert.equal(checkAccess({ ...access, knownHosts: 'any' })?.reason, 'KnownHostsMissing');
    assert.equal(checkAccess({ ...access, knownHosts: 'any' }, { allowMissingKnownHosts: true }), undefined);
  });
});

describe('known host keys', () => {
  it('takes them from the first place that has any', () => {
    const line = `git.example.com ${ed25519}`;
    const choice = chooseKnownHosts([
      { where: 'Secret', text: undefined },
      { where: 'ConfigMap hosts', text: line },
      { where: 'default', text: 'broken' },
    ]);
    assert.deepEqual(choice, { ok: true, knownHosts: { text: `${line}\n` } });
    assert.deepEqual(chooseKnownHosts([{ where: 'Secret', text: undefined }]), {
      ok: true,
      knownHosts: undefined,
    });
    assert.equal(knownHostsIn({ ssh_known_hosts: 'b' }), 'b');
    assert.equal(knownHostsIn({ known_hosts: 'a', ssh_known_hosts: 'b' }), 'a');
  });

  it('refuses a broken one even when a later place is fine', () => {
    const choice = chooseKnownHosts([
      { where: 'Secret', text: '' },
      { where: 'default', text: `git.example.com ${ed25519}` },
    ]);
    assert.deepEqual(choice, { ok: false, message: 'Secret: no host key in it' });
  });

  it('reads markers, hashed names, comments, and CRLF', () => {
    const text = `# our hosts\r\n\r\n@cert-authority *.example.com ${ed25519} ca\r\n|1|c2FsdA==|aGFzaA== ${ed25519}\r\n`;
    const read = parseKnownHosts(text);
    assert.ok(read.ok);
    assert.equal(read.knownHosts.text.split('\n').length, 3);
  });

  it('names the line that is broken', () => {
    const broken = [
      ['git.example.com', /line 1 is not "HOSTS TYPE KEY"/],
      [`git.example.com ${ed25519}\ngit.example.com ssh-ed25519 !!!`, /line 2 has a key that is not base64/],
      [`git.example.com ssh-rsa ${keyBlob('ssh-ed25519')}`, /line 1 has a key of another type/],
      [`@trusted git.example.com ${ed25519}`, /line 1 has an unknown marker/],
      ['# nothing\n', /no host key/],
    ] as const;
    for (const [text, pattern] of broken) {
      const read = parseKnownHosts(text);
      assert.ok(!read.ok);
      assert.match(read.message, pattern);
    }
  });
});
