import assert from 'node:assert/strict';
import type { GateAnswer, GateQuestion, TargetEvidence } from '../../src/core/gate/index.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import type { Examination, FlushMark } from '../../src/worker/examine.ts';
import { type CoveredTarget, GateDesk } from '../../src/worker/gate-desk.ts';
import { eventually, ManualClock } from '../kube/manual-clock.ts';

const question: GateQuestion = {
  applier: 'flux',
  application: { namespace: 'shop', name: 'apps' },
  repoURL: 'https://git.example.com/team/config',
  targetRevision: 'main',
  revision: 'a'.repeat(40),
  path: '',
  phase: 'fetch',
};
const target: CoveredTarget = {
  key: 'shop/live',
  namespace: 'shop',
  repository: 'git.example.com/team/config',
  branch: 'main',
  path: 'apps/shop',
  validated: true,
  credentialVerified: true,
  crossNamespace: false,
  writes: true,
  status: 'the cluster does not answer',
};
const tip = 'b'.repeat(40);

class Scene {
  readonly clock = new ManualClock();
  readonly counted: GateAnswer[] = [];
  readonly marks: { dropped: boolean }[] = [];
  targets: readonly CoveredTarget[] | undefined = [target];
  /** What an examination finds; by default the asked revision is the tip. */
  sameTree = true;
  tip = tip;
  descends: readonly string[] = [];
  head: string | undefined = 'main';
  headAsked = 0;
  readonly marked: string[] = [];
  examine: () => Promise<Examination | undefined> = async () => this.examination();
  readonly desk = new GateDesk({
    mirror: {
      examine: () => this.examine(),
      mark: (keys) => {
        this.marked.push(...keys);
        return keys.length === 0 ? undefined : this.examination().mark;
      },
      defaultBranch: async () => {
        this.headAsked += 1;
        return this.head;
      },
    },
    targets: () => this.targets,
    clock: this.clock,
    log: silentLog(),
    counted: (_question, answer) => this.counted.push(answer),
  });

  examination(): Examination {
    const mark = { dropped: false };
    this.marks.push(mark);
    const flushMark: FlushMark = {
      open: () => ({ withheld: () => 0, end: async () => undefined }),
      drop() {
        mark.dropped = true;
      },
    };
    const evidence: TargetEvidence = {
      target: target.key,
      running: true,
      collections: [],
      sameTree: this.sameTree,
      refused: [],
    };
    return {
      targets: [evidence],
      flush: { kind: 'published', tip: this.tip },
      hasRevision: true,
      edits: [],
      mark: flushMark,
      descendsFrom: async (commit) => this.descends.includes(commit),
      since: async () => ({ kind: 'unknown' }),
    };
  }

  async ask(changed: Partial<GateQuestion> = {}, appliers = ['shop/a']) {
    return this.desk.ask({ ...question, ...changed }, { deadlineMs: 20_000, appliers });
  }

  async decision(changed: Partial<GateQuestion> = {}, appliers = ['shop/a']): Promise<string> {
    const { answer } = await this.ask(changed, appliers);
    return answer.decision === 'closed' ? answer.reason : answer.decision;
  }
}

describe('the gate desk', () => {
  it('opens for what nobody writes, without examining anything', async () => {
    const scene = new Scene();
    scene.examine = () => assert.fail('examined');
    assert.deepEqual((await scene.ask({ targetRevision: 'dev' })).answer, {
      decision: 'open',
      covered: false,
    });
    assert.deepEqual((await scene.ask({ repoURL: 'nonsense' })).answer, { decision: 'open', covered: false });
  });

  it('is closed before the GitTargets were read, and for one that is not at work, saying why', async () => {
    const scene = new Scene();
    scene.targets = undefined;
    assert.equal(await scene.decision(), 'SnapshotPending');
    scene.targets = [target];
    scene.examine = async () => undefined;
    const { answer } = await scene.ask();
    assert.ok(answer.decision === 'closed');
    assert.match(answer.message, /shop\/live is not at work yet: the cluster does not answer/);
  });

  it('is closed when one of several covered targets is not at work', async () => {
    const scene = new Scene();
    scene.targets = [target, { ...target, key: 'shop/other' }];
    assert.equal(await scene.decision(), 'SnapshotPending');
    assert.ok(scene.marks[0]?.dropped);
  });

  it('asks the remote once which branch HEAD is, and is closed while it does not say', async () => {
    const scene = new Scene();
    scene.head = undefined;
    assert.equal(await scene.decision({ targetRevision: 'HEAD' }), 'RemoteUnreachable');
    scene.head = 'main';
    assert.equal(await scene.decision({ targetRevision: 'HEAD' }), 'open');
    assert.equal(await scene.decision({ targetRevision: '' }), 'open');
    assert.equal(scene.headAsked, 2);
  });

  it('answers by the deadline whatever happens, and lets go of what comes later', async () => {
    const scene = new Scene();
    let finish: (examination: Examination) => void = () => undefined;
    scene.examine = () => new Promise((resolve) => (finish = resolve));
    let answer: GateAnswer | undefined;
    void scene.ask().then((verdict) => {
      answer = verdict.answer;
    });
    await eventually('it is examined', () => scene.clock.waiting().length > 0);
    scene.clock.advance(20_000);
    await eventually('it is answered', () => answer !== undefined);
    assert.ok(answer?.decision === 'closed' && answer.reason === 'Deadline');
    finish(scene.examination());
    await eventually('the late mark is let go', () => scene.marks[0]?.dropped === true);
  });

  it('is closed when finding out breaks', async () => {
    const scene = new Scene();
    scene.examine = () => Promise.reject(new Error('bug'));
    assert.equal(await scene.decision(), 'NotFresh');
  });

  it('hands the mark of an open answer to the caller, and keeps none of a closed one', async () => {
    const scene = new Scene();
    const { mark } = await scene.ask();
    assert.ok(mark !== undefined);
    assert.equal(scene.marks[0]?.dropped, false);
    scene.examine = async () => ({ ...scene.examination(), hasRevision: false });
    assert.equal(await scene.decision(), 'NotFresh');
    assert.equal(scene.marks[1]?.dropped, true);
  });

  it('hands the mark of an apply under way to the caller whatever the answer, and grants nothing', async () => {
    const scene = new Scene();
    const underWay = () =>
      scene.desk.ask(question, { deadlineMs: 20_000, appliers: ['shop/a'], isUnderWay: true });
    scene.sameTree = false;
    const superseded = await underWay();
    assert.equal(superseded.answer.decision, 'superseded');
    scene.descends = [tip];
    assert.equal(await scene.decision(), 'superseded', 'nothing was granted');
    scene.examine = async () => ({ ...scene.examination(), hasRevision: false });
    const closed = await underWay();
    assert.equal(closed.answer.decision, 'closed');
    for (const { mark } of [superseded, closed]) mark?.drop();
    assert.deepEqual(
      scene.marks.map(({ dropped }) => dropped),
      [true, false, true],
      'the mark between them is that of a grant',
    );
  });

  it('marks the targets of an apply that asks nobody, of whatever revision, without examining anything', () => {
    const scene = new Scene();
    scene.examine = () => assert.fail('examined');
    for (const targetRevision of ['HEAD', 'main', 'v1.2', tip]) {
      scene.marked.length = 0;
      assert.ok(scene.desk.mark({ ...question, targetRevision }) !== undefined);
      assert.deepEqual(scene.marked, [target.key]);
    }
    assert.equal(scene.desk.mark({ ...question, path: 'apps/other' }), undefined);
    assert.equal(scene.desk.mark({ ...question, repoURL: 'nonsense' }), undefined);
    scene.targets = [{ ...target, validated: false }];
    assert.equal(scene.desk.mark(question), undefined);
    scene.targets = undefined;
    assert.equal(scene.desk.mark(question), undefined);
  });

  it('lets a busy editor starve nobody: the tip of a superseded answer is open once per applier for two minutes', async () => {
    const scene = new Scene();
    scene.sameTree = false;
    assert.equal(await scene.decision(), 'superseded');
    // Each look finds newer edits, but the revision asked about is the granted tip.
    scene.descends = [tip];
    scene.tip = 'c'.repeat(40);
    assert.equal(await scene.decision({ revision: tip }), 'open');
    assert.equal(await scene.decision({ revision: tip }), 'superseded', 'one answer only');
    assert.equal(await scene.decision({ revision: tip }, ['shop/b']), 'open', 'another applier has its own');
    scene.descends = [];
    assert.equal(await scene.decision({}, ['shop/c']), 'superseded', 'not for what does not descend from it');
    scene.descends = [tip];
    scene.clock.advance(120_000);
    assert.equal(await scene.decision({ revision: tip }, ['shop/c']), 'superseded', 'not after two minutes');
  });

  it('takes a grant back when its tip was let through anyway: a later edit is not overwritten for it', async () => {
    const scene = new Scene();
    scene.sameTree = false;
    assert.equal(await scene.decision(), 'superseded');
    scene.descends = [tip];
    scene.sameTree = true;
    assert.equal(await scene.decision({ revision: tip }), 'open');
    scene.sameTree = false;
    assert.equal(await scene.decision({ revision: tip }), 'superseded');
  });

  it('keeps the grant for the apply when only a render asks', async () => {
    const scene = new Scene();
    scene.sameTree = false;
    await scene.decision();
    scene.descends = [tip];
    for (const phase of ['render', 'render', 'presync'] as const)
      assert.equal(await scene.decision({ revision: tip, phase }), 'open');
    assert.equal(await scene.decision({ revision: tip, phase: 'presync' }), 'superseded');
  });

  it('grants nothing to another source, and nothing while edits cannot be published', async () => {
    const scene = new Scene();
    scene.sameTree = false;
    await scene.decision();
    scene.descends = [tip];
    const other = { application: { namespace: 'shop', name: 'other' } };
    assert.equal(await scene.decision({ ...other, revision: tip }), 'superseded');
    const flush = { kind: 'closed', reason: 'PushRefused', message: 'protected' } as const;
    scene.examine = async () => ({ ...scene.examination(), flush });
    assert.equal(await scene.decision({ revision: tip }), 'PushRefused');
  });

  it('counts every answer', async () => {
    const scene = new Scene();
    await scene.ask();
    await scene.ask({ targetRevision: 'dev' });
    assert.deepEqual(
      scene.counted.map(({ decision }) => decision),
      ['open', 'open'],
    );
  });
});
