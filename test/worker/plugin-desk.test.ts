import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { GateAnswer, GateQuestion } from '../../src/core/gate/index.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { KubeClient, ObjectResult } from '../../src/kube/client.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import type { Checkouts } from '../../src/worker/checkouts.ts';
import { PluginDesk } from '../../src/worker/plugin-desk.ts';
import { ManualClock } from '../kube/manual-clock.ts';

const revision = 'a'.repeat(40);
const tip = 'b'.repeat(40);
const question: GateQuestion = {
  applier: 'argocd',
  application: { namespace: 'argocd', name: 'shop' },
  repoURL: 'https://git.example.com/team/config',
  targetRevision: 'HEAD',
  revision,
  path: 'apps/shop',
  phase: 'render',
};
const open = (at: string): GateAnswer => {
  return { decision: 'open', covered: true, tip: at, revision, edits: [], refused: [] };
};
const superseded: GateAnswer = { decision: 'superseded', tip, edits: [], refused: [] };
const closed: GateAnswer = { decision: 'closed', reason: 'PushRefused', message: 'no', retryAfterMs: 1 };

interface Facts {
  answer?: GateAnswer;
  applications?: JsonObject[];
  ready?: boolean;
  /** Tip of the only target. */
  tip?: string | undefined;
}

/** A desk whose cluster holds Applications, and all that it did there and to its checkouts. */
function start(facts: Facts) {
  const clock = new ManualClock();
  const patches: string[] = [];
  const checkouts: string[] = [];
  let changed: (target: string) => void = () => undefined;
  const gone: ObjectResult = { kind: 'not-found', message: 'it is not there' } as ObjectResult;
  const client = {
    async get({ namespace, name }) {
      const object = facts.applications?.find(
        ({ metadata }) =>
          JSON.stringify(metadata).includes(`"${namespace}"`) &&
          JSON.stringify(metadata).includes(`"${name}"`),
      );
      return object === undefined ? gone : { kind: 'ok', object };
    },
    async listAll() {
      return { kind: 'ok', items: facts.applications ?? [], resourceVersion: '1', more: false };
    },
    async patch({ namespace, name }, { body }) {
      patches.push(`${namespace}/${name} ${JSON.stringify(body)}`);
      return { kind: 'ok', object: {} };
    },
  } satisfies Pick<KubeClient, 'get' | 'listAll' | 'patch'>;
  const shown = new Set<string>();
  const shares = {
    async show(target, repository, commit) {
      shown.add(target);
      checkouts.push(`show ${target} ${repository} ${commit.slice(0, 1)}`);
      return true;
    },
    async forget(target) {
      checkouts.push(`forget ${target}`);
    },
    renew(commit) {
      checkouts.push(`renew ${commit.slice(0, 1)}`);
    },
    repositoryOf: (target) => (shown.has(target) ? 'git.example.com/team/config' : undefined),
    async stop() {},
  } satisfies Pick<Checkouts, 'show' | 'forget' | 'renew' | 'repositoryOf' | 'stop'>;
  const target = {
    key: 'shop/live',
    namespace: 'shop',
    repository: 'git.example.com/team/config',
    branch: 'main',
    path: 'apps/shop',
    validated: true,
    credentialVerified: true,
    crossNamespace: true,
    writes: true,
  };
  const desk = new PluginDesk({
    client: client as unknown as KubeClient,
    mirror: {
      observe: () => (facts.tip === undefined ? undefined : ({ branch: { tip: facts.tip } } as never)),
      onChange(listener) {
        changed = listener;
        return () => undefined;
      },
    },
    targets: () => [target],
    ask: async () => facts.answer ?? open(revision),
    ready: () => facts.ready ?? true,
    checkouts: shares as unknown as Checkouts,
    clock,
    log: silentLog(),
  });
  /** Lets the desk look after failed renders once. */
  const look = async () => {
    clock.advance(10_000);
    for (let turns = 0; turns < 20; turns++) await turn();
  };
  return { desk, clock, patches, checkouts, look, changed: () => changed('shop/live') };
}

const hard = 'argocd/shop {"metadata":{"annotations":{"argocd.argoproj.io/refresh":"hard"}}}';
const application = (more: JsonObject = {}, annotations: JsonObject = {}): JsonObject => ({
  metadata: { name: 'shop', namespace: 'argocd', uid: 'u', resourceVersion: '1', annotations },
  ...more,
});

describe('what a plugin is told', () => {
  it('is the decision of the gate', async () => {
    for (const answer of [open(revision), closed, superseded]) {
      assert.deepEqual(await start({ answer }).desk.answer(question, 5_000), answer);
    }
  });

  it('lets the commit pass that the Application allows, and no other', async () => {
    const allowing = (commit: string) => [application({}, { 'configbutler.ai/allow-revision': commit })];
    const allowed = start({ answer: superseded, applications: allowing(revision) });
    assert.deepEqual(await allowed.desk.answer(question, 5_000), open(tip));
    const other = start({ answer: superseded, applications: allowing('c'.repeat(40)) });
    assert.equal((await other.desk.answer(question, 5_000)).decision, 'superseded');
    const unknown = start({ answer: closed, applications: allowing(revision) });
    assert.equal((await unknown.desk.answer(question, 5_000)).decision, 'closed');
  });

  it('comes with the checkout of the tip', async () => {
    const { desk, checkouts } = start({ answer: open(tip), tip });
    await desk.answer({ ...question, revision: tip }, 5_000);
    assert.deepEqual(checkouts, ['renew b', 'show shop/live git.example.com/team/config b']);
  });

  it('comes without one while the target is not seen at that tip', async () => {
    const { desk, checkouts } = start({ answer: open(tip), tip: revision });
    await desk.answer(question, 5_000);
    assert.deepEqual(checkouts, ['renew a']);
  });
});

describe('the checkout of a target that was asked about', () => {
  it('follows its branch, and goes with it', async () => {
    const facts: Facts = { answer: open(revision), tip: revision };
    const { desk, checkouts, changed } = start(facts);
    changed();
    assert.deepEqual(checkouts, [], 'nobody has asked yet');
    await desk.answer(question, 5_000);
    facts.tip = tip;
    changed();
    facts.tip = undefined;
    changed();
    assert.deepEqual(checkouts.slice(1), [
      'show shop/live git.example.com/team/config a',
      'show shop/live git.example.com/team/config b',
      'forget shop/live',
    ]);
  });
});

describe('an Application whose render met a closed door', () => {
  it('is rendered again once the door is open, and only once', async () => {
    const facts: Facts = { answer: closed };
    const { desk, patches, look } = start(facts);
    await desk.answer(question, 5_000);
    await look();
    assert.deepEqual(patches, [], 'the door is still closed');
    facts.answer = open(revision);
    await look();
    await look();
    assert.deepEqual(patches, [hard]);
  });

  it('is left alone when a later render was answered', async () => {
    const facts: Facts = { answer: closed };
    const { desk, patches, look } = start(facts);
    await desk.answer(question, 5_000);
    facts.answer = open(revision);
    await desk.answer(question, 5_000);
    await look();
    assert.deepEqual(patches, []);
  });

  it('is forgotten when Argo CD has forgotten it too', async () => {
    const facts: Facts = { answer: closed };
    const { desk, clock, patches, look } = start(facts);
    await desk.answer(question, 5_000);
    clock.advance(80 * 60_000);
    for (let turns = 0; turns < 20; turns++) await turn();
    await look();
    facts.answer = open(revision);
    await look();
    assert.deepEqual(patches, []);
  });
});

describe('after a start', () => {
  const frozen = (message: string) =>
    application({ status: { conditions: [{ type: 'ComparisonError', message }] } });

  it('Applications that failed by our words are rendered again, once we are ready', async () => {
    const message =
      'Manifest generation error (cached): `x` failed exit status 69: gitops-reverser gate: the sidecar …';
    const facts: Facts = { applications: [frozen(message)], ready: false };
    const { patches, look } = start(facts);
    await look();
    assert.deepEqual(patches, []);
    facts.ready = true;
    await look();
    await look();
    assert.deepEqual(patches, [hard]);
  });

  it('others are left alone', async () => {
    const { patches, look } = start({ applications: [frozen('helm template failed'), application()] });
    await look();
    assert.deepEqual(patches, []);
  });

  it('nothing happens after the end', async () => {
    const { desk, patches, look } = start({ applications: [frozen('gitops-reverser gate: no')] });
    await desk.stop();
    await look();
    assert.deepEqual(patches, []);
  });
});
