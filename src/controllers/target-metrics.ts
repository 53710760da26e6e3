/** What is seen of a GitTarget as metrics; the series end when it is not run any more. */
import type { Metrics } from '../telemetry/metrics.ts';
import type { MirrorSpec, TargetObservation } from '../worker/mirror-spec.ts';
import { splitKey } from './object-key.ts';
import { streamsStatus } from './streams.ts';

export function setTargetMetrics(metrics: Metrics, spec: MirrorSpec, observation: TargetObservation): void {
  const target = labelsOf(spec.key);
  const source = { ...target, source_cluster: spec.cluster.name };
  const { ready, replaying, blocked } = streamsStatus(spec.collections, observation.streams);
  metrics.set('watch_types', { ...source, state: 'streaming' }, ready);
  metrics.set('watch_types', { ...source, state: 'replaying' }, replaying);
  metrics.set('watch_types', { ...source, state: 'blocked' }, blocked);
  metrics.set('watch_streams_open', source, ready + replaying);
  const branch = { provider_namespace: spec.namespace, provider_name: spec.provider, branch: spec.branch };
  metrics.set('git_branch_targets', { ...source, ...branch }, 1);
}

export function forgetTargetMetrics(metrics: Metrics, key: string): void {
  const target = labelsOf(key);
  for (const name of ['watch_types', 'watch_streams_open', 'git_branch_targets'] as const)
    metrics.forget(name, target);
}

function labelsOf(key: string) {
  const { namespace, name } = splitKey(key);
  return { gittarget_namespace: namespace, gittarget_name: name };
}
