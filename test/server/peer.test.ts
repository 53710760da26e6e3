/** Two replicas as their listeners see each other: what a follower is asked, the leader answers, or nobody does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GateAnswer, GateQuestion } from '../../src/core/gate/index.ts';
import { refuse } from '../../src/core/refusal.ts';
import { type Gate, type GateServerResult, startGateServer } from '../../src/server/gate.ts';
import { startPeerServer } from '../../src/server/peer.ts';
import { type LeaderRecord, peerLeader } from '../../src/server/peer-leader.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { type Certificate, makeCertificate } from '../cluster/certificate.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';

const gateToken = 'token-of-the-gate';
const peerToken = 'token-of-the-replicas';
const log = silentLog();
const question = {
  applier: 'argocd',
  application: { namespace: 'argocd', name: 'shop' },
  repoURL: 'https://git.example.com/team/config',
  targetRevision: 'main',
  revision: 'a'.repeat(40),
  path: 'apps/shop',
  phase: 'render',
} as const satisfies GateQuestion;
const edit = { target: 'shop/shop', object: 'Deployment.apps/shop/web', fields: ['spec.replicas'] };
const superseded: GateAnswer = {
  decision: 'superseded',
  tip: 'c'.repeat(40),
  edits: [{ ...edit, commit: 'c'.repeat(40), author: 'alice' }],
  refused: [{ ...edit, reason: 'NotEditable' }],
};

type Started = Extract<GateServerResult, { kind: 'ok' }>;

function started(result: GateServerResult): Started {
  assert.ok(result.kind === 'ok', result.kind === 'failed' ? result.message : '');
  return result;
}

describe('a follower', () => {
  const open: { stop(): Promise<void> }[] = [];
  let leads: boolean;
  let answer: GateAnswer;
  let asked: { question: GateQuestion; deadlineMs: number }[];
  let record: LeaderRecord | undefined;
  let folder: Folder;
  let certificate: Certificate;

  before(async () => {
    folder = temporaryFolder('peers');
    certificate = await makeCertificate(folder.path);
  });
  after(() => folder.remove());
  beforeEach(() => {
    leads = true;
    answer = superseded;
    asked = [];
    record = undefined;
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.stop();
  });

  const gate: Gate = {
    async ask(one, deadlineMs) {
      asked.push({ question: one, deadlineMs });
      return answer;
    },
    async flush(target) {
      if (target !== 'shop/live') return undefined;
      return {
        tip: 'b'.repeat(40),
        published: [{ target, commit: 'b'.repeat(40) }],
        refused: [refuse('NotEditable', 'no', { path: 'a.yaml' })],
        pending: 0,
        closed: undefined,
      };
    },
    ready: () => true,
  };

  /** The leader's peer listener; `record` points to it. */
  async function startLeader(options: { tls?: Certificate; token?: string } = {}): Promise<void> {
    const peer = started(
      await startPeerServer({
        address: { host: '127.0.0.1', port: 0 },
        tls: options.tls,
        token: async () => options.token ?? peerToken,
        gate: () => (leads ? gate : undefined),
        door: () => {
          if (!leads) return undefined;
          return {
            decide: async (name, path) => ({
              kind: 'pass',
              url: `http://flux${path}?${name.namespace}.${name.name}`,
            }),
          };
        },
        version: '1.2.3',
        log,
      }),
    );
    open.push(peer);
    record = { identity: 'replica-a', address: `127.0.0.1:${peer.port}` };
  }

  function leaderSeen(tls?: { caFile: string; serverName: string }) {
    return peerLeader({ leader: () => record, token: async () => peerToken, tls, log });
  }

  /** The follower's gate listener, asked the way a plugin does. */
  async function call(path: string, body?: object) {
    const follower = started(
      await startGateServer({
        address: { host: '127.0.0.1', port: 0 },
        token: async () => gateToken,
        gate: () => undefined,
        leader: leaderSeen(),
        version: '1.2.3',
        log,
      }),
    );
    open.push(follower);
    const response = await fetch(`http://127.0.0.1:${follower.port}${path}`, {
      headers: { authorization: `Bearer ${gateToken}` },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  }

  /** Something that is no replica of ours. */
  async function startOther(serve: RequestListener): Promise<void> {
    const server: Server = createServer(serve);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({
      async stop() {
        server.closeAllConnections();
        server.close();
      },
    });
    record = { identity: 'replica-a', address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  it('gives the leader’s answer, with every edit, its status and less time than it has itself', async () => {
    await startLeader();
    const { status, body } = await call('/v1/gate', { ...question, deadlineMs: 5_000 });
    assert.deepEqual([status, body], [409, superseded]);
    assert.deepEqual(asked, [{ question, deadlineMs: 4_750 }]);
  });

  it('gives the leader’s word on when to ask again', async () => {
    await startLeader();
    answer = { decision: 'closed', reason: 'PushRefused', message: 'protected', retryAfterMs: 15_000 };
    const { status, body, headers } = await call('/v1/gate', question);
    assert.deepEqual([status, body, headers.get('retry-after')], [423, answer, '15']);
  });

  it('flushes through the leader, and knows a GitTarget that does not run there', async () => {
    await startLeader();
    const { status, body } = await call('/v1/flush', { target: 'shop/live' });
    assert.equal(status, 200);
    assert.deepEqual(body.published, [{ target: 'shop/live', commit: 'b'.repeat(40) }]);
    assert.deepEqual(body.refused, [{ object: 'a.yaml', reason: 'NotEditable', message: 'no' }]);
    assert.equal((await call('/v1/flush', { target: 'shop/other' })).status, 404);
  });

  it('is ready while the leader is, and never says that it leads', async () => {
    assert.deepEqual((await call('/v1/status')).body.ready, false);
    await startLeader();
    const { body } = await call('/v1/status');
    assert.deepEqual([body.leading, body.ready], [false, true]);
  });

  it('serves an artifact where the leader says', async () => {
    await startLeader();
    const decided = await leaderSeen().decide(
      { namespace: 'shop', name: 'web' },
      '/gitrepository/shop/web/a',
    );
    assert.deepEqual(decided, { kind: 'pass', url: 'http://flux/gitrepository/shop/web/a?shop.web' });
  });

  const unreachable: [string, () => Promise<void> | void, RegExp][] = [
    ['nobody leads', () => undefined, /no replica leads/],
    [
      'the leader has no peer listener',
      () => {
        record = { identity: 'replica-a', address: undefined };
      },
      /replica replica-a leads and has no peer listener; set --peer-bind-address/,
    ],
    [
      'the address is more than an address',
      () => {
        record = { identity: 'replica-a', address: 'user@127.0.0.1:1/path?' };
      },
      /no usable address/,
    ],
    [
      'nothing listens there',
      async () => {
        await startLeader();
        await open.pop()?.stop();
      },
      /replica-a, which leads, at 127\.0\.0\.1:\d+, does not answer: .*ECONNREFUSED/,
    ],
    [
      'it has another token',
      () => startLeader({ token: 'other' }),
      /has another token in its --peer-token-file/,
    ],
    ['it speaks TLS and we do not', () => startLeader({ tls: certificate }), /does not answer/],
    ['it closes the connection', () => startOther((message) => message.socket.destroy()), /does not answer/],
    ['it never answers', () => startOther(() => undefined), /no answer within 950 ms/],
    [
      'it answers something else',
      () => startOther((_message, answered) => answered.end('{"decision":"open"}')),
      /not understood/,
    ],
    ['it answers no JSON', () => startOther((_message, answered) => answered.end('<html>')), /not JSON/],
    [
      'its answer has no end',
      () =>
        startOther((_message, answered) => {
          const more = () => {
            while (answered.write('x'.repeat(65_536)));
          };
          answered.on('drain', more);
          more();
        }),
      /too large/,
    ],
    [
      'it fails',
      () =>
        startOther((_message, answered) => {
          answered.statusCode = 500;
          answered.end('{}');
        }),
      /answered 500; do all replicas run the same version/,
    ],
  ];
  for (const [what, arrange, words] of unreachable) {
    it(`is closed as LeaderUnreachable, in time, when ${what}`, async () => {
      await arrange();
      const { status, body } = await call('/v1/gate', { ...question, deadlineMs: 1_000 });
      assert.deepEqual([status, body.decision, body.reason], [423, 'closed', 'LeaderUnreachable']);
      assert.match(body.message, words);
      assert.doesNotMatch(body.message, new RegExp(`${peerToken}|${gateToken}`));
      const flushed = await call('/v1/flush', { target: 'shop/live', deadlineMs: 1_000 });
      assert.deepEqual([flushed.status, flushed.body.reason], [423, 'LeaderUnreachable']);
    });
  }

  it('counts what was answered and what was not', async () => {
    const told: string[] = [];
    const counted = (call: string, result: string) => told.push(`${call} ${result}`);
    const seen = peerLeader({
      leader: () => record,
      token: async () => peerToken,
      tls: undefined,
      log,
      counted,
    });
    await seen.ready();
    await startLeader();
    await seen.gate(question, 1_000);
    await seen.flush('shop/other', 1_000);
    assert.deepEqual(told, ['status unreachable', 'gate answered', 'flush answered']);
  });

  it('locks an artifact with the reason when nobody can be asked', async () => {
    const decided = await leaderSeen().decide(
      { namespace: 'shop', name: 'web' },
      '/gitrepository/shop/web/a',
    );
    assert.ok(decided.kind === 'locked');
    assert.match(decided.message, /^held by GitOps Reverser: LeaderUnreachable: no replica leads/);
  });

  it('is not answered by a replica that does not lead, and that one asks nobody else', async () => {
    await startLeader();
    leads = false;
    assert.equal((await call('/v1/gate', question)).body.reason, 'LeaderUnreachable');
    const decided = await leaderSeen().decide(
      { namespace: 'shop', name: 'web' },
      '/gitrepository/shop/web/a',
    );
    assert.match(decided.kind === 'locked' ? decided.message : '', /does not lead any more/);
    assert.deepEqual(asked, []);
  });

  it('over TLS trusts only its authority, and only the name all replicas share', async () => {
    await startLeader({ tls: certificate });
    const name = { namespace: 'shop', name: 'web' };
    const path = '/gitrepository/shop/web/a';
    const { caFile } = certificate;
    const right = await leaderSeen({ caFile, serverName: 'kubernetes.default.svc' }).decide(name, path);
    assert.equal(right.kind, 'pass');
    const elsewhere = await leaderSeen({ caFile, serverName: 'gitops-reverser.other.svc' }).decide(
      name,
      path,
    );
    assert.match(elsewhere.kind === 'locked' ? elsewhere.message : '', /does not match certificate/);
    const other = await makeCertificate(temporaryFolderIn());
    const foreign = { caFile: other.caFile, serverName: 'kubernetes.default.svc' };
    const untrusted = await leaderSeen(foreign).decide(name, path);
    assert.match(untrusted.kind === 'locked' ? untrusted.message : '', /LeaderUnreachable.*certificate/);
  });

  it('gets no answer without the token of the replicas: the token of the gate is another one', async () => {
    await startLeader();
    const ask = (token: string) =>
      fetch(`http://${record?.address}/v1/door`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: '{}',
      });
    assert.equal((await ask(gateToken)).status, 401);
    assert.equal((await ask(peerToken)).status, 400);
  });

  function temporaryFolderIn(): string {
    const other = temporaryFolder('peers-other');
    open.push({ stop: () => other.remove() });
    return other.path;
  }
});
