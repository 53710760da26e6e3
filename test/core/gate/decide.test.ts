import assert from 'node:assert/strict';
import {
  type CollectionEvidence,
  type Coverage,
  coverageOf,
  decide,
  type FlushEvidence,
  type GateFacts,
  type GateQuestion,
  type GateTarget,
  type TargetEvidence,
} from '../../../src/core/gate/index.ts';

const asked: GateQuestion = {
  applier: 'flux',
  application: { namespace: 'shop', name: 'apps' },
  repoURL: 'https://git.example.com/team/config.git',
  targetRevision: 'main',
  revision: 'a'.repeat(40),
  path: 'apps',
  phase: 'fetch',
};
const guard: GateTarget = {
  key: 'shop/live',
  namespace: 'shop',
  repository: 'git.example.com/team/config',
  branch: 'main',
  path: 'apps/shop',
  validated: true,
  credentialVerified: true,
  crossNamespace: false,
  writes: true,
};

describe('a question covers', () => {
  const cover = (question: Partial<GateQuestion>, target: Partial<GateTarget> = {}, branch?: string) =>
    coverageOf({ ...asked, ...question }, [{ ...guard, ...target }], branch);
  const rows: [
    what: string,
    question: Partial<GateQuestion>,
    target: Partial<GateTarget>,
    kind: Coverage['kind'],
  ][] = [
    ['the same URL', {}, {}, 'covered'],
    ['the URL in another spelling', { repoURL: 'git@git.example.com:team/config' }, {}, 'covered'],
    ['no other repository', { repoURL: 'https://git.example.com/team/other' }, {}, 'none'],
    ['no address that is none', { repoURL: 'nonsense' }, {}, 'none'],
    ['a full ref name', { targetRevision: 'refs/heads/main' }, {}, 'covered'],
    ['no other branch', { targetRevision: 'dev' }, {}, 'none'],
    ['no tag', { targetRevision: 'refs/tags/v1' }, {}, 'none'],
    ['no commit', { targetRevision: 'b'.repeat(40) }, {}, 'none'],
    ['no range of versions', { targetRevision: '1.*' }, {}, 'none'],
    ['the whole repository', { path: '' }, {}, 'covered'],
    ['the very folder, however written', { path: './apps/shop/' }, {}, 'covered'],
    ['a folder inside the target', { path: 'apps/shop/deep' }, {}, 'covered'],
    ['no neighbour with a common start of its name', { path: 'apps/shop2' }, {}, 'none'],
    ['everything for a target at the root', { path: 'x' }, { path: '' }, 'covered'],
    ['no target that is not valid', {}, { validated: false }, 'none'],
    ['no target whose credential never reached the remote', {}, { credentialVerified: false }, 'none'],
    ['no target of another namespace', {}, { namespace: 'other' }, 'none'],
    [
      'one of another namespace that is admitted',
      {},
      { namespace: 'other', crossNamespace: true },
      'covered',
    ],
    ['no suspended target', {}, { writes: false }, 'none'],
  ];
  for (const [what, question, target, kind] of rows) {
    it(what, () => assert.equal(cover(question, target).kind, kind));
  }

  it('HEAD as the default branch, once that is known', () => {
    assert.equal(cover({ targetRevision: 'HEAD' }).kind, 'default-branch');
    assert.equal(cover({ targetRevision: '' }, {}, 'main').kind, 'covered');
    assert.equal(cover({ targetRevision: 'HEAD' }, {}, 'trunk').kind, 'none');
    assert.equal(cover({ targetRevision: 'HEAD', path: 'elsewhere' }).kind, 'none');
  });
});

const fresh: CollectionEvidence = { name: 'configmaps', freshness: 'fresh', settledOnce: true, message: '' };
const evidence: TargetEvidence = {
  target: 'shop/live',
  running: true,
  collections: [fresh],
  sameTree: true,
  refused: [],
};
const tip = 'b'.repeat(40);
const facts: GateFacts = {
  applier: 'flux',
  revision: asked.revision,
  targets: [evidence],
  flush: { kind: 'published', tip },
  hasRevision: true,
  edits: [],
};

describe('the gate is open', () => {
  it('when every covered folder is the tip’s at the asked revision', () => {
    assert.deepEqual(decide(facts), {
      decision: 'open',
      covered: true,
      tip,
      revision: asked.revision,
      edits: [],
      refused: [],
    });
  });

  it('for refused edits, which it names', () => {
    const refused = [{ target: 'shop/live', object: 'ConfigMap/shop/a', fields: [], reason: 'NotEditable' }];
    const answer = decide({ ...facts, targets: [{ ...evidence, refused }] });
    assert.ok(answer.decision === 'open' && answer.covered);
    assert.deepEqual(answer.refused, refused);
  });
});

describe('the gate is superseded', () => {
  it('when one of several folders differs, with the edits that Git got since and the refused ones', () => {
    const edits = [
      {
        target: 'shop/live',
        object: 'Deployment/shop/web',
        fields: ['spec.replicas'],
        commit: tip,
        author: 'a',
      },
    ];
    const other: TargetEvidence = { ...evidence, target: 'shop/other', sameTree: false };
    assert.deepEqual(decide({ ...facts, targets: [evidence, other], edits }), {
      decision: 'superseded',
      tip,
      edits,
      refused: [],
    });
  });

  it('and not open, when a folder could not be compared', () => {
    const answer = decide({ ...facts, targets: [{ ...evidence, sameTree: undefined }] });
    assert.equal(answer.decision, 'superseded');
  });
});

describe('the gate is closed', () => {
  const reasonOf = (changed: Partial<GateFacts>) => {
    const answer = decide({ ...facts, ...changed });
    return answer.decision === 'closed' ? answer.reason : answer.decision;
  };
  const withCollection = (collection: Partial<CollectionEvidence>) => [
    { ...evidence, collections: [fresh, { ...fresh, ...collection }] },
  ];

  const flushes: [FlushEvidence, string][] = [
    [{ kind: 'closed', reason: 'PushRefused', message: 'm' }, 'PushRefused'],
    [{ kind: 'closed', reason: 'AuthenticationFailed', message: 'm' }, 'PushRefused'],
    [{ kind: 'closed', reason: 'RemoteKeepsMoving', message: 'm' }, 'PushRefused'],
    [{ kind: 'closed', reason: 'CommitFailed', message: 'm' }, 'PushRefused'],
    [{ kind: 'closed', reason: 'DiskFull', message: 'm' }, 'PushRefused'],
    [{ kind: 'closed', reason: 'RemoteUnreachable', message: 'm' }, 'RemoteUnreachable'],
    [{ kind: 'closed', reason: 'HostKeyUnknown', message: 'm' }, 'RemoteUnreachable'],
    [{ kind: 'closed', reason: 'RepositoryNotFound', message: 'm' }, 'RemoteUnreachable'],
    [{ kind: 'closed', reason: 'BranchGone', message: 'm' }, 'BranchGone'],
    [{ kind: 'closed', reason: 'HistoryRewritten', message: 'm' }, 'HistoryRewritten'],
    [{ kind: 'closed', reason: 'Deadline', message: 'm' }, 'Deadline'],
    [{ kind: 'published', tip: null }, 'BranchGone'],
  ];
  for (const [flush, reason] of flushes) {
    const what = flush.kind === 'closed' ? flush.reason : 'a branch that is not there';
    it(`by ${what}: ${reason}`, () => assert.equal(reasonOf({ flush }), reason));
  }

  it('before a target has read its objects', () => {
    assert.equal(reasonOf({ targets: [{ ...evidence, running: false }] }), 'SnapshotPending');
    assert.equal(reasonOf({ targets: withCollection({ freshness: 'unsettled' }) }), 'SnapshotPending');
  });

  it('by a commit that the remote does not show', () => {
    assert.equal(reasonOf({ hasRevision: false }), 'NotFresh');
  });

  it('by a collection that cannot be proven fresh, even when everything is published', () => {
    assert.equal(reasonOf({ targets: withCollection({ freshness: 'stale' }) }), 'NotFresh');
    assert.equal(reasonOf({ targets: withCollection({ freshness: 'denied' }) }), 'NotFresh');
  });

  it('not by a type that is not served', () => {
    assert.equal(
      reasonOf({ targets: withCollection({ freshness: 'not-served', settledOnce: false }) }),
      'open',
    );
  });

  it('not for Flux by a collection that could never be read, but for the target’s own Application', () => {
    const targets = withCollection({ freshness: 'denied', settledOnce: false });
    assert.equal(reasonOf({ targets }), 'open');
    assert.equal(reasonOf({ targets, applier: 'argocd' }), 'NotFresh');
  });

  it('with a sentence that names the target and the collection, and when to ask again', () => {
    const targets = withCollection({ name: 'secrets in shop', freshness: 'stale', message: 'no answer' });
    const answer = decide({ ...facts, targets });
    assert.ok(answer.decision === 'closed');
    assert.equal(answer.message, 'GitTarget shop/live: secrets in shop: no answer');
    assert.ok(answer.retryAfterMs > 0);
  });
});
