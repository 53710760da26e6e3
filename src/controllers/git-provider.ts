/** Reconciles a GitProvider: keeps its check fresh and tells what came out. */
import { gitProviderConditions } from '../api/conditions.ts';
import type { GitProvider, GitProviderStatus } from '../api/git-provider.ts';
import { type Context, conflictMs } from './context.ts';
import { decideGitProvider, type ProviderCheck } from './decide-git-provider.ts';
import { conditionsOf } from './gates.ts';
import { persist } from './persist.ts';
import { isDecided } from './settling.ts';
import { branchNamed } from './target-view.ts';
import { timestampOf } from './time.ts';

const maxBranches = 1024;

export async function reconcileGitProvider(context: Context, key: string): Promise<number | undefined> {
  const { store, checks, clock } = context;
  const provider = store.get('GitProvider', key);
  if (provider === undefined || provider.metadata.deletionTimestamp !== undefined) {
    checks.forget(key);
    return undefined;
  }
  const nextMs = checks.keepFresh(provider);
  const record = checks.record(provider);
  const generation = provider.metadata.generation ?? 0;
  // A result of an older spec still carries the targets, but says nothing about this one.
  const check = record?.generation === generation ? record.check : undefined;
  // After a restart the status stays until there is something new to say.
  if (record === undefined && isDecided(provider)) return nextMs;
  const now = timestampOf(clock.date());
  const status: GitProviderStatus = {
    ...(check === undefined ? {} : { observedGeneration: generation }),
    ...(check === undefined && provider.status?.observedGeneration !== undefined
      ? { observedGeneration: provider.status.observedGeneration }
      : {}),
    conditions: conditionsOf(
      provider.status?.conditions,
      gitProviderConditions,
      decideGitProvider(check),
      generation,
      now,
    ),
    branches: branchesOf(context, provider),
    ...signingOf(provider, check),
    ...verifiedOf(provider, check),
  };
  return (await persist(context, 'GitProvider', provider, status)) === 'conflict' ? conflictMs : nextMs;
}

/** What GitTargets name, suspended ones too; not what the remote has. */
function branchesOf(context: Context, { metadata }: GitProvider): NonNullable<GitProviderStatus['branches']> {
  const counts = new Map<string, number>();
  for (const target of context.store.list('GitTarget')) {
    const { providerName, branch } = branchNamed(context, target);
    if (target.metadata.namespace !== metadata.namespace || providerName !== metadata.name) continue;
    counts.set(branch, (counts.get(branch) ?? 0) + 1);
  }
  const names = [...counts.keys()].sort().slice(0, maxBranches);
  return names.map((name) => ({ name, gitTargetCount: counts.get(name) ?? 0 }));
}

function signingOf(
  { spec, status }: GitProvider,
  check: ProviderCheck | undefined,
): Pick<GitProviderStatus, 'signingPublicKey'> {
  if (spec.commit.signing === undefined) return {};
  const known =
    check === undefined || check.kind === 'unusable'
      ? status?.signingPublicKey
      : check.settings.signer?.publicKey;
  return known === undefined ? {} : { signingPublicKey: known };
}

function verifiedOf(
  { status }: GitProvider,
  check: ProviderCheck | undefined,
): Pick<GitProviderStatus, 'lastVerifiedAt'> {
  if (check?.kind === 'verified') return { lastVerifiedAt: timestampOf(check.verifiedAt) };
  return status?.lastVerifiedAt === undefined ? {} : { lastVerifiedAt: status.lastVerifiedAt };
}
