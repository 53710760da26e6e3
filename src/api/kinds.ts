/**
 * The kinds of our API. From one zod schema per kind come the TypeScript type, the CRD (crd.ts), the reference page
 * (reference.ts) and the offline check. No kind knows how it is reconciled: controllers do.
 */
import { clusterWatchRuleKind } from './cluster-watch-rule.ts';
import type { KindDefinition } from './definition.ts';
import { gitBranchKind } from './git-branch.ts';
import { gitProviderKind } from './git-provider.ts';
import { gitTargetKind } from './git-target.ts';
import { kubeProviderKind } from './kube-provider.ts';
import { syncGateKind } from './sync-gate.ts';
import { watchRuleKind } from './watch-rule.ts';

export const kinds: readonly KindDefinition[] = [
  gitProviderKind,
  gitBranchKind,
  kubeProviderKind,
  gitTargetKind,
  watchRuleKind,
  clusterWatchRuleKind,
  syncGateKind,
];

export function kindNamed(kind: string): KindDefinition | undefined {
  return kinds.find((definition) => definition.kind === kind);
}
