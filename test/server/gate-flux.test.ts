import assert from 'node:assert/strict';
import { closed, type GateAnswer, type GateQuestion } from '../../src/core/gate/index.ts';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { EventFact } from '../../src/kube/events.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { FluxDoor } from '../../src/worker/flux-door.ts';
import { eventually, ManualClock } from '../kube/manual-clock.ts';

const commit = 'a'.repeat(40);
const tip = 'b'.repeat(40);
const path = `/gitrepository/shop/apps/${commit}.tar.gz`;
const name = { namespace: 'shop', name: 'apps' };

function gitRepository(spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject {
  return {
    metadata: { ...name, uid: 'u', annotations },
    spec: { url: 'https://git.example.com/team/config', ref: { branch: 'main' }, ...spec },
    status: {
      artifact: { url: `http://source-controller${path}`, revision: `main@sha1:${commit}` },
      conditions: [{ type: 'Ready', status: 'True', message: 'stored artifact' }],
    },
  };
}

function kustomization(own: string, ready: string, spec: JsonObject = {}): JsonObject {
  return {
    metadata: { namespace: 'shop', name: own, uid: own, resourceVersion: '5' },
    spec: { sourceRef: { kind: 'GitRepository', name: 'apps' }, ...spec },
    status: { conditions: [{ type: 'Ready', status: ready, message: '' }] },
  };
}

const superseded: GateAnswer = { decision: 'superseded', tip, edits: [], refused: [] };

class Scene {
  readonly clock = new ManualClock();
  readonly stamped: string[] = [];
  readonly events: EventFact[] = [];
  readonly passed: string[] = [];
  readonly marked: string[] = [];
  readonly asked: { question: GateQuestion; appliers: readonly string[] }[] = [];
  readonly windows: { holder: string; ended: boolean }[] = [];
  source: JsonObject | 'unreachable' | undefined = gitRepository();
  kustomizations: JsonObject[] | 'unreachable' = [
    kustomization('web', 'Unknown'),
    kustomization('db', 'True'),
  ];
  answer: GateAnswer = {
    decision: 'open',
    covered: true,
    tip: commit,
    revision: commit,
    edits: [],
    refused: [],
  };
  descends = false;
  withheld = 0;
  ready = true;
  /** The desk does not answer. */
  silent = false;
  readonly door: FluxDoor;

  constructor() {
    const failure = { kind: 'unreachable', message: 'no answer' } as const;
    const client = {
      get: async ({ resource, name: own }) => {
        if (resource === 'gitrepositories') {
          if (this.source === 'unreachable') return failure;
          return this.source === undefined
            ? { kind: 'not-found', message: '' }
            : { kind: 'ok', object: this.source };
        }
        const found = this.#list().find(({ metadata }) => isObject(metadata) && metadata.name === own);
        return found === undefined ? { kind: 'not-found', message: '' } : { kind: 'ok', object: found };
      },
      listAll: async ({ resource }) => {
        if (resource === 'kustomizations' && this.kustomizations === 'unreachable') return failure;
        const items = resource === 'kustomizations' ? this.#list() : [];
        return { kind: 'ok', items, resourceVersion: '1', more: false };
      },
      patch: async ({ resource, name: own }) => {
        this.stamped.push(`${resource}/${own}`);
        return { kind: 'ok', object: {} };
      },
    } satisfies Pick<KubeClient, 'get' | 'listAll' | 'patch'>;
    this.door = new FluxDoor({
      client: client as Partial<KubeClient> as KubeClient,
      desk: {
        ask: async (question, { appliers }) => {
          this.asked.push({ question, appliers });
          if (this.silent) await new Promise(() => undefined);
          const open = this.answer.decision === 'open' && this.answer.covered;
          return {
            answer: this.answer,
            mark: open ? this.#mark() : undefined,
            descendsFrom: async () => this.descends,
            since: async () => ({ kind: 'unknown' }),
          };
        },
        mark: ({ revision }) => {
          this.marked.push(revision);
          return this.#mark();
        },
      },
      clock: this.clock,
      log: silentLog(),
      ready: () => this.ready,
      record: (event) => this.events.push(event),
      passed: (source, commitOf) => this.passed.push(`${source.name} ${commitOf}`),
    });
  }

  static async started(): Promise<Scene> {
    const scene = new Scene();
    scene.door.start();
    await settle();
    return scene;
  }

  decide(asked = path) {
    return this.door.decide(name, asked);
  }

  #list(): JsonObject[] {
    return this.kustomizations === 'unreachable' ? [] : this.kustomizations;
  }

  #mark() {
    return {
      open: ({ holder }: { holder: { name: string } }) => {
        const window = { holder: holder.name, ended: false };
        this.windows.push(window);
        return {
          withheld: () => this.withheld,
          end: async () => {
            window.ended = true;
          },
        };
      },
      drop: () => undefined,
    };
  }
}

/** Lets everything that is ready to go on go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('the door of Flux', () => {
  it('says 404 until the sources and our kinds were read once', async () => {
    const scene = new Scene();
    assert.equal((await scene.decide()).kind, 'missing');
    scene.door.start();
    await settle();
    scene.ready = false;
    assert.equal((await scene.decide()).kind, 'missing');
    scene.ready = true;
    assert.equal((await scene.decide()).kind, 'pass');
  });

  it('passes an open artifact from the URL in the source’s status only', async () => {
    const scene = await Scene.started();
    assert.deepEqual(await scene.decide(), { kind: 'pass', url: `http://source-controller${path}` });
    assert.equal((await scene.decide('/gitrepository/shop/apps/other.tar.gz')).kind, 'missing');
    scene.source = undefined;
    assert.equal((await scene.decide()).kind, 'missing');
  });

  it('tells of every artifact that it lets through, and of no other', async () => {
    const scene = await Scene.started();
    await scene.decide();
    scene.answer = superseded;
    await scene.decide();
    scene.answer = { decision: 'open', covered: false };
    await scene.decide();
    assert.deepEqual(scene.passed, [`apps ${commit}`, `apps ${commit}`]);
  });

  it('asks about the whole branch, for the Kustomizations that are at work', async () => {
    const scene = await Scene.started();
    await scene.decide();
    const [first] = scene.asked;
    assert.deepEqual(first?.appliers, ['shop/web']);
    assert.deepEqual([first?.question.path, first?.question.targetRevision], ['', 'refs/heads/main']);
    assert.equal(first?.question.revision, commit);
  });

  it('takes all Kustomizations but suspended ones when none is at work, and those known when they cannot be read', async () => {
    const scene = await Scene.started();
    scene.kustomizations = [
      kustomization('web', 'True'),
      kustomization('db', 'False'),
      kustomization('off', 'Unknown', { suspend: true }),
    ];
    await scene.decide();
    scene.kustomizations = 'unreachable';
    await scene.decide();
    assert.deepEqual(
      scene.asked.map(({ appliers }) => appliers),
      [
        ['shop/web', 'shop/db'],
        ['shop/web', 'shop/db'],
      ],
    );
  });

  it('asks nobody for a source that follows a tag, a range or a commit', async () => {
    const scene = await Scene.started();
    for (const ref of [
      { tag: 'v1' },
      { semver: '1.x' },
      { branch: 'main', commit },
      { name: 'refs/tags/v1' },
    ]) {
      scene.source = gitRepository({ ref });
      assert.equal((await scene.decide()).kind, 'pass');
    }
    assert.equal(scene.asked.length, 0);
    assert.deepEqual(scene.marked, [commit, commit, commit, commit], 'what they prune is no edit');
    scene.source = gitRepository({ ref: { name: 'refs/heads/dev' } });
    await scene.decide();
    assert.equal(scene.asked[0]?.question.targetRevision, 'refs/heads/dev');
  });

  it('is locked when the source cannot be read', async () => {
    const scene = await Scene.started();
    scene.source = 'unreachable';
    assert.equal((await scene.decide()).kind, 'locked');
  });

  it('answers superseded with 404 and asks the source to fetch, not more than every few seconds', async () => {
    const scene = await Scene.started();
    scene.answer = superseded;
    assert.equal((await scene.decide()).kind, 'missing');
    assert.equal((await scene.decide()).kind, 'missing');
    assert.deepEqual(scene.stamped, ['gitrepositories/apps']);
    scene.clock.advance(3_000);
    await scene.decide();
    assert.equal(scene.stamped.length, 2);
  });

  it('names a source that still lacks the tip two minutes after it was asked', async () => {
    const scene = await Scene.started();
    scene.answer = superseded;
    await scene.decide();
    scene.clock.advance(119_000);
    assert.equal((await scene.decide()).kind, 'missing');
    scene.clock.advance(1_000);
    const answer = await scene.decide();
    assert.equal(answer.kind, 'locked');
    assert.match(
      'message' in answer ? answer.message : '',
      /GitRepository shop\/apps \(stored artifact\) has not fetched/,
    );
    scene.descends = true;
    assert.equal(
      (await scene.decide()).kind,
      'missing',
      'its artifact holds the tip now, and only newer edits are missing',
    );
  });

  it('names a suspended source at once', async () => {
    const scene = await Scene.started();
    scene.source = gitRepository({ suspend: true });
    scene.answer = superseded;
    const answer = await scene.decide();
    assert.match('message' in answer ? answer.message : '', /is suspended; resume it/);
  });

  it('looks again at a closed door, ever more rarely, and has the Kustomizations reconciled when it opens', async () => {
    const scene = await Scene.started();
    scene.answer = closed('PushRefused', 'protected branch');
    const answer = await scene.decide();
    assert.deepEqual(answer, {
      kind: 'locked',
      message: 'held by GitOps Reverser: PushRefused: protected branch',
    });
    const waits: number[] = [];
    for (let look = 0; look < 7; look++) {
      waits.push(scene.clock.runNext());
      await settle();
    }
    assert.deepEqual(waits, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    scene.answer = { decision: 'open', covered: true, tip: commit, revision: commit, edits: [], refused: [] };
    scene.kustomizations = [kustomization('web', 'False'), kustomization('db', 'True')];
    scene.clock.runNext();
    await eventually('it is stamped', () => scene.stamped.length > 0);
    assert.deepEqual(scene.stamped, ['kustomizations/web']);
    assert.deepEqual(scene.clock.waiting(), []);
    assert.equal(scene.windows.length, 0, 'looking again opens no apply window');
  });

  it('has Kustomizations reconciled whose fetch failed while nobody answered', async () => {
    const scene = new Scene();
    const failed = (message: string) => ({ conditions: [{ type: 'Ready', status: 'False', message }] });
    scene.kustomizations = [
      { ...kustomization('web', 'False'), status: failed('failed to download archive from http://x') },
      { ...kustomization('db', 'True') },
    ];
    scene.door.start();
    await settle();
    scene.clock.runNext();
    await eventually('it is stamped', () => scene.stamped.length > 0);
    assert.deepEqual(scene.stamped, ['kustomizations/web']);
    const other = new Scene();
    other.kustomizations = [{ ...kustomization('web', 'False'), status: failed('health check failed') }];
    other.door.start();
    await settle();
    assert.deepEqual(other.clock.waiting(), []);
  });

  it('is locked in time when nothing answers, and looks again by itself', async () => {
    const scene = await Scene.started();
    scene.silent = true;
    const deciding = scene.decide();
    await settle();
    scene.clock.advance(17_000);
    const answer = await deciding;
    assert.match('message' in answer ? answer.message : '', /Deadline: no answer in time/);
    assert.deepEqual(scene.clock.waiting(), [2_000]);
  });

  it('looks again soon when something may have opened', async () => {
    const scene = await Scene.started();
    scene.answer = closed('RemoteUnreachable', 'no route');
    await scene.decide();
    for (let look = 0; look < 4; look++) {
      scene.clock.runNext();
      await settle();
    }
    assert.deepEqual(scene.clock.waiting(), [30_000]);
    scene.door.lookAgain();
    assert.deepEqual(scene.clock.waiting(), [2_000]);
  });

  it('keeps the apply window open until its Kustomization has ended, a grace, and what came until then is handled', async () => {
    const scene = await Scene.started();
    await scene.decide();
    assert.deepEqual(scene.windows, [{ holder: 'web', ended: false }]);
    for (let second = 0; second < 5; second++) {
      assert.equal(scene.clock.runNext(), 1_000);
      await settle();
    }
    // The same resourceVersion says nothing new, whatever it says.
    scene.kustomizations = [kustomization('web', 'True')];
    scene.clock.runNext();
    await settle();
    assert.deepEqual(scene.clock.waiting(), [1_000]);
    const ended = kustomization('web', 'True');
    scene.kustomizations = [
      { ...ended, metadata: { namespace: 'shop', name: 'web', resourceVersion: '10' } },
    ];
    scene.clock.runNext();
    await settle();
    assert.deepEqual([scene.clock.waiting(), scene.windows[0]?.ended], [[10_000], false]);
    scene.clock.runNext();
    await settle();
    assert.equal(scene.windows[0]?.ended, true);
  });

  it('ends an apply window after two minutes at the latest', async () => {
    const scene = await Scene.started();
    await scene.decide();
    while (scene.windows[0]?.ended === false && scene.clock.now() < 200_000) {
      scene.clock.runNext();
      await settle();
    }
    assert.ok(scene.clock.now() <= 121_000, `${scene.clock.now()}`);
  });

  it('asks the source for the edits that an apply wrote over, as soon as the apply ended', async () => {
    const scene = await Scene.started();
    await scene.decide();
    scene.withheld = 1;
    scene.answer = superseded;
    const ended = kustomization('web', 'True');
    scene.kustomizations = [
      { ...ended, metadata: { namespace: 'shop', name: 'web', resourceVersion: '10' } },
    ];
    scene.clock.runNext();
    await eventually('it is stamped', () => scene.stamped.length > 0);
    assert.deepEqual(scene.stamped, ['gitrepositories/apps']);
  });

  it('asks again for what an apply wrote over while that cannot be published', async () => {
    const scene = await Scene.started();
    await scene.decide();
    scene.withheld = 1;
    scene.answer = closed('NotFresh', 'a stream lags');
    scene.kustomizations = [kustomization('web', 'True')].map((one) => ({
      ...one,
      metadata: { namespace: 'shop', name: 'web', resourceVersion: '10' },
    }));
    scene.clock.runNext();
    await eventually('it was asked', () => scene.asked.length === 2);
    await settle();
    assert.deepEqual(scene.stamped, []);
    scene.answer = superseded;
    for (let turns = 0; scene.stamped.length === 0 && turns < 20; turns++) {
      scene.clock.runNext();
      await settle();
    }
    assert.deepEqual(scene.stamped, ['gitrepositories/apps']);
  });

  it('lets everything by with the break-glass annotation, and says so in an Event', async () => {
    const scene = await Scene.started();
    scene.answer = closed('PushRefused', 'protected branch');
    scene.source = gitRepository({}, { 'configbutler.ai/door': 'open' });
    assert.equal((await scene.decide()).kind, 'pass');
    assert.deepEqual(scene.asked, []);
    assert.deepEqual(scene.marked, [commit], 'its writes are told from edits all the same');
    assert.ok(scene.windows.length > 0);
    assert.deepEqual(
      scene.events.map(({ reason, type, about }) => [reason, type, about.kind]),
      [['DoorOpen', 'Warning', 'GitRepository']],
    );
    scene.source = gitRepository({}, { 'configbutler.ai/door': 'closed' });
    assert.equal((await scene.decide()).kind, 'locked');
  });

  it('names refused edits in an Event on the Kustomization before the apply overwrites them', async () => {
    const scene = await Scene.started();
    const fields = ['data.a', 'data.b', 'data.c', 'data.d', 'data.e', 'data.f'];
    const refused = [{ target: 'shop/live', object: 'ConfigMap/shop/a', fields, reason: 'NotEditable' }];
    scene.answer = { decision: 'open', covered: true, tip: commit, revision: commit, edits: [], refused };
    assert.equal((await scene.decide()).kind, 'pass');
    const [event] = scene.events;
    assert.deepEqual(
      [event?.about.kind, event?.about.name, event?.reason],
      ['Kustomization', 'web', 'EditRefused'],
    );
    assert.match(event?.message ?? '', /ConfigMap\/shop\/a \(data\.a, .* and 1 more\) .*NotEditable/);
  });
});
