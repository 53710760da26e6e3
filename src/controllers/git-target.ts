/** Reconciles a GitTarget: gathers what is known, decides, answers flushes, and writes the status once. */

import { gitTargetConditions } from '../api/conditions.ts';
import type { GitTarget, GitTargetStatus } from '../api/git-target.ts';
import { annotations } from '../api/group.ts';
import { findCondition } from '../api/trio.ts';
import type { FlushReport, TargetObservation } from '../worker/mirror-spec.ts';
import { type Context, conflictMs, steadyMs, unconvergedMs } from './context.ts';
import { decideGitTarget } from './decide-git-target.ts';
import { describeFlush } from './flushes.ts';
import { conditionsOf, type Decision, holds } from './gates.ts';
import { ensureGitBranch, reconcileGitBranch } from './git-branch.ts';
import { keyOf } from './object-key.ts';
import { persist, subjectOf } from './persist.ts';
import { collectionsOf, targetKeyOf } from './rule-view.ts';
import { sample } from './sampled.ts';
import { isDecided, isSettling } from './settling.ts';
import { streamsStatus } from './streams.ts';
import { setTargetMetrics } from './target-metrics.ts';
import { type TargetView, viewTarget } from './target-view.ts';
import { timestampOf } from './time.ts';

export async function reconcileGitTarget(context: Context, key: string): Promise<number | undefined> {
  const { store, clock, memory, metrics, mirror, checks, flushes, events, encryption } = context;
  const memoryKey = `GitTarget ${key}`;
  const target = store.get('GitTarget', key);
  if (target === undefined || target.metadata.deletionTimestamp !== undefined) {
    memory.sampledAt.delete(memoryKey);
    flushes.forget(key);
    encryption.forget(key);
    return undefined;
  }
  if (await encryption.refresh(target)) context.applySpecs();
  const view = viewTarget(context, target);
  if (holds(view.validated)) await ensureGitBranch(context, view);
  // After a restart the status stays until there is something new to say.
  if (isSettling(context, view) && isDecided(target)) return unconvergedMs;
  const collections = collectionsOf(context, view);
  const running = memory.applied.has(key);
  const observation = running ? mirror.observe(key) : undefined;
  const spec = memory.applied.get(key);
  if (spec !== undefined && observation !== undefined) setTargetMetrics(metrics, spec, observation);
  if (view.provider !== undefined && isAboutLogin(observation)) checks.suspect(view.provider);

  const flushed = flushOf(context, view, observation !== undefined);
  // Whoever waits for the flush reads the branch next.
  if (flushed?.report !== undefined) await refreshBranch(context, view);

  const signs = view.settings === undefined ? undefined : { publicKey: view.settings.signer?.publicKey };
  const trusted = await context.flux.trust(key, view.provider?.spec.url, signs);
  const decision = decideGitTarget({
    spec: target.spec,
    branch: view.branch,
    validated: view.validated,
    sealing: view.sealing,
    provider: { name: view.providerName, ready: view.providerReady, message: view.providerMessage },
    kubeProvider: {
      name: view.kubeProviderName,
      ready: view.kubeProviderReady,
      message: view.kubeProviderMessage,
    },
    reach: view.cluster?.reach ?? { reason: 'AwaitingDiscovery', message: 'the cluster was not asked yet' },
    collections,
    rulesKnown: store.rulesKnown,
    running,
    observation,
    gated: context.argocd.finding(key, view.provider?.spec.url),
    routed: context.flux.finding(key, view.provider?.spec.url),
    trusted,
    before: target.status?.conditions ?? [],
  });
  const status = statusOf(context, { view, decision, observation, collections, flushed });
  const sampledAt = memory.sampledAt.get(memoryKey);
  const sampled = sample({
    before: target.status,
    after: status,
    fields: ['remote'],
    age: sampledAt === undefined ? undefined : clock.now() - sampledAt,
  });
  const persisted = await persist(context, 'GitTarget', target, sampled.status);
  if (persisted === 'conflict') return conflictMs;
  if (persisted === 'written') {
    if (sampled.fresh) memory.sampledAt.set(memoryKey, clock.now());
    if (flushed?.report !== undefined) {
      const { outcome, message } = describeFlush(flushed.report);
      const type = outcome === 'Done' ? 'Normal' : 'Warning';
      events.record({
        about: subjectOf('GitTarget', target),
        type,
        reason: outcome === 'Done' ? 'FlushDone' : 'FlushIncomplete',
        message,
      });
      flushes.forget(key);
    }
    enqueueRules(context, key);
  }
  const converged = findCondition(sampled.status.conditions, 'Ready')?.status === 'True';
  // Nobody tells us when the keys that Flux trusts change.
  const trustMs = trusted === undefined || trusted.reason === 'Succeeded' ? steadyMs : untrustedMs;
  return Math.min(converged ? steadyMs : unconvergedMs, sampled.heldForMs ?? steadyMs, trustMs);
}

const untrustedMs = 30_000;

interface Flushed {
  readonly value: string;
  /** Undefined while it goes on. */
  readonly report: FlushReport | undefined;
}

function flushOf(
  { flushes }: Context,
  { target, validated }: TargetView,
  running: boolean,
): Flushed | undefined {
  const { metadata, status } = target;
  const value = metadata.annotations?.[annotations.flushRequestedAt] ?? '';
  if (value === '' || value === status?.lastHandledFlushAt) return undefined;
  const state = !holds(validated) ? 'refused' : running ? 'running' : 'starting';
  return { value, report: flushes.ask(keyOf(target), value, state) };
}

async function refreshBranch(context: Context, { gitBranch }: TargetView): Promise<void> {
  if (gitBranch === undefined) return;
  context.memory.sampledAt.delete(`GitBranch ${keyOf(gitBranch)}`);
  await reconcileGitBranch(context, keyOf(gitBranch));
}

interface StatusFacts {
  readonly view: TargetView;
  readonly decision: Decision;
  readonly observation: TargetObservation | undefined;
  readonly collections: ReturnType<typeof collectionsOf>;
  readonly flushed: Flushed | undefined;
}

function statusOf(
  context: Context,
  { view, decision, observation, collections, flushed }: StatusFacts,
): GitTargetStatus {
  const { clock, memory } = context;
  const { target } = view;
  const before = target.status;
  const now = timestampOf(clock.date());
  const generation = target.metadata.generation ?? 0;
  const valid = holds(view.validated);
  const conditions = conditionsOf(before?.conditions, gitTargetConditions, decision, generation, now);
  const resync = target.metadata.annotations?.[annotations.requestedAt];
  const handledResync =
    resync !== undefined && memory.applied.get(view.key)?.resync === resync
      ? resync
      : before?.lastHandledReconcileAt;
  return {
    observedGeneration: generation,
    conditions,
    ...(valid ? { streams: streamsStatus(collections, observation?.streams ?? []) } : {}),
    ...retentionOf(target, observation, now),
    ...placementOf(before, conditions, observation, now),
    ...remoteOf(before, observation, valid),
    ...(handledResync === undefined ? {} : { lastHandledReconcileAt: handledResync }),
    ...lastFlushOf(before, flushed),
  };
}

function lastFlushOf(
  before: GitTargetStatus | undefined,
  flushed: Flushed | undefined,
): Partial<GitTargetStatus> {
  if (flushed?.report !== undefined)
    return { lastHandledFlushAt: flushed.value, lastFlush: describeFlush(flushed.report) };
  const { lastHandledFlushAt, lastFlush } = before ?? {};
  return {
    ...(lastHandledFlushAt === undefined ? {} : { lastHandledFlushAt }),
    ...(lastFlush === undefined ? {} : { lastFlush }),
  };
}

function retentionOf(
  { spec, status }: GitTarget,
  observation: TargetObservation | undefined,
  now: string,
): Partial<GitTargetStatus> {
  const retainedDocuments = observation?.retained;
  if (spec.suspend) return {};
  const before = status?.retention;
  if (retainedDocuments === undefined) return before === undefined ? {} : { retention: before };
  const same = before?.retainedDocuments === retainedDocuments;
  const lastChangedAt = same ? before.lastChangedAt : now;
  return {
    retention: {
      mode: spec.prune.mode,
      retainedDocuments,
      ...(lastChangedAt === undefined ? {} : { lastChangedAt }),
    },
  };
}

/** As many as status may name. */
const maxBases = 64;

/** Dates the resolution, not the reading: it stays while the layout does. */
function placementOf(
  before: GitTargetStatus | undefined,
  conditions: NonNullable<GitTargetStatus['conditions']>,
  observation: TargetObservation | undefined,
  now: string,
): Partial<GitTargetStatus> {
  const layout = observation?.folder?.layout;
  const reason = findCondition(conditions, 'LayoutResolved')?.reason;
  const root = layout?.kind === 'one' ? folderOf(layout.kustomization) : undefined;
  if (reason !== 'None' && root === undefined) {
    return observation?.folder === undefined && before?.placement !== undefined
      ? { placement: before.placement }
      : {};
  }
  const bases = layout?.kind === 'one' ? layout.bases.slice(0, maxBases) : [];
  const mode = root === undefined ? 'Plain' : bases.length === 0 ? 'KustomizeRoot' : 'KustomizeOverlay';
  const known = before?.placement;
  const isSame =
    known?.mode === mode &&
    known.renderRoot === root &&
    (known.readOnlyBases ?? []).join('\n') === bases.join('\n');
  if (isSame) return { placement: known };
  const commit = observation?.folder?.commit;
  return {
    placement: {
      mode,
      ...(root === undefined ? {} : { renderRoot: root }),
      ...(bases.length === 0 ? {} : { readOnlyBases: bases }),
      ...(commit === undefined || commit === null ? {} : { resolvedAtCommit: commit }),
      resolvedAt: now,
    },
  };
}

/** Withdrawn when the target is not valid any more. */
function remoteOf(
  before: GitTargetStatus | undefined,
  observation: TargetObservation | undefined,
  valid: boolean,
): Partial<GitTargetStatus> {
  if (!valid) return {};
  const branch = observation?.branch;
  if (branch?.tip === undefined || branch.verifiedAt === undefined)
    return before?.remote === undefined ? {} : { remote: before.remote };
  const { tip, verifiedAt, verifiedBy } = branch;
  return {
    remote: {
      commit: tip ?? '',
      lastVerifiedAt: timestampOf(new Date(verifiedAt)),
      ...(verifiedBy === undefined ? {} : { verifiedBy }),
    },
  };
}

function isAboutLogin(observation: TargetObservation | undefined): boolean {
  const reason = observation?.branch.failure?.reason;
  return reason === 'AuthenticationFailed' || reason === 'HostKeyUnknown' || reason === 'RepositoryNotFound';
}

/** Rules repeat what their target says. */
function enqueueRules(context: Context, key: string): void {
  for (const kind of ['WatchRule', 'ClusterWatchRule'] as const) {
    for (const rule of context.store.list(kind))
      if (targetKeyOf(rule) === key) context.enqueue(kind, keyOf(rule));
  }
}

/** The folder of a file, '.' for the root of the repository. */
function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '.' : path.slice(0, slash);
}
