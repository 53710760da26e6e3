/** Reconciles a GitBranch: tells what the branch worker saw. The first GitTarget of a branch makes its GitBranch. */
import { gitBranchConditions } from '../api/conditions.ts';
import type { GitBranch, GitBranchStatus } from '../api/git-branch.ts';
import type { GitTarget } from '../api/git-target.ts';
import { apiVersion } from '../api/group.ts';
import type { BranchObservation } from '../worker/mirror-spec.ts';
import { acknowledgement, handledRequest } from './acknowledgement.ts';
import { gitBranchName, isBranchAllowed } from './branch-name.ts';
import { type Context, conflictMs, graceMs, steadyMs } from './context.ts';
import { decideGitBranch } from './decide-git-branch.ts';
import { conditionsOf } from './gates.ts';
import { keyFrom, keyOf } from './object-key.ts';
import { persist, refOf } from './persist.ts';
import { sample } from './sampled.ts';
import { isDecided } from './settling.ts';
import { branchNamed, branchObject, type TargetView } from './target-view.ts';
import { timestampOf } from './time.ts';

export async function reconcileGitBranch(context: Context, key: string): Promise<number | undefined> {
  const { store, checks, clock, memory, mirror } = context;
  const gitBranch = store.get('GitBranch', key);
  const memoryKey = `GitBranch ${key}`;
  if (gitBranch === undefined || gitBranch.metadata.deletionTimestamp !== undefined) {
    memory.sampledAt.delete(memoryKey);
    return undefined;
  }
  const { spec, metadata } = gitBranch;
  const namespace = metadata.namespace ?? '';
  const providerName = spec.gitProviderRef.name;
  const provider = store.get('GitProvider', keyFrom(namespace, providerName));
  const oldest = branchObject(context, namespace, providerName, spec.branch);
  const isOldest = oldest === undefined || keyOf(oldest) === key;
  const targets = isOldest ? targetsOf(context, gitBranch) : [];
  const seen = targets.map((target) => ({
    key: keyOf(target),
    observation: mirror.observe(keyOf(target))?.branch,
  }));
  const active = seen.find(({ observation }) => observation !== undefined);
  const observation = active?.observation;
  const handedOver = active === undefined ? undefined : memory.applied.get(active.key)?.acknowledged;
  // What was held back until the worker had looked goes to it now.
  if (handedOver !== undefined && handedOver !== acknowledgement(gitBranch, observation))
    context.applySpecs();

  // After a restart the status stays until somebody has looked, or should have.
  if (observation === undefined && targets.length > 0 && isDecided(gitBranch)) {
    const graceLeft = context.startedAt + graceMs - clock.now();
    if (graceLeft > 0) return graceLeft;
  }
  const decision = decideGitBranch({
    branch: spec.branch,
    provider: {
      name: providerName,
      exists: provider !== undefined,
      ready: provider !== undefined && checks.record(provider)?.check.kind === 'verified',
      allowed: provider !== undefined && isBranchAllowed(spec.branch, provider.spec.allowedBranches),
    },
    duplicateOf: isOldest ? undefined : oldest.metadata.name,
    targets: targets.length,
    observation,
  });
  const generation = metadata.generation ?? 0;
  const handled = handledRequest(gitBranch, observation, handedOver);
  const status: GitBranchStatus = {
    observedGeneration: generation,
    conditions: conditionsOf(
      gitBranch.status?.conditions,
      gitBranchConditions,
      decision,
      generation,
      timestampOf(clock.date()),
    ),
    ...remoteOf(gitBranch.status, observation),
    gitTargetCount: targets.length,
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
  };
  const sampledAt = memory.sampledAt.get(memoryKey);
  const sampled = sample({
    before: gitBranch.status,
    after: status,
    fields: ['commit', 'lastVerifiedAt', 'verifiedBy', 'pendingWrites'],
    age: sampledAt === undefined ? undefined : clock.now() - sampledAt,
  });
  const persisted = await persist(context, 'GitBranch', gitBranch, sampled.status);
  if (persisted === 'conflict') return conflictMs;
  if (persisted === 'written' && sampled.fresh) memory.sampledAt.set(memoryKey, clock.now());
  return sampled.heldForMs ?? steadyMs;
}

/** GitTargets on the branch, suspended ones too. */
export function targetsOf(context: Pick<Context, 'store'>, { metadata, spec }: GitBranch): GitTarget[] {
  return context.store.list('GitTarget').filter((target) => {
    const { providerName, branch } = branchNamed(context, target);
    return (
      target.metadata.namespace === metadata.namespace &&
      target.metadata.deletionTimestamp === undefined &&
      providerName === spec.gitProviderRef.name &&
      branch === spec.branch
    );
  });
}

/** Makes the GitBranch of a target that has none. */
export async function ensureGitBranch(context: Context, view: TargetView): Promise<void> {
  const { client, store, log } = context;
  const { namespace, provider, providerName, branch } = view;
  if (view.gitBranch !== undefined || provider === undefined) return;
  const taken = (candidate: string): boolean =>
    store.get('GitBranch', keyFrom(namespace, candidate)) !== undefined;
  const name = gitBranchName(providerName, branch, taken);
  const created = await client.create(refOf('GitBranch', { metadata: { name, namespace } }), {
    apiVersion,
    kind: 'GitBranch',
    metadata: {
      name,
      namespace,
      // It goes with its GitProvider.
      ownerReferences: [
        { apiVersion, kind: 'GitProvider', name: providerName, uid: provider.metadata.uid ?? '' },
      ],
    },
    spec: { gitProviderRef: { name: providerName }, branch },
  });
  if (created.kind === 'ok') {
    log.info({ gitBranch: `${namespace}/${name}`, branch }, 'made a GitBranch');
    store.put('GitBranch', created.object);
    return;
  }
  // Somebody was faster; the watch brings theirs.
  if (created.kind !== 'exists')
    throw new Error(`GitBranch ${namespace}/${name} cannot be made: ${created.message}`);
}

function remoteOf(
  before: GitBranchStatus | undefined,
  observation: BranchObservation | undefined,
): Partial<GitBranchStatus> {
  const lastPushedCommit = observation?.lastPushedCommit ?? before?.lastPushedCommit;
  const pushed = lastPushedCommit === undefined ? {} : { lastPushedCommit };
  if (observation === undefined) {
    const { commit, lastVerifiedAt, verifiedBy, pendingWrites } = before ?? {};
    return { ...pushed, ...defined({ commit, lastVerifiedAt, verifiedBy, pendingWrites }) };
  }
  const { tip, verifiedAt, verifiedBy, pendingWrites } = observation;
  return {
    ...pushed,
    pendingWrites,
    ...defined({
      commit: tip === undefined ? before?.commit : (tip ?? ''),
      lastVerifiedAt: verifiedAt === undefined ? before?.lastVerifiedAt : timestampOf(new Date(verifiedAt)),
      verifiedBy: verifiedBy ?? before?.verifiedBy,
    }),
  };
}

function defined<Value extends object>(
  value: Value,
): { [Key in keyof Value]?: Exclude<Value[Key], undefined> } {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Value]?: Exclude<Value[Key], undefined> };
}
