import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import type { GateAnswer, GateQuestion } from '../../src/core/gate/index.ts';
import { type Gate, type GateServerResult, startGateServer } from '../../src/server/gate.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { temporaryFolder } from '../cluster/folder.ts';

const token = 'correct-horse';
const question = {
  applier: 'argocd',
  application: { namespace: 'argocd', name: 'shop' },
  repoURL: 'https://git.example.com/team/config',
  targetRevision: 'main',
  revision: 'a'.repeat(40),
  path: 'apps/shop',
  phase: 'render',
  deadlineMs: 5_000,
};
const open: GateAnswer = { decision: 'open', covered: false };

describe('the gate’s HTTP interface', () => {
  let started: Extract<GateServerResult, { kind: 'ok' }>;
  let answer: GateAnswer = open;
  let asked: { question: GateQuestion; deadlineMs: number } | undefined;
  let secret: string | undefined = token;
  let leading = true;
  const gate: Gate = {
    async ask(one, deadlineMs) {
      asked = { question: one, deadlineMs };
      return answer;
    },
    async flush(target) {
      if (target !== 'shop/live') return undefined;
      return { tip: 'b'.repeat(40), published: [], refused: [], pending: 0, closed: undefined };
    },
    ready: () => true,
  };
  const options = {
    token: async () => secret,
    gate: () => (leading ? gate : undefined),
    version: '1.2.3',
    log: silentLog(),
  };

  before(async () => {
    const result = await startGateServer({ ...options, address: { host: '127.0.0.1', port: 0 } });
    assert.ok(result.kind === 'ok');
    started = result;
  });
  after(() => started?.stop());
  beforeEach(() => {
    answer = open;
    asked = undefined;
    secret = token;
    leading = true;
  });

  async function call(path: string, body?: unknown, headers: Record<string, string> = {}) {
    const answered = await fetch(`http://127.0.0.1:${started.port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const type = answered.headers.get('content-type') ?? '';
    return {
      status: answered.status,
      type,
      headers: answered.headers,
      body: JSON.parse(await answered.text()),
    };
  }

  it('hands the question on with its deadline, and answers open with 200', async () => {
    const { status, body } = await call('/v1/gate', question);
    assert.deepEqual([status, body], [200, open]);
    const { deadlineMs, ...rest } = question;
    assert.deepEqual(asked, { question: rest, deadlineMs });
  });

  it('answers superseded with 409 and the edits', async () => {
    answer = { decision: 'superseded', tip: 'c'.repeat(40), edits: [], refused: [] };
    const { status, body } = await call('/v1/gate', question);
    assert.deepEqual([status, body], [409, answer]);
  });

  it('answers closed with 423, and says when to ask again', async () => {
    answer = { decision: 'closed', reason: 'PushRefused', message: 'protected branch', retryAfterMs: 15_000 };
    const { status, body, headers } = await call('/v1/gate', question);
    assert.deepEqual([status, body, headers.get('retry-after')], [423, answer, '15']);
  });

  it('is closed while another replica leads', async () => {
    leading = false;
    const { status, body } = await call('/v1/gate', question);
    assert.deepEqual([status, body.reason], [423, 'LeaderUnreachable']);
    assert.equal((await call('/v1/status')).body.leading, false);
  });

  for (const [what, headers] of [
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['a token that only begins right', { authorization: `Bearer ${token}x` }],
    ['another scheme', { authorization: `Basic ${token}` }],
    ['no token', { authorization: '' }],
  ] as const) {
    it(`refuses ${what} with 401, before it reads the body`, async () => {
      const { status, type, body } = await call('/v1/gate', 'x'.repeat(100_000), headers);
      assert.deepEqual([status, body.status, asked], [401, 401, undefined]);
      assert.match(type, /^application\/problem\+json/);
    });
  }

  it('refuses everybody while there is no token', async () => {
    for (const none of [undefined, '']) {
      secret = none;
      assert.equal((await call('/v1/gate', question, { authorization: 'Bearer ' })).status, 401);
    }
  });

  it('takes a new token without a restart', async () => {
    secret = 'renewed';
    assert.equal((await call('/v1/status')).status, 401);
    assert.equal((await call('/v1/status', undefined, { authorization: 'Bearer renewed' })).status, 200);
  });

  for (const [what, body] of [
    ['no JSON', '{"applier": '],
    ['an array', '[]'],
    ['nothing', ''],
    ['an unknown applier', { ...question, applier: 'helm' }],
    ['a short commit id', { ...question, revision: 'abc' }],
    ['a commit id that is an option', { ...question, revision: `--${'a'.repeat(38)}` }],
    ['a field too many', { ...question, force: true }],
    ['a deadline of zero', { ...question, deadlineMs: 0 }],
    ['a deadline of an hour', { ...question, deadlineMs: 3_600_000 }],
    ['a number for a name', { ...question, application: { namespace: 1, name: 'x' } }],
  ] as const) {
    it(`refuses ${what} with 400 and a problem document`, async () => {
      const { status, type, body: problem } = await call('/v1/gate', body);
      assert.equal(status, 400);
      assert.match(type, /^application\/problem\+json/);
      assert.equal(problem.status, 400);
      assert.equal(asked, undefined);
    });
  }

  it('refuses a body that is too large with 413', async () => {
    const { status } = await call('/v1/gate', { ...question, path: 'x'.repeat(20_000) });
    assert.equal(status, 413);
  });

  it('flushes a GitTarget that runs, and tells of one that does not', async () => {
    const { status, body } = await call('/v1/flush', { target: 'shop/live' });
    assert.deepEqual([status, body.tip, body.closed], [200, 'b'.repeat(40), null]);
    assert.equal((await call('/v1/flush', { target: 'shop/other' })).status, 404);
  });

  it('counts its answers in /v1/status, without a word about anybody’s application', async () => {
    const before = (await call('/v1/status')).body;
    await call('/v1/gate', question);
    const after = (await call('/v1/status')).body;
    assert.equal(after.answers.open, before.answers.open + 1);
    assert.deepEqual(Object.keys(after).sort(), ['answers', 'leading', 'ready', 'version']);
  });

  it('describes itself in OpenAPI, with every status that it uses', async () => {
    const { body } = await call('/v1/openapi.json');
    assert.equal(body.openapi, '3.1.0');
    assert.deepEqual(Object.keys(body.paths['/v1/gate'].post.responses), ['200', '409', '423', 'default']);
    const { properties, required } =
      body.paths['/v1/gate'].post.requestBody.content['application/json'].schema;
    assert.deepEqual(Object.keys(properties).sort(), Object.keys(question).sort());
    assert.ok(!required.includes('deadlineMs'));
  });

  it('has nothing else', async () => {
    assert.equal((await call('/')).status, 404);
    assert.equal((await call('/v1/gate')).status, 404);
  });

  it('listens on a unix socket that only its user may use, in place of one that was left behind', async () => {
    const folder = temporaryFolder('gate-socket');
    const socket = join(folder.path, 'gate.sock');
    for (let start = 0; start < 2; start++) {
      const result = await startGateServer({ ...options, address: { socket } });
      assert.ok(result.kind === 'ok');
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` };
        request({ socketPath: socket, path: '/v1/status', headers }, ({ statusCode }) => resolve(statusCode))
          .on('error', reject)
          .end();
      });
      assert.equal(status, 200);
      await result.stop();
    }
    await folder.remove();
  });

  it('names the flag when its address is taken', async () => {
    const address = { host: '127.0.0.1', port: started.port };
    const result = await startGateServer({ ...options, address });
    assert.ok(result.kind === 'failed');
    assert.match(result.message, /another process listens there; change --gate-bind-address$/);
  });
});
