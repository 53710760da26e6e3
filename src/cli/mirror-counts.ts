/** Counts of the workers as metrics. */
import type { Write } from '../core/branch/state.ts';
import { type Metrics, placementRefusals } from '../telemetry/metrics.ts';
import type { BranchCounts } from '../worker/branch-counts.ts';
import type { MirrorCounts } from '../worker/counts.ts';
import type { MirrorSpec } from '../worker/mirror-spec.ts';
import type { GarbageCollector } from './collect-garbage.ts';

export function mirrorCounts(metrics: Metrics, garbage: GarbageCollector): MirrorCounts {
  return {
    branch: (spec) => branchCounts(metrics, spec, garbage),
    event(target, { group, version, resource }, outcome) {
      metrics.count('watch_events_total', { ...targetLabels(target), group, version, resource, outcome });
    },
    applied(target, verdict) {
      const outcome = verdict === 'echo' ? 'not_mirrored' : verdict;
      metrics.count('apply_echoes_total', { ...targetLabels(target), outcome });
      if (verdict === 'collision') metrics.count('apply_window_collisions_total', targetLabels(target));
    },
    sealed(outcome) {
      metrics.count('secret_encryptions_total', { outcome });
    },
    handled({ group, version, resource }, durationMs) {
      metrics.observe('watch_event_handling_seconds', { group, version, resource }, durationMs / 1000);
    },
    settled(target, { group, version, resource }, { durationMs, via }) {
      garbage.settled();
      metrics.observe('watch_replay_duration_seconds', { group, version, resource }, durationMs / 1000);
      const mode = via === 'pages' ? 'list_fallback' : 'replay';
      metrics.count('watch_recovery_total', { ...targetLabels(target), group, resource, mode });
    },
  };
}

function branchCounts(metrics: Metrics, spec: MirrorSpec, garbage: GarbageCollector): BranchCounts {
  const branch = { provider_namespace: spec.namespace, provider_name: spec.provider, branch: spec.branch };
  return {
    pushed(outcome, durationMs) {
      metrics.observe('git_push_duration_seconds', branch, durationMs / 1000);
      if (outcome === 'moved') metrics.count('git_push_retries_total', { ...branch, reason: 'remote_moved' });
      else metrics.count('git_pushes_total', { ...branch, outcome });
    },
    fetched(reason) {
      metrics.count('git_fetches_total', { ...branch, reason });
    },
    committed(write) {
      const labels = {
        author_kind: authorKind(write),
        message_source: messageSource(write),
        timer_source: 'window',
      };
      metrics.count('git_commits_total', { ...branch, ...labels });
    },
    documents(write, outcome, count) {
      if (count === 0) return;
      const resource = write.reconcile?.resource ?? write.changes[0]?.resource;
      if (resource === undefined) return;
      metrics.count('git_documents_total', { ...targetLabels(write.target), ...resource, outcome }, count);
    },
    placed(target, disposition, count) {
      if (count > 0) metrics.count('placements_total', { ...targetLabels(target), disposition }, count);
    },
    refused(reason) {
      const placement = placementRefusals.find((one) => one === reason);
      if (placement !== undefined) metrics.count('placement_refusals_total', { reason: placement });
    },
    commitFailed(reason) {
      metrics.count('git_commit_failures_total', { ...branch, kind: 'window', reason });
    },
    queued(depth) {
      metrics.set('git_queue_depth', branch, depth);
      garbage.worked();
    },
  };
}

function targetLabels(target: string): { gittarget_namespace: string; gittarget_name: string } {
  const [namespace = '', name = ''] = target.split('/');
  return { gittarget_namespace: namespace, gittarget_name: name };
}

function authorKind({ author }: Write): 'user' | 'serviceaccount' | 'committer' {
  if (author.git === undefined) return 'committer';
  return author.git.name.startsWith('system:serviceaccount:') ? 'serviceaccount' : 'user';
}

function messageSource({ reconcile }: Write): 'live' | 'reconcile' {
  return reconcile === undefined ? 'live' : 'reconcile';
}
