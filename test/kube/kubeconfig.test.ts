import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/core/json.ts';
import { printJson } from '../../src/core/json.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import {
  type KubeConfigPolicy,
  type KubeConfigResult,
  loadKubeConfig,
  strictPolicy,
} from '../../src/kube/kubeconfig.ts';
import { createTransport } from '../../src/kube/transport.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { type FaultServer, plainKubeconfig, sendJson, sendStatus, startFaultServer } from './fault-server.ts';
import { eventually, ManualClock } from './manual-clock.ts';

const namespace = { group: '', version: 'v1', resource: 'namespaces', namespace: '', name: 'shop' } as const;

function kubeconfig(user: JsonObject = {}, cluster: JsonObject = {}, context: JsonObject = {}): string {
  return printJson({
    'current-context': 'here',
    contexts: [
      { name: 'other', context: { cluster: 'none', user: 'none' } },
      { name: 'here', context: { cluster: 'c', user: 'u', ...context } },
    ],
    clusters: [{ name: 'c', cluster: { server: 'https://api.example.org', ...cluster } }],
    users: [
      { name: 'unused', user: { exec: { command: 'never' } } },
      { name: 'u', user },
    ],
  });
}

function load(text: string, policy: Partial<KubeConfigPolicy> = {}): KubeConfigResult {
  return loadKubeConfig({ from: 'text', text }, { ...strictPolicy, ...policy });
}

function reason(result: KubeConfigResult): string {
  return result.ok ? 'accepted' : result.reason;
}

describe('a kubeconfig of others', () => {
  it('is accepted with data and a token in it', () => {
    const result = load(kubeconfig({ token: 'secret' }, { 'certificate-authority-data': 'AAAA' }));
    assert.equal(reason(result), 'accepted');
    assert.equal(result.ok && result.config.getCurrentCluster()?.server, 'https://api.example.org');
  });

  for (const [refusal, allow, user, cluster] of [
    ['KubeConfigExecNotAllowed', 'allowExec', { exec: { command: 'sh' } }, {}],
    [
      'KubeConfigExecNotAllowed',
      'allowExec',
      { 'auth-provider': { name: 'gcp', config: { 'cmd-path': 'sh' } } },
      {},
    ],
    ['KubeConfigInsecureTLSNotAllowed', 'allowInsecureTLS', {}, { 'insecure-skip-tls-verify': true }],
    ['KubeConfigInsecureTLSNotAllowed', 'allowInsecureTLS', {}, { server: 'http://api.example.org' }],
    ['KubeConfigFileReferenceNotAllowed', 'allowFileReferences', { tokenFile: '/etc/token' }, {}],
    ['KubeConfigFileReferenceNotAllowed', 'allowFileReferences', { 'token-file': '/etc/token' }, {}],
    ['KubeConfigFileReferenceNotAllowed', 'allowFileReferences', { 'client-key': 'key.pem' }, {}],
    ['KubeConfigFileReferenceNotAllowed', 'allowFileReferences', { 'client-certificate': 'cert.pem' }, {}],
    ['KubeConfigFileReferenceNotAllowed', 'allowFileReferences', {}, { 'certificate-authority': 'ca.pem' }],
  ] as const) {
    it(`is refused with ${refusal} for ${printJson({ ...user, ...cluster })} unless opted in`, () => {
      const text = kubeconfig(user, cluster);
      assert.equal(reason(load(text)), refusal);
      assert.equal(reason(load(text, { [allow]: true })), 'accepted');
    });
  }

  for (const [story, text] of [
    ['is no YAML', ':\n\t- ]'],
    ['is no mapping', 'just text'],
    ['has no current context', '{"contexts":[]}'],
    ['names a missing user', kubeconfig({}, {}, { user: 'absent' })],
    ['names a missing cluster', kubeconfig({}, {}, { cluster: 'absent' })],
    ['has a server that is no URL', kubeconfig({}, { server: 'nowhere' })],
    ['asks for impersonation we cannot do', kubeconfig({ as: 'x', 'as-groups': ['system:masters'] })],
    ['is larger than a megabyte', `# ${'x'.repeat(1024 * 1024)}\n${kubeconfig()}`],
  ] as const) {
    it(`is invalid when it ${story}`, () => assert.equal(reason(load(text)), 'KubeConfigInvalid'));
  }

  it('is never quoted in a message', () => {
    const result = load('users: [{name: u, user: {token: hunter2}}\n  broken: : :');
    assert.equal(result.ok, false);
    assert.equal(printJson(result.ok ? '' : result.message).includes('hunter2'), false);
  });

  it('that is not a pod says so in the pod form', () => {
    const result = loadKubeConfig({ from: 'in-cluster' }, strictPolicy);
    assert.equal(reason(result), 'KubeConfigInvalid');
  });
});

describe('the credentials of a kubeconfig', () => {
  let server: FaultServer;
  let folder: Folder;
  let valid = '';
  const clock = new ManualClock();

  beforeEach(async () => {
    folder = temporaryFolder('kubeconfig');
    server = await startFaultServer(({ headers }, response) => {
      if (headers.authorization === `Bearer ${valid}`) sendJson(response, { kind: 'Namespace' });
      else sendStatus(response, 401, 'Unauthorized');
    });
  });
  afterEach(async () => {
    await server.close();
    await folder.remove();
  });

  function clientOfFile(user: JsonObject) {
    const path = join(folder.path, 'config');
    writeFileSync(path, plainKubeconfig(server.url, user));
    const open = () => {
      const loaded = loadKubeConfig(
        { from: 'file', path },
        { ...strictPolicy, allowInsecureTLS: true, allowFileReferences: true },
      );
      return loaded.ok ? loaded.config : assert.fail(loaded.message);
    };
    return createKubeClient({ transport: createTransport(open, clock), version: '0', clock });
  }

  it('follow a token file that rotates, newline and relative path included', async () => {
    const tokenFile = join(folder.path, 'token');
    valid = 'first';
    writeFileSync(tokenFile, 'first\n');
    const client = clientOfFile({ tokenFile: 'token' });
    assert.equal((await client.get(namespace)).kind, 'ok');
    valid = 'second';
    writeFileSync(tokenFile, 'second\n');
    clock.advance(5000);
    assert.equal((await client.get(namespace)).kind, 'ok');
    assert.equal(server.requests.length, 3);
  });

  it('are read again from the file after a 401', async () => {
    valid = 'first';
    const client = clientOfFile({ token: 'first' });
    assert.equal((await client.get(namespace)).kind, 'ok');
    valid = 'second';
    writeFileSync(join(folder.path, 'config'), plainKubeconfig(server.url, { token: 'second' }));
    clock.advance(5000);
    assert.equal((await client.get(namespace)).kind, 'ok');
  });

  it('that stay wrong are an answer, not a loop', async () => {
    valid = 'something else';
    const client = clientOfFile({ token: 'wrong' });
    clock.advance(5000);
    assert.equal((await client.get(namespace)).kind, 'unauthorized');
    clock.advance(5000);
    assert.equal((await client.get(namespace)).kind, 'unauthorized');
    assert.equal(server.requests.length <= 3, true);
  });

  it('come from a plugin only so long as it answers in time', async () => {
    const folderOfPlugin = join(folder.path, 'plugin');
    writeFileSync(folderOfPlugin, '#!/bin/sh\nexec sleep 1\n', { mode: 0o700 });
    const text = plainKubeconfig(server.url, { exec: { command: folderOfPlugin, args: [] } });
    const loaded = loadKubeConfig(
      { from: 'text', text },
      { ...strictPolicy, allowInsecureTLS: true, allowExec: true },
    );
    const config = loaded.ok ? loaded.config : assert.fail(loaded.message);
    const client = createKubeClient({ transport: createTransport(() => config, clock), version: '0', clock });
    const result = client.get(namespace, { deadlineMs: 3000 });
    await eventually('both deadlines', () => clock.waiting().length === 2);
    clock.advance(3000);
    assert.deepEqual(await result, {
      kind: 'unreachable',
      message: 'get namespaces/shop: no answer within 3000 ms',
    });
    clock.advance(30_000);
    assert.equal(server.requests.length, 0);
  });

  it('that cannot be read are unreachable, without their content', async () => {
    const client = clientOfFile({ tokenFile: 'absent' });
    const result = await client.get(namespace);
    assert.equal(result.kind, 'unreachable');
    assert.match(
      'message' in result ? result.message : '',
      /credentials of the kubeconfig cannot be read \(ENOENT\)/,
    );
  });
});
