/** Everything that is known about one GitTarget at this moment, gathered from the store and the facts. Decides nothing that is written. */
import type { GitBranch } from '../api/git-branch.ts';
import type { GitProvider } from '../api/git-provider.ts';
import type { GitTarget } from '../api/git-target.ts';
import type { KubeProvider } from '../api/kube-provider.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { Context } from './context.ts';
import { type ProviderSettings, usableSettings } from './decide-git-provider.ts';
import { decideKubeProvider } from './decide-kube-provider.ts';
import { type Destination, destinationLosers, normalFolder } from './destination.ts';
import type { SealingState } from './encryption.ts';
import type { Gate } from './gates.ts';
import { type Grant, grantFor } from './grants.ts';
import { byAge, keyFrom, keyOf } from './object-key.ts';
import type { SourceCluster } from './source-cluster.ts';
import type { Store } from './store.ts';
import { validateTarget } from './validate-git-target.ts';

export interface TargetView {
  readonly key: string;
  readonly target: GitTarget;
  readonly namespace: string;
  readonly branch: string;
  /** The oldest GitBranch of this branch. */
  readonly gitBranch: GitBranch | undefined;
  readonly providerName: string;
  readonly provider: GitProvider | undefined;
  readonly providerReady: boolean;
  readonly providerMessage: string;
  readonly settings: ProviderSettings | undefined;
  readonly kubeProviderName: string;
  readonly kubeProvider: KubeProvider | undefined;
  readonly kubeProviderReady: boolean;
  readonly kubeProviderMessage: string;
  readonly grant: Grant;
  readonly cluster: SourceCluster | undefined;
  readonly sealing: SealingState;
  readonly validated: Gate;
  /** Something was never found out since the start: nothing new can be said yet. */
  readonly settling: boolean;
}

export function viewTarget(context: Context, target: GitTarget): TargetView {
  const { store, checks, clusters, encryption } = context;
  const namespace = target.metadata.namespace ?? '';
  const key = keyOf(target);
  const { providerName, branch, gitBranchMissing } = branchNamed(context, target);
  const provider =
    providerName === '' ? undefined : store.get('GitProvider', keyFrom(namespace, providerName));
  const record = provider === undefined ? undefined : checks.record(provider);
  const kubeProviderName = target.spec.kubeProviderRef.name;
  const kubeProvider = store.get('KubeProvider', kubeProviderName);
  const grant: Grant =
    kubeProvider === undefined
      ? { kind: 'denied' }
      : grantFor(kubeProvider.spec, namespace, store.namespaceLabels(namespace));
  const connection = clusters.connection(kubeProviderName);
  const cluster = kubeProvider === undefined ? undefined : clusters.get(kubeProviderName);
  const [connected] = connection === undefined ? [] : decideKubeProvider(connection).contributors;
  return {
    key,
    target,
    namespace,
    branch,
    gitBranch: branchObject(context, namespace, providerName, branch),
    providerName,
    provider,
    providerReady: record?.check.kind === 'verified',
    providerMessage:
      record === undefined ? 'it was not checked yet' : 'message' in record.check ? record.check.message : '',
    settings: usableSettings(record?.check, provider?.status?.lastVerifiedAt !== undefined),
    kubeProviderName,
    kubeProvider,
    kubeProviderReady: connected?.level === 'converged',
    kubeProviderMessage: connected?.message ?? 'it was not read yet',
    grant,
    cluster,
    sealing: encryption.state(target),
    settling:
      (provider !== undefined && record === undefined) ||
      (kubeProvider !== undefined && connection === undefined) ||
      cluster?.reach.reason === 'AwaitingDiscovery',
    validated: validateTarget({
      namespace,
      spec: target.spec,
      gitBranchMissing,
      provider: { name: providerName, spec: provider?.spec },
      branch,
      kubeProvider: { name: kubeProviderName, exists: kubeProvider !== undefined, grant },
      conflict: conflictOf(context, key),
    }),
  };
}

/** The branch a GitTarget names, directly or through a GitBranch. */
export function branchNamed(
  { store }: Pick<Context, 'store'>,
  { metadata, spec }: GitTarget,
): { readonly providerName: string; readonly branch: string; readonly gitBranchMissing: boolean } {
  if (spec.gitBranchRef === undefined) {
    return {
      providerName: spec.gitProviderRef?.name ?? '',
      branch: spec.branch ?? '',
      gitBranchMissing: false,
    };
  }
  const gitBranch = store.get('GitBranch', keyFrom(metadata.namespace, spec.gitBranchRef.name));
  if (gitBranch === undefined) return { providerName: '', branch: '', gitBranchMissing: true };
  return {
    providerName: gitBranch.spec.gitProviderRef.name,
    branch: gitBranch.spec.branch,
    gitBranchMissing: false,
  };
}

/** The oldest GitBranch of a branch; the younger ones are duplicates. */
export function branchObject(
  { store }: Pick<Context, 'store'>,
  namespace: string,
  provider: string,
  branch: string,
): GitBranch | undefined {
  const same = store
    .list('GitBranch')
    .filter(
      ({ metadata, spec }) =>
        metadata.namespace === namespace && spec.gitProviderRef.name === provider && spec.branch === branch,
    );
  return same.toSorted(byAge)[0];
}

function conflictOf({ store, memory }: Context, key: string): string | undefined {
  // Of all targets together, so it is worked out once per change of any of them.
  if (memory.losers?.version !== store.version) {
    memory.losers = { version: store.version, byKey: destinationLosers(destinationsIn(store)) };
  }
  return memory.losers.byKey.get(key);
}

function destinationsIn(store: Store): Destination[] {
  return store.list('GitTarget').flatMap((target): Destination[] => {
    const { providerName, branch, gitBranchMissing } = branchNamed({ store }, target);
    const provider = store.get('GitProvider', keyFrom(target.metadata.namespace, providerName));
    const repository = provider === undefined ? undefined : normaliseRepositoryUrl(provider.spec.url);
    if (gitBranchMissing || repository === undefined) return [];
    return [{ metadata: target.metadata, repository, branch, folder: normalFolder(target.spec.path) }];
  });
}
