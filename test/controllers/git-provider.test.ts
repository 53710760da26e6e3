/** GitProviders against a real git server and a real sshd. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { type SshServer, sshServerMissing, startSshServer } from '../cluster/ssh-server.ts';
import { until } from '../cluster/wait.ts';
import type { Observed, Running } from './running.ts';
import { gitProvider, gitTarget, kubeProvider, login, secret } from './samples.ts';
import { startScene, stopScene } from './scene.ts';

const requestedAt = 'reconcile.configbutler.ai/requestedAt';

describe('a GitProvider on a real API server', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this, {
      users: { [login.username]: login.password },
      running: { flags: { insecureAllowGitHttp: true, gitTimeout: '3s' } },
    }));
    await running.apply(kubeProvider('default'), secret('git-login', login));
  });
  after(() => stopScene({ git, running }));

  function message(object: Observed): string {
    return object.status.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  }

  it('is verified by asking the remote, and an empty repository is one', async () => {
    await running.apply(gitProvider('git', git.url('shop'), { secretRef: { name: 'git-login' } }));
    const provider = await running.condition('gitprovider', 'git', 'Ready=True/Succeeded');
    assert.ok(typeof provider.status.lastVerifiedAt === 'string');
    assert.deepEqual(await running.events('git'), ['Normal Succeeded']);
  });

  it('says that wrong credentials are refused, and never shows them', async () => {
    await running.apply(
      secret('wrong-login', { username: 'alice', password: 'guess-my-name' }),
      gitProvider('wrong', git.url('shop'), { secretRef: { name: 'wrong-login' } }),
    );
    const provider = await running.condition('gitprovider', 'wrong', 'Stalled=True/ConnectionFailed');
    assert.match(message(provider), /^AuthenticationFailed: /);
    assert.doesNotMatch(JSON.stringify(provider.status), /guess-my-name/);
    await until('its Event', async () =>
      (await running.events('wrong')).includes('Warning ConnectionFailed'),
    );
  });

  it('stops its targets when the Secret is deleted, and starts them when it returns', async () => {
    await running.apply(
      secret('rotating', login),
      gitProvider('rotating', git.url('shop'), { secretRef: { name: 'rotating' } }),
    );
    await running.apply(gitTarget('rotated', 'rotated', { gitProviderRef: { name: 'rotating' } }));
    await until('the target to run', () => running.mirror.spec('shop/rotated'));
    await running.remove('secret', 'rotating', '-n', 'shop');
    await running.annotate('gitprovider', 'rotating', requestedAt, 'gone');
    const provider = await running.condition('gitprovider', 'rotating', 'Stalled=True/SecretNotFound');
    assert.equal(message(provider), 'there is no Secret shop/rotating');
    await until('the target to be taken out', () => running.mirror.spec('shop/rotated') === undefined);
    await running.condition('gittarget', 'rotated', 'GitProviderReady=False/GitProviderNotReady');
    await running.apply(secret('rotating', login));
    await running.annotate('gitprovider', 'rotating', requestedAt, 'back');
    await running.condition('gitprovider', 'rotating', 'Ready=True/Succeeded');
    await until('the target to run again', () => running.mirror.spec('shop/rotated'));
  });

  it('reads a Secret by its name only: no list, no watch', async () => {
    const asked = running.requests.filter(({ path }) => path.includes('/secrets'));
    assert.ok(asked.length > 0);
    assert.ok(
      asked.every(
        ({ method, path }) => method === 'GET' && /\/namespaces\/[^/]+\/secrets\/[^/?]+$/.test(path),
      ),
    );
  });

  it('with a remote that hangs holds up no other one', async () => {
    const healthy = await startGitServer();
    await healthy.createRepository('fine');
    git.setFault('hang');
    try {
      const hanging = [1, 2, 3, 4, 5, 6].map((number) =>
        gitProvider(`hangs-${number}`, git.url('shop'), { secretRef: { name: 'git-login' } }),
      );
      await running.apply(...hanging);
      await running.condition('gitprovider', 'hangs-1', 'Ready=Unknown/Checking');
      await running.apply(gitProvider('fine', healthy.url('fine')));
      await running.condition('gitprovider', 'fine', 'Ready=True/Succeeded');
      const provider = await running.condition('gitprovider', 'hangs-6', 'Stalled=True/ConnectionFailed');
      assert.match(message(provider), /^TimedOut: /);
    } finally {
      git.setFault(undefined);
      await healthy.stop();
    }
  });

  it('keeps targets that ran when the remote fails later', async () => {
    await running.apply(gitTarget('steady', 'steady'));
    await until('the target to run', () => running.mirror.spec('shop/steady'));
    git.setFault('refuse');
    try {
      await running.annotate('gitprovider', 'git', requestedAt, 'now');
      await running.condition('gitprovider', 'git', 'Stalled=True/ConnectionFailed');
      await running.condition('gittarget', 'steady', 'GitProviderReady=False/GitProviderNotReady');
      assert.ok(running.mirror.spec('shop/steady'));
    } finally {
      git.setFault(undefined);
    }
    await running.annotate('gitprovider', 'git', requestedAt, 'again');
    await running.condition('gittarget', 'steady', 'Ready=True/Succeeded');
  });

  describe('with a signing key', () => {
    const signed = (name: string, generateWhenMissing: boolean) =>
      gitProvider(name, git.url('shop'), {
        secretRef: { name: 'git-login' },
        commit: { signing: { secretRef: { name: `${name}-key` }, generateWhenMissing } },
      });

    it('that does not exist: names the Secret', async () => {
      await running.apply(signed('unsigned', false));
      const provider = await running.condition('gitprovider', 'unsigned', 'Stalled=True/SecretNotFound');
      assert.match(message(provider), /Secret shop\/unsigned-key/);
    });

    it('that is none: says so, without its text', async () => {
      await running.apply(
        secret('broken-key', { 'signing.key': 'not-a-key-at-all' }),
        signed('broken', false),
      );
      const provider = await running.condition('gitprovider', 'broken', 'Stalled=True/CommitConfigInvalid');
      assert.doesNotMatch(JSON.stringify(provider.status), /not-a-key-at-all/);
    });

    it('to be made: needs the right to write it, then tells the public key', async () => {
      await running.apply(signed('made', true));
      const before = await running.condition('gitprovider', 'made', 'Stalled=True/CommitConfigInvalid');
      assert.match(
        message(before),
        /cannot be stored in Secret shop\/made-key: .*secrets.*forbidden|forbidden/,
      );
      await running.kubectl(
        'create',
        'role',
        'keys',
        '-n',
        'shop',
        '--verb=create,update',
        '--resource=secrets',
      );
      await running.kubectl('create', 'rolebinding', 'keys', '-n', 'shop', '--role=keys', '--user=carol');
      await running.annotate('gitprovider', 'made', requestedAt, 'now');
      const provider = await running.condition('gitprovider', 'made', 'Ready=True/Succeeded');
      assert.match(String(provider.status.signingPublicKey), /^ssh-ed25519 AAAA/);
      const stored = JSON.parse(
        await running.kubectl('get', 'secret', 'made-key', '-n', 'shop', '-o', 'json'),
      );
      assert.deepEqual(Object.keys(stored.data).sort(), ['signing.key', 'signing.pub']);
      await running.annotate('gitprovider', 'made', requestedAt, 'once more');
      await until('the key to stay', async () => {
        const again = await running.get('gitprovider', 'made');
        return again.status.signingPublicKey === provider.status.signingPublicKey;
      });
    });
  });

  describe('over ssh', () => {
    let ssh: SshServer;
    before(async function () {
      const missing = sshServerMissing();
      if (missing !== undefined) {
        console.log(`      skipped: ${missing}`);
        this.skip();
      }
      ssh = await startSshServer();
      await ssh.createRepository('shop');
    });
    after(async () => ssh?.stop());

    const key = () => readFileSync(ssh.clientKeyFile, 'utf8');
    const strange = () =>
      ssh.knownHosts.replace(
        / \S+ \S+$/,
        ' ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      );

    it('is refused without any known host key', async () => {
      await running.apply(
        secret('ssh-bare', { 'ssh-privatekey': key() }),
        gitProvider('ssh-bare', ssh.url('shop'), { secretRef: { name: 'ssh-bare' } }),
      );
      const provider = await running.condition('gitprovider', 'ssh-bare', 'Stalled=True/SecretMalformed');
      assert.match(message(provider), /no known host keys/);
    });

    it('is refused under a strange host key', async () => {
      await running.apply(
        secret('ssh-strange', { 'ssh-privatekey': key(), known_hosts: strange() }),
        gitProvider('ssh-strange', ssh.url('shop'), { secretRef: { name: 'ssh-strange' } }),
      );
      const provider = await running.condition('gitprovider', 'ssh-strange', 'Stalled=True/ConnectionFailed');
      assert.match(message(provider), /^HostKeyUnknown: /);
    });

    it('works with the host key from a ConfigMap', async () => {
      await running.apply(
        secret('ssh-key', { 'ssh-privatekey': key() }),
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'hosts', namespace: 'shop' },
          data: { known_hosts: ssh.knownHosts },
        },
        gitProvider('ssh', ssh.url('shop'), {
          secretRef: { name: 'ssh-key' },
          knownHostsRef: { name: 'hosts' },
        }),
      );
      await running.condition('gitprovider', 'ssh', 'Ready=True/Succeeded');
    });

    it('says which ConfigMap is missing or broken', async () => {
      await running.apply(
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'broken-hosts', namespace: 'shop' },
          data: { known_hosts: 'nonsense' },
        },
        gitProvider('ssh-gone', ssh.url('shop'), {
          secretRef: { name: 'ssh-key' },
          knownHostsRef: { name: 'no-hosts' },
        }),
        gitProvider('ssh-broken', ssh.url('shop'), {
          secretRef: { name: 'ssh-key' },
          knownHostsRef: { name: 'broken-hosts' },
        }),
      );
      const gone = await running.condition('gitprovider', 'ssh-gone', 'Stalled=True/SecretNotFound');
      assert.equal(message(gone), 'there is no ConfigMap shop/no-hosts');
      const broken = await running.condition('gitprovider', 'ssh-broken', 'Stalled=True/SecretMalformed');
      assert.match(message(broken), /ConfigMap shop\/broken-hosts: line 1/);
    });
  });
});
