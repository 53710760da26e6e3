import assert from 'node:assert/strict';
import { gitTargetConditions } from '../../src/api/conditions.ts';
import { gitProvider as gitProviderSchema } from '../../src/api/git-provider.ts';
import { type GitTargetSpec, gitTarget as gitTargetSchema } from '../../src/api/git-target.ts';
import { decideGitTarget, type TargetFacts } from '../../src/controllers/decide-git-target.ts';
import { conditionsOf, gatesOf } from '../../src/controllers/gates.ts';
import { type TargetReferences, validateTarget } from '../../src/controllers/validate-git-target.ts';
import { refuse } from '../../src/core/refusal.ts';
import type { TargetObservation, WatchedCollection } from '../../src/worker/mirror-spec.ts';
import { quietBranch } from './recording-mirror.ts';
import { gitProvider, gitTarget } from './samples.ts';

const { gate } = gatesOf(gitTargetConditions);
const now = '2026-01-01T12:00:00Z';

function specOf(spec: object = {}): GitTargetSpec {
  return gitTargetSchema.parse(gitTarget('live', 'clusters/one', spec)).spec;
}

function collection(resource: string, namespace = 'shop'): WatchedCollection {
  return { group: '', version: 'v1', resource, kind: 'Any', namespaced: true, namespace, labelSelector: '' };
}

const maps = collection('configmaps');
const live: TargetObservation = {
  branch: quietBranch,
  streams: [{ collection: maps, state: { phase: 'streaming' } }],
  folder: { commit: 'c', refusals: [], skipped: [], documents: 3 },
  refused: [],
  retained: 0,
  notices: [],
};

const fine: TargetFacts = {
  spec: specOf(),
  branch: 'main',
  validated: gate('Validated', 'Succeeded'),
  sealing: { kind: 'off' },
  provider: { name: 'git', ready: true, message: '' },
  kubeProvider: { name: 'default', ready: true, message: '' },
  reach: { reason: 'LocalCluster', message: '' },
  collections: [maps],
  rulesKnown: true,
  running: true,
  observation: live,
  gated: undefined,
  routed: undefined,
  trusted: undefined,
  before: [],
};

function told(facts: Partial<TargetFacts>): Record<string, string> {
  const conditions = conditionsOf([], gitTargetConditions, decideGitTarget({ ...fine, ...facts }), 1, now);
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

function seen(observation: Partial<TargetObservation>): Partial<TargetFacts> {
  return { observation: { ...live, ...observation } };
}

const failure = (reason: 'RemoteUnreachable' | 'PushRefused' | 'AuthenticationFailed' | 'DiskFull') =>
  seen({ branch: { ...quietBranch, failure: { reason, message: 'no', since: 0 } } });

describe('the conditions of a GitTarget', () => {
  const table: readonly [string, Partial<TargetFacts>, Readonly<Record<string, string>>][] = [
    [
      'everything is well',
      {},
      {
        Ready: 'True/Succeeded',
        Stalled: 'False/Succeeded',
        Validated: 'True/Succeeded',
        EncryptionConfigured: 'True/NotRequired',
        GitProviderReady: 'True/Succeeded',
        KubeProviderReady: 'True/Succeeded',
        SourceClusterReachable: 'True/LocalCluster',
        StreamsRunning: 'True/AllStreamsReady',
        GitPathAccepted: 'True/Succeeded',
        LayoutResolved: 'True/None',
      },
    ],
    ['suspended', { spec: specOf({ suspend: true }) }, { Ready: 'True/Suspended' }],
    [
      'suspended, but its provider fails',
      { spec: specOf({ suspend: true }), provider: { name: 'git', ready: false, message: 'no' } },
      { Ready: 'False/GitProviderNotReady' },
    ],
    [
      'no rules',
      { collections: [], ...seen({ streams: [] }) },
      { Ready: 'True/Succeeded', StreamsRunning: 'True/NoResolvedTypes' },
    ],
    [
      'no rules, but they cannot be read at present',
      { collections: [], rulesKnown: false, ...seen({ streams: [] }) },
      { Ready: 'Unknown/NotReady', StreamsRunning: 'Unknown/NotReady' },
    ],
    [
      'not valid: nothing else is claimed',
      { validated: gate('Validated', 'TargetConflict', 'taken') },
      {
        Ready: 'False/ValidationFailed',
        Stalled: 'True/ValidationFailed',
        Validated: 'False/TargetConflict',
        EncryptionConfigured: 'Unknown/Blocked',
        StreamsRunning: 'Unknown/NotReady',
        GitPathAccepted: 'Unknown/NotChecked',
      },
    ],
    [
      'encryption without its Secret',
      { sealing: { kind: 'unusable', reason: 'MissingSecret', message: 'there is none' } },
      {
        Ready: 'False/EncryptionNotConfigured',
        EncryptionConfigured: 'False/MissingSecret',
        StreamsRunning: 'Unknown/NotReady',
      },
    ],
    [
      'encryption with keys',
      { sealing: { kind: 'ok', sealing: { recipients: ['age1x'], keys: undefined }, message: '' } },
      { EncryptionConfigured: 'True/Succeeded', Ready: 'True/Succeeded' },
    ],
    [
      'encryption that could not be read yet',
      { sealing: { kind: 'unknown', message: '' } },
      { EncryptionConfigured: 'Unknown/Blocked' },
    ],
    [
      'the cluster was not asked',
      { reach: { reason: 'AwaitingDiscovery', message: '' }, running: false, observation: undefined },
      { Ready: 'Unknown/AwaitingDiscovery', Stalled: 'False/Progressing' },
    ],
    [
      'the cluster says 401',
      { reach: { reason: 'SourceClusterAuthenticationFailed', message: '' } },
      { Ready: 'False/SourceClusterAuthenticationFailed', Stalled: 'True/SourceClusterAuthenticationFailed' },
    ],
    [
      'a snapshot is read',
      seen({ streams: [{ collection: maps, state: { phase: 'replaying' } }] }),
      { Ready: 'False/InitialReplay', Reconciling: 'True/InitialReplay' },
    ],
    [
      'a snapshot is read again',
      {
        ...seen({ streams: [{ collection: maps, state: { phase: 'replaying' } }] }),
        before: [
          {
            type: 'StreamsRunning',
            status: 'True',
            reason: 'AllStreamsReady',
            message: '',
            lastTransitionTime: now,
          },
        ],
      },
      { StreamsRunning: 'False/Replaying' },
    ],
    [
      'one type may not be watched: named, though another one only hiccups',
      {
        collections: [maps, collection('services')],
        ...seen({
          streams: [
            { collection: maps, state: { phase: 'blocked', reason: 'Unreachable', message: 'gone' } },
            {
              collection: collection('services'),
              state: { phase: 'blocked', reason: 'WatchNotPermitted', message: 'forbidden' },
            },
          ],
        }),
      },
      {
        StreamsRunning: 'False/WatchNotPermitted',
        Ready: 'False/WatchNotPermitted',
        Stalled: 'True/WatchNotPermitted',
      },
    ],
    [
      'a stream hiccups',
      seen({
        streams: [{ collection: maps, state: { phase: 'blocked', reason: 'Unreachable', message: 'gone' } }],
      }),
      { StreamsRunning: 'False/WatchError', Stalled: 'False/Progressing' },
    ],
    [
      'the worker does not run yet',
      { observation: undefined },
      { Ready: 'Unknown/NotReady', GitPathAccepted: 'Unknown/NotChecked' },
    ],
    [
      'the folder is refused',
      seen({ folder: { commit: 'c', refusals: [refuse('Duplicate', 'twice')], skipped: [], documents: 3 } }),
      {
        GitPathAccepted: 'False/UnsupportedContent',
        Ready: 'False/UnsupportedContent',
        Stalled: 'True/UnsupportedContent',
      },
    ],
    [
      'the folder would be left',
      seen({
        folder: { commit: 'c', refusals: [refuse('WriteEscapesScope', 'out')], skipped: [], documents: 3 },
      }),
      { GitPathAccepted: 'False/WriteBoundaryRefused' },
    ],
    [
      'an ignore pattern hides a file',
      seen({
        folder: {
          commit: 'c',
          refusals: [refuse('IgnoreShadowsManaged', 'hidden')],
          skipped: [],
          documents: 3,
        },
      }),
      { GitPathAccepted: 'False/IgnoreShadowsManagedPath' },
    ],
    [
      'one edit is refused, the rest goes on',
      seen({ refused: [refuse('NotEditable', 'an anchor')] }),
      { Ready: 'True/Succeeded', GitPathAccepted: 'True/Succeeded' },
    ],
    [
      'the layout is not understood',
      seen({ refused: [refuse('UnsupportedKustomize', 'kustomize')] }),
      { Ready: 'True/Succeeded' },
    ],
    [
      'several namespaces without saying which',
      { spec: specOf({ serializeNamespace: false }), collections: [maps, collection('configmaps', 'other')] },
      { GitPathAccepted: 'False/MultipleSourceNamespaces', Stalled: 'True/MultipleSourceNamespaces' },
    ],
    [
      'the remote does not answer',
      failure('RemoteUnreachable'),
      { Ready: 'False/RemoteUnreachable', Stalled: 'False/Progressing' },
    ],
    ['the login fails', failure('AuthenticationFailed'), { Ready: 'False/RemoteUnreachable' }],
    [
      'the push is refused',
      failure('PushRefused'),
      { Ready: 'False/PushRefused', Stalled: 'True/PushRefused' },
    ],
    ['the disk is full', failure('DiskFull'), { Ready: 'False/WorkerUnavailable' }],
    [
      'the branch is gone',
      seen({ branch: { ...quietBranch, tip: undefined, halt: 'BranchGone' } }),
      { Ready: 'False/BranchGone', Stalled: 'True/BranchGone' },
    ],
  ];
  for (const [name, facts, expected] of table) {
    it(name, () => {
      const conditions = told(facts);
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((type) => [type, conditions[type]])),
        expected,
      );
    });
  }

  it('says in its message what is refused, and by whom it can be mended', () => {
    const { contributors } = decideGitTarget({
      ...fine,
      ...seen({
        refused: [
          refuse('NotEditable', 'it holds an anchor', {
            object: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'rates' },
          }),
        ],
      }),
    });
    assert.match(
      contributors[0]?.message ?? '',
      /1 edit is refused: NotEditable ConfigMap\/shop\/rates: it holds an anchor \(repository-author\)/,
    );
  });

  it('claims no layout while it is not understood', () => {
    assert.equal(
      told(seen({ refused: [refuse('UnsupportedKustomize', 'kustomize')] })).LayoutResolved,
      undefined,
    );
  });
});

describe('the validation of a GitTarget', () => {
  const provider = gitProviderSchema.parse(gitProvider('git', 'https://git.example.com/shop.git')).spec;
  const right: TargetReferences = {
    namespace: 'shop',
    spec: specOf(),
    gitBranchMissing: false,
    provider: { name: 'git', spec: provider },
    branch: 'main',
    kubeProvider: { name: 'default', exists: true, grant: { kind: 'admitted', lent: new Set(['shop']) } },
    conflict: undefined,
  };
  const table: readonly [string, Partial<TargetReferences>, string, RegExp][] = [
    ['all is right', {}, 'Succeeded', /valid/],
    ['no GitBranch', { gitBranchMissing: true }, 'GitBranchNotFound', /no GitBranch/],
    [
      'no GitProvider',
      { provider: { name: 'git', spec: undefined } },
      'GitProviderNotFound',
      /no GitProvider git in namespace shop/,
    ],
    ['another branch', { branch: 'dev' }, 'BranchNotAllowed', /allows main, env\/\*, not dev/],
    [
      'no KubeProvider',
      { kubeProvider: { ...right.kubeProvider, exists: false, grant: { kind: 'denied' } } },
      'KubeProviderNotFound',
      /no KubeProvider default/,
    ],
    [
      'not admitted',
      { kubeProvider: { ...right.kubeProvider, grant: { kind: 'denied' } } },
      'NamespaceNotAuthorized',
      /allowedGitTargets/,
    ],
    [
      'labels unknown',
      { kubeProvider: { ...right.kubeProvider, grant: { kind: 'unknown' } } },
      'NamespaceNotAuthorized',
      /labels .* cannot be read/,
    ],
    [
      'a bad placement',
      { spec: specOf({ placement: { default: '{nope}.yaml' } }) },
      'InvalidConfig',
      /\{nope\}/,
    ],
    [
      'a bad template',
      { spec: specOf({ commit: { message: { liveTemplate: '{{.Nope}}' } } }) },
      'InvalidConfig',
      /liveTemplate/,
    ],
    [
      'a template of the wrong fields',
      { spec: specOf({ commit: { message: { reconcileTemplate: '{{.Revision}}' } } }) },
      'InvalidConfig',
      /reconcileTemplate/,
    ],
    ['taken', { conflict: 'shop/older' }, 'TargetConflict', /GitTarget shop\/older is older/],
  ];
  for (const [name, facts, reason, message] of table) {
    it(name, () => {
      const gate = validateTarget({ ...right, ...facts });
      assert.equal(gate.reason, reason);
      assert.match(gate.message, message);
    });
  }
});
