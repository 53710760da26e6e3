/** The GitTargets of a repository as the gate must know them: also those that do not run (yet), since they may protect edits. */
import { findCondition } from '../api/trio.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { CoveredTarget } from '../worker/gate-desk.ts';
import type { Context } from './context.ts';
import { mixesNamespaces } from './decide-git-target.ts';
import { normalFolder } from './destination.ts';
import { holds } from './gates.ts';
import { keyFrom } from './object-key.ts';
import { collectionsOf } from './rule-view.ts';
import { branchNamed, viewTarget } from './target-view.ts';

/** @param repository key of the normalised URL */
export function gateTargets(context: Context, repository: string): readonly CoveredTarget[] {
  const { store } = context;
  return store.list('GitTarget').flatMap((target): CoveredTarget[] => {
    const { metadata, spec, status } = target;
    const { providerName, branch } = branchNamed(context, target);
    const provider = store.get('GitProvider', keyFrom(metadata.namespace, providerName));
    if (provider === undefined || normaliseRepositoryUrl(provider.spec.url) !== repository) return [];
    const view = viewTarget(context, target);
    const verifiedBefore = provider.status?.lastVerifiedAt !== undefined;
    return [
      {
        key: view.key,
        namespace: view.namespace,
        repository,
        branch,
        path: normalFolder(spec.path),
        validated: holds(view.validated),
        credentialVerified: view.providerReady || verifiedBefore,
        crossNamespace: view.kubeProvider?.spec.allowCrossNamespace.appliers ?? false,
        writes:
          metadata.deletionTimestamp === undefined &&
          !spec.suspend &&
          // Not read yet is not open.
          view.sealing.kind !== 'unusable' &&
          !mixesNamespaces(spec, collectionsOf(context, view)),
        status: findCondition(status?.conditions, 'Ready')?.message ?? '',
      },
    ];
  });
}
