import assert from 'node:assert/strict';
import { routeSourceOf } from '../../src/appliers/flux-routes.ts';
import { CommitTrust } from '../../src/controllers/commit-trust.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { KubeClient, ObjectResult } from '../../src/kube/client.ts';
import { ManualClock } from '../kube/manual-clock.ts';

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOurs gitops-reverser shop/git';

function source(verify: JsonObject | undefined) {
  const spec = { url: 'https://git.example.org/shop', ...(verify === undefined ? {} : { verify }) };
  return routeSourceOf({ metadata: { namespace: 'shop', name: 'config' }, spec });
}

const verifying = source({ mode: 'HEAD', secretRef: { name: 'authors' } });

function secret(data: Readonly<Record<string, string>>): ObjectResult {
  const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  return { kind: 'ok', object: { data: Object.fromEntries(encoded) } };
}

function trustWith(answer: ObjectResult) {
  const asked: string[] = [];
  const client = {
    get: async ({ namespace, name }) => {
      asked.push(`${namespace}/${name}`);
      return answer;
    },
  } satisfies Pick<KubeClient, 'get'>;
  const clock = new ManualClock();
  return { trust: new CommitTrust(client as Partial<KubeClient> as KubeClient, clock), asked };
}

describe('whether Flux takes our commits', () => {
  it('is no question where no GitRepository verifies commits', async () => {
    const { trust, asked } = trustWith(secret({}));
    const tagsOnly = source({ mode: 'Tag', secretRef: { name: 'authors' } });
    assert.equal(await trust.finding([source(undefined), tagsOnly], { publicKey }), undefined);
    assert.deepEqual(asked, []);
  });

  it('is said before the first commit when the GitProvider signs none', async () => {
    const found = await trustWith(secret({})).trust.finding([verifying], { publicKey: undefined });
    assert.equal(found?.reason, 'NotSigned');
    assert.match(found?.message ?? '', /shop\/config .*spec\.commit\.signing/);
  });

  const rows: readonly [string, ObjectResult, string][] = [
    ['its key', secret({ 'ours.sshpub': `# ours\n${publicKey}\n` }), 'Succeeded'],
    [
      'its key under another comment',
      secret({ 'a.sshpub': publicKey.replace(' gitops', ' x') }),
      'Succeeded',
    ],
    ['its key with options', secret({ 'a.sshpub': `namespaces="git" ${publicKey}` }), 'Succeeded'],
    ['another key', secret({ 'a.sshpub': publicKey.replace('IOurs', 'IOther') }), 'KeyNotTrusted'],
    ['its key, commented out', secret({ 'a.sshpub': `# ${publicKey}` }), 'KeyNotTrusted'],
    ['its key under a name Flux does not read', secret({ 'a.pub': publicKey }), 'KeyNotTrusted'],
    ['PGP keys only', secret({ 'a.asc': publicKey }), 'KeyNotTrusted'],
    ['nothing', { kind: 'ok', object: {} }, 'KeyNotTrusted'],
  ];
  for (const [name, answer, wanted] of rows) {
    it(`is ${wanted} when the Secret holds ${name}`, async () => {
      const { trust, asked } = trustWith(answer);
      const found = await trust.finding([verifying], { publicKey });
      assert.equal(found?.reason, wanted);
      assert.deepEqual(asked, ['shop/authors']);
      assert.doesNotMatch(found?.message ?? '', /AAAA/);
    });
  }

  it('names a Secret that does not exist, and is unknown for one that cannot be read', async () => {
    const missing = { kind: 'not-found', message: '' } satisfies ObjectResult;
    const gone = await trustWith(missing).trust.finding([verifying], { publicKey });
    assert.equal(gone?.reason, 'KeyNotTrusted');
    assert.match(gone?.message ?? '', /Secret shop\/authors does not exist/);
    const silent = { kind: 'unreachable', message: 'no answer' } satisfies ObjectResult;
    assert.equal((await trustWith(silent).trust.finding([verifying], { publicKey }))?.reason, 'TrustUnknown');
    assert.equal((await trustWith(silent).trust.finding([verifying], undefined))?.reason, 'TrustUnknown');
  });
});
