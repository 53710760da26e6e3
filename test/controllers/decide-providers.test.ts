import assert from 'node:assert/strict';
import {
  gitBranchConditions,
  gitProviderConditions,
  kubeProviderConditions,
} from '../../src/api/conditions.ts';
import { type BranchFacts, decideGitBranch } from '../../src/controllers/decide-git-branch.ts';
import {
  decideGitProvider,
  type ProviderCheck,
  usableSettings,
} from '../../src/controllers/decide-git-provider.ts';
import { decideKubeProvider } from '../../src/controllers/decide-kube-provider.ts';
import { conditionsOf, type Decision } from '../../src/controllers/gates.ts';
import { parseRepositoryUrl } from '../../src/core/repository-url.ts';
import { quietBranch } from './recording-mirror.ts';

const now = '2026-01-01T12:00:00Z';
const later = '2026-01-01T13:00:00Z';

function readyOf(table: Parameters<typeof conditionsOf>[1], decision: Decision): string {
  const ready = conditionsOf([], table, decision, 1, now).find(({ type }) => type === 'Ready');
  const stalled = conditionsOf([], table, decision, 1, now).find(({ type }) => type === 'Stalled');
  return `${ready?.status}/${ready?.reason}${stalled?.status === 'True' ? ' stalled' : ''}`;
}

const parsed = parseRepositoryUrl('https://git.example.com/shop.git');
assert.ok(parsed.ok);
const settings = {
  access: { url: parsed.url, credentials: { kind: 'anonymous' } },
  committer: { name: 'a', email: 'b' },
  signer: undefined,
} as const;

describe('a GitProvider', () => {
  const verified: ProviderCheck = { kind: 'verified', settings, verifiedAt: new Date(0) };
  const unreachable: ProviderCheck = { kind: 'unreachable', settings, message: 'no' };
  const unusable: ProviderCheck = { kind: 'unusable', reason: 'SecretNotFound', message: 'gone' };
  const table: readonly [string, ProviderCheck | undefined, string, boolean, boolean][] = [
    ['not asked', undefined, 'Unknown/Checking', false, false],
    ['answered', verified, 'True/Succeeded', true, true],
    ['no answer', unreachable, 'False/ConnectionFailed stalled', false, true],
    ['no Secret', unusable, 'False/SecretNotFound stalled', false, false],
  ];
  for (const [name, check, ready, usableAtFirst, usableLater] of table) {
    it(`${name}: what it says, and whether targets may run with it at first and once it was verified`, () => {
      assert.equal(readyOf(gitProviderConditions, decideGitProvider(check)), ready);
      assert.equal(usableSettings(check, false) !== undefined, usableAtFirst);
      assert.equal(usableSettings(check, true) !== undefined, usableLater);
    });
  }
});

describe('a KubeProvider', () => {
  const table = [
    [{ kind: 'in-cluster' }, 'True/Succeeded', 'InCluster'],
    [{ kind: 'kubeconfig' }, 'True/Succeeded', 'Succeeded'],
    [
      { kind: 'refused', reason: 'KubeConfigExecNotAllowed', message: 'exec' },
      'False/KubeConfigExecNotAllowed stalled',
      'KubeConfigExecNotAllowed',
    ],
  ] as const;
  for (const [connection, ready, validated] of table) {
    it(`${validated}: ${ready}`, () => {
      const decision = decideKubeProvider(connection);
      assert.equal(readyOf(kubeProviderConditions, decision), ready);
      assert.equal(decision.gates[0]?.reason, validated);
    });
  }
});

describe('a GitBranch', () => {
  const provider = { name: 'git', exists: true, ready: true, allowed: true };
  const fine: BranchFacts = {
    branch: 'main',
    provider,
    duplicateOf: undefined,
    targets: 1,
    observation: quietBranch,
  };
  const failure = (reason: 'PushRefused' | 'RemoteUnreachable' | 'HostKeyUnknown') =>
    ({ ...quietBranch, failure: { reason, message: 'no', since: 0 } }) as const;
  const table: readonly [string, Partial<BranchFacts>, string][] = [
    ['seen', {}, 'True/Succeeded'],
    ['not there yet', { observation: { ...quietBranch, tip: null } }, 'True/Succeeded'],
    ['not looked at', { observation: undefined }, 'Unknown/Checking'],
    [
      'not looked at, and the provider fails',
      { observation: undefined, provider: { ...provider, ready: false } },
      'False/GitProviderNotReady',
    ],
    ['no provider', { provider: { ...provider, exists: false } }, 'False/GitProviderNotFound stalled'],
    ['not allowed', { provider: { ...provider, allowed: false } }, 'False/BranchNotAllowed stalled'],
    ['a duplicate', { duplicateOf: 'older' }, 'False/Duplicate stalled'],
    ['nobody uses it', { targets: 0, observation: undefined }, 'True/NotReferenced'],
    ['a push is refused', { observation: failure('PushRefused') }, 'False/PushRefused stalled'],
    ['no answer', { observation: failure('RemoteUnreachable') }, 'False/RemoteUnreachable'],
    ['a strange host key', { observation: failure('HostKeyUnknown') }, 'False/RemoteUnreachable'],
    ['gone', { observation: { ...quietBranch, halt: 'BranchGone' } }, 'False/BranchGone stalled'],
    [
      'another history',
      { observation: { ...quietBranch, halt: 'HistoryRewritten' } },
      'False/HistoryRewritten stalled',
    ],
  ];
  for (const [name, facts, ready] of table) {
    it(name, () => assert.equal(readyOf(gitBranchConditions, decideGitBranch({ ...fine, ...facts })), ready));
  }
});

describe('conditions made of decisions', () => {
  it('keep the transition time while the status stays, and carry the generation', () => {
    const first = conditionsOf([], gitProviderConditions, decideGitProvider(undefined), 1, now);
    const second = conditionsOf(
      first,
      gitProviderConditions,
      decideGitProvider({ kind: 'unusable', reason: 'SecretNotFound', message: '' }),
      2,
      later,
    );
    const third = conditionsOf(
      second,
      gitProviderConditions,
      decideGitProvider({ kind: 'unusable', reason: 'SecretMalformed', message: '' }),
      2,
      later,
    );
    assert.deepEqual(
      [first, second, third].map((list) => list.find(({ type }) => type === 'Ready')?.lastTransitionTime),
      [now, later, later],
    );
    assert.ok(third.every(({ observedGeneration }) => observedGeneration === 2));
  });

  it('go when they are not decided any more, but not those that others tell beside Ready', () => {
    const old = [
      { type: 'Validated', status: 'True', reason: 'InCluster', message: '', lastTransitionTime: now },
      {
        type: 'AuditFactsReceived',
        status: 'True',
        reason: 'Received',
        message: '',
        lastTransitionTime: now,
      },
    ] as const;
    const kept = conditionsOf(old, kubeProviderConditions, { gates: [], contributors: [] }, 1, now).map(
      ({ type }) => type,
    );
    assert.deepEqual(kept, ['AuditFactsReceived', 'Ready', 'Reconciling', 'Stalled']);
  });
});
