/** Two replicas of the real process: whoever is asked, the leader answers and only the leader writes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { installCrds } from '../../cluster/flux.ts';
import { freePort } from '../../cluster/port.ts';
import { log, readFile, tip } from '../../cluster/repository.ts';
import { until } from '../../cluster/wait.ts';
import { configMap, metric, patience } from '../shop.ts';
import { mirror, type Sidecar, startWorld, type World } from '../sidecar.ts';

const name = 'shop';
const rates = 'apps/shop/rates.yaml';
const artifact = 'the bytes of the artifact';

interface Replica {
  readonly sidecar: Sidecar;
  readonly gatePort: number;
  readonly doorPort: number;
}

describe('two replicas', function () {
  this.timeout(300_000);
  let world: World;
  let source: Server;
  let bareDir: string;
  let first: Replica;
  let second: Replica;

  before(async () => {
    world = await startWorld();
    await installCrds(world.cluster);
    source = createServer((_message, answer) => answer.end(artifact)).listen(0, '127.0.0.1');
    await once(source, 'listening');
    first = await start('first');
    await until('the first leads', async () => (await holder()) === 'first', patience);
    second = await start('second');
    bareDir = await mirror(world, {
      name,
      rules: [{ apiGroups: [''], resources: ['configmaps'] }],
      spec: { commit: { window: { idleTimeout: '30m', maxDuration: '1h' } } },
      files: { [rates]: configMap('rates', { eur: '1' }) },
      live: configMap('rates', { eur: '1' }),
    });
    await world.apply([
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata: { name, namespace: name },
        spec: { url: world.git.url(name), interval: '1h', ref: { branch: 'main' } },
      },
    ]);
  });
  after(async () => {
    source?.close();
    await world?.stop();
  });

  async function start(identity: string): Promise<Replica> {
    const [gatePort, doorPort] = [await freePort(), await freePort()];
    const dataDir = join(world.folder.path, identity);
    mkdirSync(dataDir, { recursive: true });
    const peerToken = join(world.folder.path, 'peer-token');
    writeFileSync(peerToken, 'token-of-the-replicas\n', { mode: 0o600 });
    const flags = [
      ...['--identity', identity, '--data-dir', dataDir],
      ...['--gate-bind-address', `127.0.0.1:${gatePort}`, '--gate-token-file', tokenFile(identity)],
      ...['--artifact-bind-address', `127.0.0.1:${doorPort}`],
      ...['--peer-bind-address', '127.0.0.1:0', '--peer-token-file', peerToken],
    ];
    return { sidecar: await world.start(flags, { elect: true }), gatePort, doorPort };
  }

  function tokenFile(identity: string): string {
    return join(world.folder.path, `${identity}-gate-token`);
  }

  async function holder(): Promise<string> {
    const path = 'jsonpath={.spec.holderIdentity}';
    return (await world.kubectl('get', 'lease', 'gitops-reverser', '-o', path)).trim();
  }

  /** The token is the one that the process made itself. */
  async function call({ gatePort }: Replica, identity: string, path: string, body?: object) {
    const token = readFileSync(tokenFile(identity), 'utf8').trim();
    const response = await fetch(`http://127.0.0.1:${gatePort}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  async function ask(replica: Replica, identity: string, revision: string, deadlineMs = 18_000) {
    return await call(replica, identity, '/v1/gate', {
      applier: 'argocd',
      application: { namespace: name, name },
      repoURL: world.git.url(name),
      targetRevision: 'main',
      revision,
      path: 'apps/shop',
      phase: 'render',
      deadlineMs,
    });
  }

  async function edit(eur: string): Promise<void> {
    await world.apply(configMap('rates', { eur }), ['-n', name]);
  }

  /** The GitRepository serves this commit. Returns the path that kustomize-controller would ask for. */
  async function serve(commit: string): Promise<string> {
    const path = `/gitrepository/${name}/${name}/${commit}.tar.gz`;
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}${path}`;
    const served = {
      url,
      path,
      revision: `main@sha1:${commit}`,
      digest: `sha256:${'0'.repeat(64)}`,
      lastUpdateTime: new Date().toISOString(),
    };
    const patch = JSON.stringify({ status: { artifact: served } });
    const kind = ['patch', 'gitrepository', name, '-n', name];
    await world.kubectl(...kind, '--subresource=status', '--type=merge', '-p', patch);
    return path;
  }

  const pushes = ({ sidecar }: Replica) => metric(sidecar, 'git_pushes_total', 'outcome="pushed"');
  const main = async () => (await tip(bareDir, 'main')) ?? '';

  it('the follower gives the leader’s decision, and writes nothing itself', async () => {
    const before = await main();
    assert.deepEqual((await ask(second, 'second', before)).body.decision, 'open');
    await edit('2');
    const { status, body } = await ask(second, 'second', before);
    assert.deepEqual([status, body.decision, body.tip], [409, 'superseded', await main()]);
    assert.notEqual(body.tip, before);
    assert.deepEqual(
      body.edits.map((one: { fields: string[] }) => one.fields.length),
      [1],
    );
    assert.deepEqual([await pushes(second), await holder()], [0, 'first']);
  });

  it('both asked at once publish an edit once', async () => {
    const before = await main();
    await edit('3');
    const answers = await Promise.all([
      ask(first, 'first', before),
      ask(second, 'second', before),
      ask(second, 'second', before),
    ]);
    assert.ok(
      answers.every(({ body }) => body.decision !== 'closed'),
      JSON.stringify(answers),
    );
    const history = await log(bareDir, 'main');
    assert.equal(
      history.findIndex(({ sha }) => sha === before),
      1,
      'one commit',
    );
    assert.match((await readFile(bareDir, 'main', rates)) ?? '', /eur: "3"/);
  });

  it('the follower flushes and tells of the leader’s state', async () => {
    await edit('4');
    const { status, body } = await call(second, 'second', '/v1/flush', { target: `${name}/${name}` });
    assert.deepEqual([status, body.tip, body.closed], [200, await main(), null]);
    assert.match((await readFile(bareDir, 'main', rates)) ?? '', /eur: "4"/);
    const state = (await call(second, 'second', '/v1/status')).body;
    assert.deepEqual([state.leading, state.ready], [false, true]);
  });

  it('an artifact passes the follower’s door as the leader says', async () => {
    const path = await serve(await main());
    const open = await fetch(`http://127.0.0.1:${second.doorPort}${path}`);
    assert.deepEqual([open.status, await open.text()], [200, artifact]);
    await edit('5');
    const old = await fetch(`http://127.0.0.1:${second.doorPort}${path}`);
    assert.equal(old.status, 404, await old.text());
    assert.match((await readFile(bareDir, 'main', rates)) ?? '', /eur: "5"/);
  });

  it('without a leader every door is closed and says so; a new leader opens them, and nothing is written twice', async () => {
    await edit('6');
    const before = await main();
    const artifactUrl = `http://127.0.0.1:${second.doorPort}${await serve(before)}`;
    process.kill(first.sidecar.pid, 'SIGSTOP');
    const frozen = await ask(second, 'second', before, 2_000);
    assert.deepEqual([frozen.status, frozen.body.reason], [423, 'LeaderUnreachable']);
    assert.match(frozen.body.message, /does not answer: no answer within 1950 ms/);
    await first.sidecar.kill('SIGKILL');
    const [{ status, body }, door] = await Promise.all([ask(second, 'second', before), fetch(artifactUrl)]);
    assert.deepEqual([status, body.decision, body.reason], [423, 'closed', 'LeaderUnreachable']);
    assert.match(body.message, /^replica first, which leads, at 127\.0\.0\.1:\d+, does not answer/);
    assert.equal(door.status, 423);
    assert.match(door.statusText, /^held by GitOps Reverser: LeaderUnreachable: replica first/);

    await until('the second leads', async () => (await holder()) === 'second', patience);
    const opened = await until(
      'the new leader answers',
      async () => {
        const answer = await ask(second, 'second', await main());
        return answer.body.decision === 'open' ? answer : undefined;
      },
      patience,
    );
    assert.equal(opened.body.covered, true);
    assert.match((await readFile(bareDir, 'main', rates)) ?? '', /eur: "6"/);
    const values = [];
    for (const { sha } of await log(bareDir, 'main'))
      values.push(/eur: "(\d)"/.exec((await readFile(bareDir, sha, rates)) ?? '')?.[1]);
    assert.deepEqual(values, ['6', '5', '4', '3', '2', '1'], 'each edit was committed once');
    const again = await start('first');
    const follower = await ask(again, 'first', await main());
    assert.deepEqual([follower.body.decision, await holder()], ['open', 'second']);
    assert.equal(await pushes(again), 0);
  });
});
