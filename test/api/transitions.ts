/** Changes of a spec and whether the API server lets them happen; offline there is no old object to compare with. */
import type { JsonObject } from '../../src/core/json.ts';
import { branch, cluster, grant, provider, rule, target, windowOf } from './verdicts.ts';

export interface Transition {
  readonly name: string;
  readonly kind: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly refused?: string;
}

const byBranch = { gitBranchRef: { name: 'b' }, path: 'live' };
const remote = { kubeConfig: { secretRef: { name: 'c' } } };

export const transitions: readonly Transition[] = [
  {
    name: 'another address',
    kind: 'GitProvider',
    before: provider,
    after: { ...provider, url: 'https://x.example.com/y' },
    refused: 'url cannot be changed: create another GitProvider',
  },
  {
    name: 'other branches',
    kind: 'GitProvider',
    before: provider,
    after: { ...provider, allowedBranches: ['x'] },
  },
  {
    name: 'another branch',
    kind: 'GitBranch',
    before: branch,
    after: { ...branch, branch: 'x' },
    refused: 'branch cannot be changed',
  },
  {
    name: 'another provider of a branch',
    kind: 'GitBranch',
    before: branch,
    after: { ...branch, gitProviderRef: { name: 'x' } },
    refused: 'gitProviderRef cannot be changed',
  },
  {
    name: 'another cluster',
    kind: 'KubeProvider',
    before: cluster,
    after: remote,
    refused: 'cannot be changed: create another KubeProvider for another cluster',
  },
  {
    name: 'another kubeconfig',
    kind: 'KubeProvider',
    before: remote,
    after: { kubeConfig: { secretRef: { name: 'd' } } },
    refused: 'kubeConfig cannot be changed',
  },
  {
    name: 'a grant',
    kind: 'KubeProvider',
    before: cluster,
    after: { ...cluster, ...grant({ from: 'All' }) },
  },
  {
    name: 'another folder',
    kind: 'GitTarget',
    before: target,
    after: { ...target, path: 'x' },
    refused: 'path cannot be changed',
  },
  {
    name: 'another branch of a target',
    kind: 'GitTarget',
    before: target,
    after: { ...target, branch: 'x' },
    refused: 'branch cannot be changed',
  },
  {
    name: 'another provider of a target',
    kind: 'GitTarget',
    before: target,
    after: { ...target, gitProviderRef: { name: 'x' } },
    refused: 'gitProviderRef cannot be changed',
  },
  {
    name: 'another source',
    kind: 'GitTarget',
    before: target,
    after: { ...target, kubeProviderRef: { name: 'x' } },
    refused: 'kubeProviderRef cannot be changed',
  },
  {
    name: 'the default source spelled out',
    kind: 'GitTarget',
    before: target,
    after: { ...target, kubeProviderRef: { name: 'default' } },
  },
  {
    name: 'a GitBranch instead',
    kind: 'GitTarget',
    before: target,
    after: byBranch,
    refused: 'gitBranchRef cannot be changed',
  },
  {
    name: 'provider and branch instead',
    kind: 'GitTarget',
    before: byBranch,
    after: target,
    refused: 'gitBranchRef cannot be changed',
  },
  {
    name: 'another GitBranch',
    kind: 'GitTarget',
    before: byBranch,
    after: { ...byBranch, gitBranchRef: { name: 'c' } },
    refused: 'gitBranchRef cannot be changed',
  },
  {
    name: 'all that may change',
    kind: 'GitTarget',
    before: target,
    after: { ...target, suspend: true, prune: { mode: 'Never' }, ...windowOf({ idleTimeout: '1s' }) },
  },
  {
    name: 'another target of a rule',
    kind: 'WatchRule',
    before: rule,
    after: { ...rule, gitTargetRef: { name: 'x' } },
  },
];
