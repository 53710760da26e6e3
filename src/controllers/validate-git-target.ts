/** Whether a GitTarget fits the objects it names: the first thing that is wrong with it. Pure; nothing is watched before it holds. */

import { gitTargetConditions } from '../api/conditions.ts';
import { parseDuration } from '../api/duration.ts';
import type { GitProviderSpec } from '../api/git-provider.ts';
import type { GitTargetSpec } from '../api/git-target.ts';
import { pathShapeProblem } from '../core/folder/path.ts';
import { type PlacementSpec, validatePlacement } from '../core/folder/placement.ts';
import { validateMessageTemplates } from '../core/template/message.ts';
import { isBranchAllowed } from './branch-name.ts';
import { normalFolder } from './destination.ts';
import { type Gate, gatesOf } from './gates.ts';
import type { Grant } from './grants.ts';

const { gate } = gatesOf(gitTargetConditions);

export interface TargetReferences {
  readonly namespace: string;
  readonly spec: GitTargetSpec;
  /** Of gitBranchRef, when the spec has one. */
  readonly gitBranchMissing: boolean;
  readonly provider: { readonly name: string; readonly spec: GitProviderSpec | undefined };
  readonly branch: string;
  readonly kubeProvider: { readonly name: string; readonly exists: boolean; readonly grant: Grant };
  /** Key of the older GitTarget that has the folder. */
  readonly conflict: string | undefined;
}

export function validateTarget(facts: TargetReferences): Gate {
  const { namespace, spec, provider, branch, kubeProvider, conflict } = facts;
  const no = (reason: Parameters<typeof gate<'Validated'>>[1], message: string) =>
    gate('Validated', reason, message);
  if (facts.gitBranchMissing) {
    return no(
      'GitBranchNotFound',
      `there is no GitBranch ${spec.gitBranchRef?.name ?? ''} in namespace ${namespace}`,
    );
  }
  if (provider.spec === undefined) {
    return no('GitProviderNotFound', `there is no GitProvider ${provider.name} in namespace ${namespace}`);
  }
  if (!isBranchAllowed(branch, provider.spec.allowedBranches)) {
    const allowed = provider.spec.allowedBranches.slice(0, 10).join(', ');
    return no('BranchNotAllowed', `GitProvider ${provider.name} allows ${allowed}, not ${branch}`);
  }
  if (!kubeProvider.exists)
    return no('KubeProviderNotFound', `there is no KubeProvider ${kubeProvider.name}`);
  if (kubeProvider.grant.kind === 'denied') {
    return no(
      'NamespaceNotAuthorized',
      `KubeProvider ${kubeProvider.name} does not admit namespace ${namespace}; add it to allowedGitTargets`,
    );
  }
  if (kubeProvider.grant.kind === 'unknown') {
    return no(
      'NamespaceNotAuthorized',
      `KubeProvider ${kubeProvider.name} admits by label, and the labels of namespace ${namespace} cannot be read`,
    );
  }
  const problems = configProblems(spec);
  if (problems.length > 0) return no('InvalidConfig', problems.slice(0, 10).join('; '));
  if (conflict !== undefined) {
    return no(
      'TargetConflict',
      `GitTarget ${conflict} is older and has this folder, one above it or one inside it`,
    );
  }
  return gate('Validated', 'Succeeded', 'all references are valid');
}

/** What only a reconciler can check of a spec, as sentences. */
export function configProblems({ path, placement, commit }: GitTargetSpec): string[] {
  const folder = normalFolder(path);
  const shape = folder === '' ? undefined : pathShapeProblem(folder);
  const { idleTimeout, maxDuration } = commit.window;
  const window = (parseDuration(idleTimeout) ?? 0) > (parseDuration(maxDuration) ?? 0);
  return [
    ...(shape === undefined ? [] : [`path ${JSON.stringify(path)} ${shape}`]),
    ...validatePlacement(placementOf({ placement })),
    ...(window ? ['commit.window.idleTimeout is longer than maxDuration'] : []),
    ...validateMessageTemplates({
      liveTemplate: commit.message?.liveTemplate,
      reconcileTemplate: commit.message?.reconcileTemplate,
    }),
  ];
}

export function placementOf({ placement }: Pick<GitTargetSpec, 'placement'>): PlacementSpec {
  const { byType, default: fallback, useKustomize } = placement ?? {};
  return {
    ...(byType === undefined ? {} : { byType }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(useKustomize === true ? { useKustomize } : {}),
  };
}
