/** Specs and what becomes of them: the offline check and the API server are both held to this table. */
import type { JsonObject } from '../../src/core/json.ts';

export interface Verdict {
  readonly name: string;
  readonly kind: string;
  readonly spec: JsonObject;
  /** Absent: accepted. Else a part of the API server's message. */
  readonly refused?: string;
}

export const provider = { url: 'https://git.example.com/shop.git', allowedBranches: ['main'] };
export const branch = { gitProviderRef: { name: 'shop' }, branch: 'main' };
export const cluster = { inCluster: {} };
export const target = { gitProviderRef: { name: 'shop' }, branch: 'main', path: 'live' };
export const rule = { gitTargetRef: { name: 'shop' }, rules: [{ resources: ['configmaps'] }] };
const clusterRule = {
  gitTargetRef: { name: 'shop', namespace: 'shop' },
  rules: [{ resources: ['clusterroles'] }],
};
const labels = 'In and NotIn need values, Exists and DoesNotExist take none';
const pattern = 'should match';

function accepted(kind: string, base: JsonObject, cases: Record<string, JsonObject>): Verdict[] {
  return Object.entries(cases).map(([name, change]) => ({ name, kind, spec: { ...base, ...change } }));
}

function refused(kind: string, base: JsonObject, cases: Record<string, [JsonObject, string]>): Verdict[] {
  return Object.entries(cases).map(([name, [change, message]]) => ({
    name,
    kind,
    spec: { ...base, ...change },
    refused: message,
  }));
}

export function grant(consumerNamespaces: JsonObject, more: JsonObject = {}): JsonObject {
  return { allowedGitTargets: [{ consumerNamespaces, ...more }] };
}

function selecting(requirement: JsonObject): JsonObject {
  return { rules: [{ resources: ['*'], objectSelector: { matchExpressions: [requirement] } }] };
}

export function windowOf(window: JsonObject): JsonObject {
  return { commit: { window } };
}

export const verdicts: readonly Verdict[] = [
  ...accepted('GitProvider', provider, {
    'least of a GitProvider': {},
    'an ssh address': { url: 'ssh://git@git.example.com:2222/shop.git' },
    'the short form of an ssh address': { url: 'git@git.example.com:team/shop.git' },
    'the short form without a user': { url: 'git.example.com:team/shop.git' },
    'plain http': { url: 'http://git.example.com/shop.git' },
    'all of a GitProvider': {
      secretRef: { name: 'git' },
      knownHostsRef: { name: 'hosts' },
      commit: { committer: { name: 'Ünal' }, signing: { secretRef: { name: 'key' } } },
    },
    'a field that is null': { secretRef: null },
  }),
  ...refused('GitProvider', provider, {
    'no address': [{ url: null }, 'spec.url: Required value'],
    'a file address': [{ url: 'file:///srv/shop.git' }, 'must be an https, http or ssh address'],
    'a password in the address': [
      { url: 'https://u:p@git.example.com/x.git' },
      'must not hold a user or password',
    ],
    'a token in the address': [
      { url: 'https://t0ken@git.example.com/x.git' },
      'must not hold a user or password',
    ],
    'no branch pattern': [{ allowedBranches: [] }, 'should have at least 1 items'],
    'an empty branch pattern': [{ allowedBranches: [''] }, 'should be at least 1 chars long'],
    'an empty Secret name': [{ secretRef: { name: '' } }, 'should be at least 1 chars long'],
    'another kind of known hosts': [
      { knownHostsRef: { kind: 'Pod', name: 'x' } },
      'supported values: "ConfigMap", "Secret"',
    ],
    'a committer that breaks a commit': [
      { commit: { committer: { name: 'a <b>' } } },
      'must not be blank and not hold < >',
    ],
    'a blank committer': [{ commit: { committer: { email: '  ' } } }, 'must not be blank'],
    'signing without a Secret': [
      { commit: { signing: {} } },
      'spec.commit.signing.secretRef: Required value',
    ],
    'a field nobody knows': [{ push: { commitWindow: '5s' } }, 'unknown field "spec.push"'],
  }),
  ...accepted('GitBranch', branch, {
    'least of a GitBranch': {},
    'a branch with slashes': { branch: 'env/prod-1.2_x' },
    'a branch with letters of the world': { branch: 'größe/日本' },
    'the name of a ref inside a branch': { branch: 'feature/refs/heads' },
  }),
  ...refused(
    'GitBranch',
    branch,
    Object.fromEntries([
      ...['HEAD', 'refs/heads/main'].map((name) => [name, [{ branch: name }, 'must be a short branch name']]),
      ...['a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[b', 'a\\b', 'a\tb'].map((name) => [
        JSON.stringify(name),
        [{ branch: name }, 'must be a branch name without whitespace'],
      ]),
      ...['a..b', 'a//b', 'a@{1', '/a', 'a/', '-a', '.a', 'a/.b', 'a.', 'a.lock', 'a.lock/b', '@'].map(
        (name) => [name, [{ branch: name }, 'must be a name git accepts for a branch']],
      ),
    ]),
  ),
  ...accepted('KubeProvider', cluster, {
    'least of a KubeProvider': {},
    'another cluster': { inCluster: null, kubeConfig: { secretRef: { name: 'c', key: '' } } },
    everybody: grant({ from: 'All' }, { sourceNamespaces: ['*'] }),
    'named namespaces': grant({ from: 'Names', names: ['a'] }, { sourceNamespaces: ['b', 'c'] }),
    'an empty selector': grant({ from: 'Selector', selector: {} }),
    'a route': { attribution: { auditRoute: 'prod.eu-1' } },
    limits: { client: { qps: 1 } },
  }),
  ...refused('KubeProvider', cluster, {
    'neither connection': [{ inCluster: null }, 'exactly one of inCluster and kubeConfig must be set'],
    'both connections': [
      { kubeConfig: { secretRef: { name: 'c' } } },
      'exactly one of inCluster and kubeConfig must be set',
    ],
    'a kubeconfig from a ConfigMap': [
      { inCluster: null, kubeConfig: { configMapRef: { name: 'c' } } },
      'unknown field "spec.kubeConfig.configMapRef"',
    ],
    'no requests at all': [{ client: { qps: 0 } }, 'should be greater than or equal to 1'],
    'half a request': [{ client: { burst: 1.5 } }, 'must be of type integer'],
    'limits in their old place': [{ qps: 5 }, 'unknown field "spec.qps"'],
    'the same namespace, which a cluster has not': [
      grant({ from: 'Same' }),
      'supported values: "Names", "Selector", "All"',
    ],
    'names without names': [
      grant({ from: 'Names' }),
      'names belongs to from: Names, which needs at least one',
    ],
    'names that are empty': [grant({ from: 'Names', names: [] }), 'names belongs to from: Names'],
    'names beside all': [grant({ from: 'All', names: ['a'] }), 'names belongs to from: Names'],
    'every name': [grant({ from: 'Names', names: ['*'] }), pattern],
    'a selector beside names': [
      grant({ from: 'Names', names: ['a'], selector: {} }),
      'selector belongs to from: Selector',
    ],
    'a selector that is missing': [grant({ from: 'Selector' }), 'selector belongs to from: Selector'],
    'no namespace lent': [grant({ from: 'All' }, { sourceNamespaces: [] }), 'should have at least 1 items'],
    'a pattern of namespaces': [grant({ from: 'All' }, { sourceNamespaces: ['a-*'] }), pattern],
    'a route that is no name': [{ attribution: { auditRoute: 'A/b' } }, pattern],
  }),
  ...accepted('GitTarget', target, {
    'least of a GitTarget': {},
    'the root of the repository': { path: '.' },
    'a folder with a trailing slash': { path: 'a/b/' },
    'dots in a name': { path: 'a..b/...c' },
    'a GitBranch': { gitProviderRef: null, branch: null, gitBranchRef: { name: 'b' } },
    'a commit per edit': windowOf({ idleTimeout: '0s' }),
    'fractions and micro signs': windowOf({ idleTimeout: '1.5µs', maxDuration: '0.5h' }),
    'both limits alike': windowOf({ idleTimeout: '90s', maxDuration: '1m30s' }),
    'a day': windowOf({ idleTimeout: '24h', maxDuration: '1440m' }),
    'empty parents': { commit: {}, prune: {}, encryption: {}, placement: {} },
    'null parents': { commit: null, prune: null, encryption: { age: null } },
    encryption: {
      encryption: {
        age: { enabled: true, recipients: { publicKeys: ['age1qqqq'] } },
        secretRef: { name: 'age' },
      },
    },
    managers: { ignoreManagers: ['backup-*', 'x'] },
  }),
  ...refused('GitTarget', target, {
    'no folder': [{ path: null }, 'spec.path: Required value'],
    'an empty folder': [{ path: '' }, 'should be at least 1 chars long'],
    'an absolute folder': [{ path: '/a' }, 'must be relative and must not leave the repository'],
    'a folder above': [{ path: 'a/../..' }, 'must be relative and must not leave the repository'],
    'a backslash': [{ path: 'a\\b' }, 'must not hold control characters or a backslash'],
    'the folder of git': [{ path: 'a/.GIT/hooks' }, 'must not name a .git folder'],
    'a GitProvider without a branch': [
      { branch: null },
      'set either gitProviderRef and branch, or gitBranchRef',
    ],
    'a branch without a GitProvider': [
      { gitProviderRef: null },
      'set either gitProviderRef and branch, or gitBranchRef',
    ],
    'a branch twice': [
      { gitBranchRef: { name: 'b' } },
      'set either gitProviderRef and branch, or gitBranchRef',
    ],
    'a ref for a branch': [{ branch: 'refs/heads/x' }, 'must be a short branch name'],
    'another encryption': [{ encryption: { provider: 'vault' } }, 'supported values: "sops"'],
    'a private key for a recipient': [
      { encryption: { age: { recipients: { publicKeys: ['AGE-SECRET-KEY-1Q'] } } } },
      pattern,
    ],
    'another way to prune': [
      { prune: { mode: 'Sometimes' } },
      'supported values: "Never", "OnEvent", "Always"',
    ],
    'a wait beyond the end': [
      windowOf({ idleTimeout: '2m' }),
      'idleTimeout must not be longer than maxDuration',
    ],
    'an end before the default wait': [
      windowOf({ maxDuration: '1s' }),
      'idleTimeout must not be longer than maxDuration',
    ],
    'more than a day': [windowOf({ maxDuration: '24h1ms' }), 'must be at most 24h'],
    'a duration without a unit': [windowOf({ idleTimeout: '5' }), pattern],
    'a negative duration': [windowOf({ idleTimeout: '-5s' }), pattern],
    'a duration beyond counting': [windowOf({ maxDuration: '99999999999999h' }), 'must be at most 24h'],
    'a number for a duration': [windowOf({ idleTimeout: 5 }), 'must be of type string'],
    'a text for a switch': [{ suspend: 'true' }, 'must be of type boolean'],
    'a claim, which is not served': [
      { applierClaimRef: { kind: 'FluxClaim', name: 'x' } },
      'unknown field "spec.applierClaimRef"',
    ],
    'an old reference': [
      { gitProviderRef: { group: 'configbutler.ai', name: 'x' } },
      'unknown field "spec.gitProviderRef.group"',
    ],
    'an empty manager': [{ ignoreManagers: [''] }, 'should be at least 1 chars long'],
    'null in a list': [{ ignoreManagers: [null] }, 'must be of type string'],
    'too many managers': [
      { ignoreManagers: Array.from({ length: 65 }, () => 'x') },
      'must have at most 64 items',
    ],
  }),
  ...accepted('WatchRule', rule, {
    'least of a WatchRule': {},
    everything: { rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], sourceNamespace: '*' }] },
    'the core group': { rules: [{ apiGroups: [''], resources: ['ConfigMaps'] }] },
    labels: {
      rules: [
        {
          resources: ['configmaps'],
          objectSelector: {
            matchLabels: { 'example.com/team': 'shop', empty: '' },
            matchExpressions: [
              { key: 'a', operator: 'In', values: ['b'] },
              { key: 'c', operator: 'Exists', values: [] },
            ],
          },
        },
      ],
    },
  }),
  ...refused('WatchRule', rule, {
    'no rule': [{ rules: [] }, 'should have at least 1 items'],
    'no resource': [{ rules: [{ resources: [] }] }, 'should have at least 1 items'],
    'a subresource': [{ rules: [{ resources: ['pods/log'] }] }, pattern],
    'part of a name': [{ rules: [{ resources: ['conf*'] }] }, pattern],
    'a version with its group': [{ rules: [{ apiVersions: ['apps/v1'], resources: ['x'] }] }, pattern],
    'a pattern of namespaces': [{ rules: [{ resources: ['x'], sourceNamespace: 'a-*' }] }, pattern],
    operations: [
      { rules: [{ resources: ['x'], operations: ['CREATE'] }] },
      'unknown field "spec.rules[0].operations"',
    ],
    'In without values': [selecting({ key: 'a', operator: 'In' }), labels],
    'NotIn without values': [selecting({ key: 'a', operator: 'NotIn', values: [] }), labels],
    'Exists with values': [selecting({ key: 'a', operator: 'Exists', values: ['b'] }), labels],
    'an operator nobody knows': [
      selecting({ key: 'a', operator: 'Gt', values: ['1'] }),
      'supported values: "In", "NotIn", "Exists", "DoesNotExist"',
    ],
    'a label without a key': [selecting({ key: '', operator: 'Exists' }), 'should be at least 1 chars long'],
    'a value that is no label': [
      { rules: [{ resources: ['x'], objectSelector: { matchLabels: { a: 'b c' } } }] },
      pattern,
    ],
    'too many labels': [
      {
        rules: [
          {
            resources: ['x'],
            objectSelector: {
              matchLabels: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`l${n}`, 'x'])),
            },
          },
        ],
      },
      'must have at most 64 items',
    ],
    'a target elsewhere': [
      { gitTargetRef: { name: 'x', namespace: 'y' } },
      'unknown field "spec.gitTargetRef.namespace"',
    ],
  }),
  ...accepted('ClusterWatchRule', clusterRule, { 'least of a ClusterWatchRule': {} }),
  ...refused('ClusterWatchRule', clusterRule, {
    'no namespace': [{ gitTargetRef: { name: 'x' } }, 'spec.gitTargetRef.namespace: Required value'],
    'a source namespace': [
      { rules: [{ resources: ['x'], sourceNamespace: 'a' }] },
      'unknown field "spec.rules[0].sourceNamespace"',
    ],
    'a scope': [{ rules: [{ resources: ['x'], scope: 'Cluster' }] }, 'unknown field "spec.rules[0].scope"'],
  }),
];
