import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../cluster/port.ts';
import { readFile, tip } from '../../cluster/repository.ts';
import { runOk } from '../../cluster/run.ts';
import { type SwallowingProxy, startSwallowingProxy } from '../../kube/swallowing-proxy.ts';
import { configMap, deployment } from '../shop.ts';
import { mirror, type Sidecar, startWorld, type World } from '../sidecar.ts';

const token = 'between-sidecar-and-plugin';

describe('an answer of the gate', function () {
  this.timeout(240_000);
  let world: World;
  let proxy: SwallowingProxy;
  let sidecar: Sidecar;
  let gateUrl: string;
  let bareDir: string;
  let asked = 0;

  before(async () => {
    world = await startWorld();
    const { port, hostname } = new URL(world.cluster.url);
    proxy = await startSwallowingProxy({ host: hostname, port: Number(port) });
    const config = JSON.parse(readFileSync(world.cluster.kubeconfig, 'utf8'));
    config.clusters[0].cluster.server = `https://127.0.0.1:${proxy.port}`;
    const kubeconfig = join(world.folder.path, 'proxied.kubeconfig');
    const tokenFile = join(world.folder.path, 'gate-token');
    writeFileSync(kubeconfig, JSON.stringify(config));
    writeFileSync(tokenFile, `${token}\n`);
    const gate = `127.0.0.1:${await freePort()}`;
    gateUrl = `http://${gate}`;
    sidecar = await world.start([
      ...['--kubeconfig', kubeconfig, '--gate-bind-address', gate, '--gate-token-file', tokenFile],
      ...['--git-timeout', '20s'],
    ]);
    const rates = configMap('rates', { eur: '1' });
    const files = { 'apps/shop/rates.yaml': rates, 'apps/shop/web.yaml': deployment('web') };
    const window = { commit: { window: { idleTimeout: '10m', maxDuration: '1h' } } };
    bareDir = await mirror(world, {
      name: 'shop',
      files,
      live: `${rates}---\n${deployment('web')}`,
      spec: window,
    });
  });
  after(async () => {
    await proxy?.close();
    await world?.stop();
  });

  async function ask(revision: string, changed: object = {}) {
    const question = {
      applier: 'argocd',
      // Another Application each time, so that none has a grant from before.
      application: { namespace: 'shop', name: `shop-${asked++}` },
      repoURL: world.git.url('shop'),
      targetRevision: 'main',
      revision,
      path: 'apps/shop',
      phase: 'presync',
      ...changed,
    };
    const answer = await fetch(`${gateUrl}/v1/gate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(question),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }
  const setRate = (eur: string) =>
    world.kubectl('patch', 'configmap', 'rates', '-n', 'shop', '-p', JSON.stringify({ data: { eur } }));

  it('is open while nothing is pending, and does not ask the remote for it', async () => {
    const at = (await tip(bareDir, 'main')) ?? '';
    await ask(at);
    world.git.clearRequests();
    const { status, body } = await ask(at);
    assert.deepEqual([status, body.decision, body.covered, body.tip], [200, 'open', true, at]);
    assert.deepEqual(world.git.requests, []);
  });

  it('names the edit that supersedes a revision, with its fields, commit and author', async () => {
    const before = (await tip(bareDir, 'main')) ?? '';
    await setRate('2');
    const { status, body } = await ask(before);
    assert.equal(status, 409);
    assert.equal(body.tip, await tip(bareDir, 'main'));
    assert.deepEqual(body.edits, [
      {
        target: 'shop/shop',
        object: 'ConfigMap/shop/rates',
        fields: ['data.eur'],
        commit: body.tip,
        author: 'kubectl-patch',
      },
    ]);
    assert.equal((await ask(body.tip)).status, 200);
  });

  it('covers an edit whose watch event never comes, because the stream has silently died', async () => {
    const before = (await tip(bareDir, 'main')) ?? '';
    proxy.swallow();
    await setRate('3');
    const { status, body } = await ask(before, { deadlineMs: 60_000 });
    assert.equal(status, 409, JSON.stringify(body));
    assert.match((await readFile(bareDir, body.tip, 'apps/shop/rates.yaml')) ?? '', /eur: "3"/);
  });

  it('covers a deleted and a created object whose events never come', async () => {
    proxy.swallow();
    await world.kubectl('delete', 'deployment', 'web', '-n', 'shop');
    await world.kubectl('create', 'configmap', 'fresh', '-n', 'shop', '--from-literal=a=b');
    const { status, body } = await ask((await tip(bareDir, 'main')) ?? '', { deadlineMs: 60_000 });
    assert.equal(status, 409, JSON.stringify(body));
    assert.equal(await readFile(bareDir, body.tip, 'apps/shop/web.yaml'), undefined);
    assert.match((await readFile(bareDir, body.tip, 'apps/shop/shop/configmaps/fresh.yaml')) ?? '', /a: b/);
  });

  it('is shared: ten questions at once make one commit and one push', async () => {
    const before = (await tip(bareDir, 'main')) ?? '';
    await setRate('4');
    world.git.clearRequests();
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(before)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([409]));
    assert.equal(new Set(answers.map(({ body }) => body.tip)).size, 1);
    const pushes = world.git.requests.filter(
      ({ method, service }) => method === 'POST' && service === 'git-receive-pack',
    );
    assert.equal(pushes.length, 1);
  });

  it('goes on publishing when the caller has gone', async () => {
    const before = await tip(bareDir, 'main');
    await setRate('5');
    world.git.setFault({ delayMs: 1_500 });
    const gone = new AbortController();
    const asking = fetch(`${gateUrl}/v1/gate`, {
      method: 'POST',
      signal: gone.signal,
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({
        applier: 'argocd',
        application: { namespace: 'shop', name: 'shop' },
        repoURL: world.git.url('shop'),
        targetRevision: 'main',
        revision: before,
        path: '',
        phase: 'render',
      }),
    });
    setTimeout(() => gone.abort(), 500);
    await assert.rejects(asking);
    world.git.setFault(undefined);
    const { body } = await ask((await tip(bareDir, 'main')) ?? '');
    assert.match((await readFile(bareDir, body.tip, 'apps/shop/rates.yaml')) ?? '', /eur: "5"/);
    assert.equal(await runOk('git', ['rev-list', '--count', `${before}..main`], { cwd: bareDir }), '1\n');
  });

  it('comes by its deadline when the git host hangs', async () => {
    await setRate('6');
    world.git.setFault('hang');
    const startedAt = performance.now();
    const { status, body } = await ask((await tip(bareDir, 'main')) ?? '', { deadlineMs: 2_000 });
    const took = performance.now() - startedAt;
    world.git.setFault(undefined);
    assert.deepEqual([status, body.reason], [423, 'Deadline']);
    assert.ok(took < 2_500, `${took}`);
  });

  it('is closed for a commit that the remote does not show, after one fetch', async () => {
    await ask((await tip(bareDir, 'main')) ?? '', { deadlineMs: 60_000 });
    world.git.clearRequests();
    const { status, body } = await ask('f'.repeat(40));
    assert.deepEqual([status, body.reason], [423, 'NotFresh']);
    const fetches = world.git.requests.filter(
      ({ method, service }) => method === 'GET' && service !== 'git-receive-pack',
    );
    assert.equal(fetches.length, 1);
  });

  it('refuses a wrong token, what is no question and what is too large, and goes on', async () => {
    const post = async (body: string, authorization = `Bearer ${token}`) => {
      const answer = await fetch(`${gateUrl}/v1/gate`, { method: 'POST', headers: { authorization }, body });
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
      const text = await answer.text();
      assert.doesNotMatch(text, new RegExp(token));
      return answer.status;
    };
    assert.equal(await post('{}', 'Bearer wrong'), 401);
    assert.equal(await post('{}', ''), 401);
    assert.equal(await post('{"applier": '), 400);
    assert.equal(await post('{"applier": "helm"}'), 400);
    assert.equal(await post(JSON.stringify({ path: 'x'.repeat(1_000_000) })), 413);
    assert.equal((await ask((await tip(bareDir, 'main')) ?? '')).status, 200);
    assert.doesNotMatch(sidecar.log(), new RegExp(token));
  });

  it('takes HEAD for the default branch, and opens for what nobody mirrors', async () => {
    const at = (await tip(bareDir, 'main')) ?? '';
    assert.equal((await ask(at, { targetRevision: 'HEAD' })).body.covered, true);
    for (const other of [
      { targetRevision: 'dev' },
      { path: 'apps/other' },
      { application: { namespace: 'else', name: 'x' } },
    ]) {
      assert.deepEqual((await ask(at, other)).body, { decision: 'open', covered: false });
    }
  });

  it('is closed while a collection cannot be read, and opens again', async () => {
    const at = (await tip(bareDir, 'main')) ?? '';
    await world.cluster.apiServer.kill();
    const { status, body } = await ask(at, { deadlineMs: 10_000 });
    assert.equal(status, 423);
    assert.match(body.reason, /NotFresh|Deadline/);
    await world.cluster.apiServer.restart();
    let opened = await ask(at, { deadlineMs: 10_000 });
    for (let tries = 0; tries < 30 && opened.status === 423; tries++)
      opened = await ask(at, { deadlineMs: 10_000 });
    assert.notEqual(opened.status, 423, JSON.stringify(opened.body));
    assert.ok(sidecar.pid > 0);
  });
});
