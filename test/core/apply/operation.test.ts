import assert from 'node:assert/strict';
import {
  afterSuperseded,
  type Bypass,
  bypassesOf,
  combined,
  describeBypass,
  type GateChecks,
  type GatedApplication,
  hasEnded,
  type LastSync,
  type Since,
  type SyncOperation,
  type SyncSource,
  standingOf,
  supersededMessage,
} from '../../../src/core/apply/index.ts';
import { closed, type GateAnswer, type PublishedEdit } from '../../../src/core/gate/index.ts';

const asked = 'a'.repeat(40);
const tip = 'b'.repeat(40);
const startedAt = 1_000_000_000;

function source(changed: Partial<SyncSource> = {}): SyncSource {
  return {
    repoURL: 'https://git.example.org/shop',
    targetRevision: 'main',
    path: 'apps/shop',
    revision: asked,
    index: undefined,
    ...changed,
  };
}

function operation(changed: Partial<SyncOperation> = {}): SyncOperation {
  return {
    phase: 'Running',
    attemptEnded: false,
    startedAt,
    retries: false,
    automated: false,
    manifests: false,
    overridesSource: false,
    sources: [source()],
    ...changed,
  };
}

describe('what a gate may be asked about', () => {
  const rows: [string, SyncOperation | undefined, GateChecks, 'pending' | 'closed' | 'ask', RegExp?][] = [
    ['no operation', undefined, {}, 'pending'],
    ['a running one with its commits', operation(), {}, 'ask'],
    ['a running one without its commits', operation({ sources: undefined }), {}, 'pending', /which commit/],
    [
      'an attempt that failed and is retried',
      operation({ attemptEnded: true }),
      {},
      'pending',
      /tries again/,
    ],
    ['one that is terminated', operation({ phase: 'Terminating' }), {}, 'pending'],
    ['one that has succeeded', operation({ phase: 'Succeeded', attemptEnded: true }), {}, 'pending'],
    ['one that has failed', operation({ phase: 'Failed', attemptEnded: true }), {}, 'pending'],
    ['local manifests', operation({ manifests: true }), {}, 'closed', /^local manifests cannot be checked$/],
    [
      'local manifests, which are of no commit',
      operation({ manifests: true, sources: undefined }),
      {},
      'closed',
    ],
    ['the named Application', operation(), { application: 'argocd/shop' }, 'ask'],
    ['the named Application without namespace', operation(), { application: 'shop' }, 'ask'],
    ['another Application', operation(), { application: 'bakery' }, 'closed', /bakery.*argocd\/shop/],
    ['another namespace', operation(), { application: 'other/shop' }, 'closed'],
    ['the named folder', operation(), { path: './apps/shop/' }, 'ask'],
    ['another folder', operation(), { path: 'apps/bakery' }, 'closed', /apps\/bakery.*apps\/shop/],
  ];
  for (const [name, given, checks, kind, message] of rows) {
    it(`${name}: ${kind}`, () => {
      const standing = standingOf(given, 'argocd/shop', checks);
      assert.equal(standing.kind, kind);
      if (message !== undefined) assert.match('message' in standing ? standing.message : '', message);
    });
  }

  it('is the rendered commit too, where it is another one', () => {
    const standing = standingOf(operation(), 'argocd/shop', { revision: tip });
    assert.ok(standing.kind === 'ask');
    assert.deepEqual(
      standing.sources.map(({ revision }) => revision),
      [asked, tip],
    );
    const same = standingOf(operation(), 'argocd/shop', { revision: asked });
    assert.equal(same.kind === 'ask' && same.sources.length, 1);
  });
});

describe('the answers of several sources', () => {
  const refused = [
    { target: 'shop/shop', object: 'ConfigMap/shop/a', fields: ['data.a'], reason: 'Duplicate' },
  ];
  const open: GateAnswer = { decision: 'open', covered: true, tip, revision: tip, edits: [], refused };
  const free: GateAnswer = { decision: 'open', covered: false };
  const old: GateAnswer = { decision: 'superseded', tip, edits: [], refused: [] };
  const shut = closed('NotFresh', 'x');
  const rows: [string, GateAnswer[], GateAnswer][] = [
    ['nothing covered', [free, free], free],
    ['no source at all', [], free],
    ['one open', [free, open], open],
    ['one superseded', [open, old], { ...old, refused }],
    ['one closed', [open, old, shut], shut],
  ];
  for (const [name, answers, wanted] of rows) {
    it(`${name}: ${wanted.decision}`, () => assert.deepEqual(combined(answers), wanted));
  }
});

describe('after a superseded sync', () => {
  const ours: Since = { kind: 'known', foreign: false, oldestAt: startedAt + 1_000 };
  const rows: [string, Partial<SyncOperation>, Since, string, RegExp?][] = [
    ['an automated one is found anew by Argo CD', { automated: true }, ours, 'refresh'],
    [
      'an automated one with a foreign commit too',
      { automated: true },
      { ...ours, foreign: true },
      'refresh',
    ],
    ['one by hand starts again', {}, ours, 'reissue'],
    ['one by hand that would retry starts again', { retries: true }, ours, 'reissue'],
    ['our commit came just before the click', {}, { ...ours, oldestAt: startedAt - 179_000 }, 'reissue'],
    ['our commit came long before', {}, { ...ours, oldestAt: startedAt - 181_000 }, 'end', /not the newest/],
    ['somebody else committed', {}, { ...ours, foreign: true }, 'end', /somebody else/],
    ['nothing is known', {}, { kind: 'unknown' }, 'end', /not known/],
    ['it has local manifests', { manifests: true }, ours, 'end', /local manifests/],
    ['it names its own source', { overridesSource: true }, ours, 'end', /source of its own/],
  ];
  for (const [name, changed, since, kind, why] of rows) {
    it(`${name}: ${kind}`, () => {
      const after = afterSuperseded(operation(changed), since);
      assert.equal(after.kind, kind);
      if (why !== undefined) assert.match(after.kind === 'end' ? after.why : '', why);
    });
  }

  it('says which commit, whose edits, and what happens next', () => {
    const one: PublishedEdit = {
      target: 'shop/shop',
      object: 'Deployment.apps/shop/web',
      fields: ['spec.replicas'],
      commit: tip,
      author: 'kubectl-edit',
    };
    const answer = { decision: 'superseded', tip, edits: [one, one, one, one], refused: [] } as const;
    const message = supersededMessage(answer, { kind: 'end', why: 'because' });
    assert.match(message, /^superseded: commit bbbbbbbbbbbb holds live edits that this sync would undo \(/);
    assert.match(message, /Deployment\.apps\/shop\/web spec\.replicas by kubectl-edit; .*1 more\)/);
    assert.match(message, /nothing was applied\. Sync again .*because$/);
    assert.match(supersededMessage(answer, { kind: 'reissue' }), /started again at that commit$/);
    assert.match(
      supersededMessage({ ...answer, edits: [] }, { kind: 'refresh' }),
      /changed the folder; Argo CD/,
    );
  });
});

describe('a sync that was let go or has failed', () => {
  const rows: [string, SyncOperation | undefined, boolean][] = [
    ['goes on', operation(), false],
    ['is being terminated', operation({ phase: 'Terminating' }), false],
    ['has succeeded', operation({ phase: 'Succeeded', attemptEnded: true }), true],
    ['has failed', operation({ phase: 'Failed', attemptEnded: true }), true],
    ['waits for its next attempt', operation({ attemptEnded: true }), true],
    ['gave way to another one', operation({ startedAt: startedAt + 1_000 }), true],
    ['is gone with its Application', undefined, true],
  ];
  for (const [name, now, ended] of rows) {
    it(`${name}: ${ended ? 'ended' : 'not ended'}`, () => {
      assert.equal(hasEnded(now, operation()), ended);
    });
  }
});

describe('the ways past the gate', () => {
  const gated: LastSync = {
    applied: true,
    automated: false,
    partial: false,
    applyStrategy: false,
    goesBack: false,
    gate: 'hook',
    oldGate: false,
  };
  const application: GatedApplication = {
    application: 'argocd/shop',
    selfHeal: false,
    doorOpen: false,
    admitted: true,
    reached: true,
    lastSync: gated,
  };
  const synced = (changed: Partial<LastSync>) => ({ lastSync: { ...gated, ...changed } });
  const rows: [string, Partial<GatedApplication>, Bypass[]][] = [
    ['an ordinary one', {}, []],
    ['never synced', { lastSync: undefined }, []],
    ['self-heal', { selfHeal: true }, ['SelfHeal']],
    [
      'self-heal that has just healed',
      { selfHeal: true, ...synced({ automated: true, partial: true, gate: 'none' }) },
      ['SelfHeal'],
    ],
    ['single resources', synced({ partial: true, gate: 'none' }), ['SelectiveSync']],
    ['strategy apply', synced({ applyStrategy: true, gate: 'none' }), ['StrategyApply']],
    ['a rollback', synced({ applyStrategy: true, goesBack: true, gate: 'none' }), ['Rollback']],
    ['no gate in the folder', synced({ gate: 'none' }), ['NoSyncGate']],
    ['a gate that is no hook', synced({ gate: 'resource' }), ['HookReplaced']],
    ['a gate that was not made anew', synced({ oldGate: true }), ['HookReplaced']],
    ['a sync that applied nothing', synced({ applied: false, gate: 'none' }), []],
    ['the emergency exit', { doorOpen: true }, ['DoorOpen']],
    ['a namespace that is not admitted', { admitted: false }, ['NotAdmitted']],
    ['a cluster out of sight', { reached: false, lastSync: undefined }, ['UnsupportedDestination']],
  ];
  for (const [name, changed, wanted] of rows) {
    it(`${name}: ${wanted.join(', ') || 'none'}`, () => {
      const found = bypassesOf({ ...application, ...changed });
      assert.deepEqual(found, wanted);
      for (const one of found)
        assert.match(describeBypass('argocd/shop', one), /^Application argocd\/shop: .*; /);
    });
  }
});
