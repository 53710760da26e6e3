import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretData } from '../../src/git/credentials.ts';
import { repositoryFolder } from '../../src/git/repository.ts';
import { generateSigningKey, readSigner } from '../../src/git/signing.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { tryGit } from '../cluster/git.ts';
import { runOk } from '../cluster/run.ts';
import { anonymous, expectKind, openFor, spec } from './remote-fixture.ts';

const nowhere = anonymous('https://git.example.com/fleet');

describe('signed commits', () => {
  let volume: Folder;
  let keys = 0;
  before(() => {
    volume = temporaryFolder('signing');
  });
  after(async () => {
    await volume.remove();
  });

  async function keyOf(type: string, passphrase: string): Promise<SecretData> {
    const file = join(volume.path, `key-${++keys}`);
    await runOk('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-f', file]);
    const data: Record<string, string> = { 'signing.key': (await readFile(file)).toString('base64') };
    if (passphrase !== '') data.passphrase = Buffer.from(`${passphrase}\n`).toString('base64');
    return data;
  }

  async function signer(data: SecretData) {
    const read = await readSigner(data, volume.path, process.env);
    assert.ok(read.ok, read.ok ? '' : read.message);
    return read.signer;
  }

  for (const [type, passphrase] of [
    ['ed25519', ''],
    ['ed25519', "it's locked"],
    ['rsa', ''],
    ['ecdsa', 'locked'],
  ] as const) {
    it(`are verified by git: ${type}${passphrase === '' ? '' : ' with a passphrase'}`, async () => {
      const fixture = await openFor(nowhere);
      const key = await signer(await keyOf(type, passphrase));
      const commits = ['First\n\nBody: ä', 'Second', 'Third'].map((message, n) =>
        spec(message, [{ path: `${n}.yaml`, content: `${n}` }]),
      );
      const made = expectKind(
        await fixture.repository.commit({ branch: 'main', base: null, commits, signer: key }),
        'ok',
      ).commits;
      const bare = join(repositoryFolder(fixture.volume.path, nowhere.url), 'git');
      const allowed = join(volume.path, 'allowed');
      await writeFile(allowed, `bot@example.com namespaces="git" ${key.publicKey}\n`);
      const setting = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`];
      for (const { commit } of made) {
        const { code, stderr } = await tryGit([...setting, 'verify-commit', commit], { cwd: bare });
        assert.equal(code, 0, stderr);
        assert.match(stderr, /Good "git" signature for bot@example\.com/);
      }
      const last = await fixture.repository.history.commitInfo(made[2]?.commit ?? '');
      assert.deepEqual(last.parents, [made[1]?.commit]);
      assert.equal(last.tree, made[2]?.tree);
      assert.equal((await tryGit(['fsck', '--strict'], { cwd: bare })).code, 0);
    });
  }

  it('can be made with a key that was generated here', async () => {
    const { data, publicKey } = await generateSigningKey(
      volume.path,
      'gitops-reverser shop/fleet',
      process.env,
    );
    assert.match(publicKey, /^ssh-ed25519 [A-Za-z0-9+/=]+ gitops-reverser shop\/fleet$/);
    assert.equal((await signer(data)).publicKey, publicKey);
  });

  it('are refused with a broken key, a wrong passphrase, or a public key of another pair', async () => {
    const locked = await keyOf('ed25519', 'x1');
    const { 'signing.key': key = '' } = locked;
    const other = await generateSigningKey(volume.path, 'other', process.env);
    const refused: readonly (readonly [SecretData, RegExp])[] = [
      [{}, /signing.key is missing/],
      [{ 'signing.key': Buffer.from('no key').toString('base64') }, /no private key/],
      [{ 'signing.key': key }, /works without a passphrase/],
      [{ 'signing.key': key, passphrase: Buffer.from('x2').toString('base64') }, /fits the passphrase/],
      [{ ...locked, 'signing.pub': other.data['signing.pub'] ?? '' }, /not the public key/],
    ];
    for (const [data, pattern] of refused) {
      const read = await readSigner(data, volume.path, process.env);
      assert.ok(!read.ok);
      assert.equal(read.reason, 'SecretMalformed');
      assert.match(read.message, pattern);
    }
  });

  it('leave no key on the volume, and what a killed process left is cleared', async () => {
    const fixture = await openFor(nowhere);
    const key = await signer(await keyOf('ed25519', 'y'));
    const commits = [spec('x', [{ path: 'a', content: '1' }])];
    expectKind(await fixture.repository.commit({ branch: 'main', base: null, commits, signer: key }), 'ok');
    const names = [
      ...(await readdir(volume.path)),
      ...(await readdir(join(repositoryFolder(fixture.volume.path, nowhere.url), 'session'))),
    ];
    assert.deepEqual(
      names.filter((name) => name.startsWith('signing-') || name.startsWith('commits-')),
      [],
    );
    const left = join(volume.path, 'signing-of-a-killed-process');
    await mkdir(left);
    await generateSigningKey(volume.path, 'any', process.env);
    assert.ok(!existsSync(left));
  });
});
