/**
 * Every metric, once: the registry and docs/metrics.md are made from this table. Labels never hold the name or the path of a
 * mirrored object; `gittarget_*` and `resource_*` are names of our own kinds, spelled so that no scraper overwrites them.
 */

import type { RefusalReason } from '../core/refusal.ts';

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Labels with a closed set of values. When all labels are, the series exist from the start. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  readonly buckets?: readonly number[];
  readonly meaning: string;
  /** PromQL worth a panel. */
  readonly query: string;
  /** What of it is bad, for people. */
  readonly bad: string;
}

export const metricPrefix = 'gitopsreverser_';

const target = ['gittarget_namespace', 'gittarget_name'] as const;
const type = ['group', 'version', 'resource'] as const;
const branch = ['provider_namespace', 'provider_name', 'branch'] as const;
const quick = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5] as const;
const slow = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Refusals that only a new document meets. */
export const placementRefusals = [
  'InvalidPath',
  'CaseOnlyTwin',
  'MultiDocumentTarget',
  'SensitiveAppend',
] as const satisfies readonly RefusalReason[];

export const metricsTable = {
  resource_condition: {
    type: 'gauge',
    labels: ['kind', 'resource_namespace', 'resource_name', 'type', 'status', 'reason'],
    meaning:
      'Conditions Ready, Reconciling and Stalled of our objects: 1 for the status that holds, 0 for the other two.',
    query: 'gitopsreverser_resource_condition{type="Stalled",status="True"} == 1',
    bad: 'Any series of that query: a person has to act; the reason label says why.',
  },
  watch_events_total: {
    type: 'counter',
    labels: [...target, ...type, 'outcome'],
    meaning:
      'Watch events by what became of them: routed, unchanged, suspended, not_object, cluster_generated.',
    query: 'sum by (outcome) (rate(gitopsreverser_watch_events_total[5m]))',
    bad: 'not_object above 0, or routed all day without anybody editing.',
  },
  watch_event_handling_seconds: {
    type: 'histogram',
    labels: type,
    buckets: quick,
    meaning: 'Time to hand a change to its branch, waiting for memory included.',
    query:
      'histogram_quantile(0.99, sum by (le) (rate(gitopsreverser_watch_event_handling_seconds_bucket[5m])))',
    bad: 'Above 1 s: edits pile up behind their stream.',
  },
  watch_replay_duration_seconds: {
    type: 'histogram',
    labels: type,
    buckets: slow,
    meaning: 'Time to read a whole snapshot of a collection.',
    query:
      'histogram_quantile(0.95, sum by (le, resource) (rate(gitopsreverser_watch_replay_duration_seconds_bucket[1h])))',
    bad: 'Above 30 s: the collection is too large for the link, or the server too busy.',
  },
  watch_recovery_total: {
    type: 'counter',
    labels: [...target, 'group', 'resource', 'mode'],
    meaning: 'Snapshots by how they were read: replay (streaming list), list_fallback (pages).',
    query: 'sum by (mode) (increase(gitopsreverser_watch_recovery_total[1h]))',
    bad: 'replay rising steadily: the server forgets faster than we reconnect.',
  },
  watch_types: {
    type: 'gauge',
    labels: ['source_cluster', ...target, 'state'],
    meaning: 'Collections of a target by state: streaming, replaying, blocked.',
    query: 'gitopsreverser_watch_types{state="blocked"} > 0',
    bad: 'blocked above 0 for 5 minutes: rights are missing or the cluster does not answer.',
  },
  watch_streams_open: {
    type: 'gauge',
    labels: ['source_cluster', ...target],
    meaning: 'Watch connections that are open now.',
    query: 'sum by (source_cluster) (gitopsreverser_watch_streams_open)',
    bad: '0 for a cluster that targets use.',
  },
  git_documents_total: {
    type: 'counter',
    labels: [...target, ...type, 'outcome'],
    meaning:
      'Documents by what was decided: written, deleted_live, deleted_sweep, unchanged, retained, refused.',
    query:
      'sum by (gittarget_namespace, gittarget_name) (increase(gitopsreverser_git_documents_total{outcome="refused"}[15m]))',
    bad: 'refused above 0: edits that do not reach Git; the target names them.',
  },
  git_commits_total: {
    type: 'counter',
    labels: [...branch, 'author_kind', 'message_source', 'timer_source'],
    meaning:
      'Commits that reached the remote, by who is named as author, where the message came from and what closed the window.',
    query: 'sum by (provider_name, branch) (increase(gitopsreverser_git_commits_total[1h]))',
    bad: 'A steady stream without anybody editing: two writers fight.',
  },
  git_pushes_total: {
    type: 'counter',
    labels: [...branch, 'outcome'],
    meaning: 'Pushes: pushed or failed.',
    query:
      'sum by (provider_name, branch) (increase(gitopsreverser_git_pushes_total{outcome="failed"}[15m]))',
    bad: 'failed without pushed in the same 15 minutes: edits wait.',
  },
  git_push_retries_total: {
    type: 'counter',
    labels: [...branch, 'reason'],
    meaning: 'Pushes tried again, by reason: remote_moved.',
    query: 'rate(gitopsreverser_git_push_retries_total[15m])',
    bad: 'More than one a minute: many writers on one branch.',
  },
  git_push_duration_seconds: {
    type: 'histogram',
    labels: branch,
    buckets: slow,
    meaning: 'Time of one push.',
    query:
      'histogram_quantile(0.95, sum by (le, provider_name) (rate(gitopsreverser_git_push_duration_seconds_bucket[15m])))',
    bad: 'Above 10 s.',
  },
  git_fetches_total: {
    type: 'counter',
    labels: [...branch, 'reason'],
    meaning:
      'Fetches by reason: publication, recovery, contention, push_failure_probe, forced_recheck, refresh.',
    query: 'sum by (reason) (rate(gitopsreverser_git_fetches_total[15m]))',
    bad: 'contention above publication: others push faster than we can.',
  },
  git_queue_depth: {
    type: 'gauge',
    labels: branch,
    meaning: 'Decided writes that the remote has not confirmed.',
    query: 'gitopsreverser_git_queue_depth',
    bad: 'Above 0 and not falling for 5 minutes.',
  },
  git_commit_failures_total: {
    type: 'counter',
    labels: [...branch, 'kind', 'reason'],
    meaning: 'Windows that could not be committed. kind: window, atomic; reason: refused, error.',
    query: 'increase(gitopsreverser_git_commit_failures_total{reason="error"}[1h]) > 0',
    bad: 'error above 0: look at the log.',
  },
  git_branch_targets: {
    type: 'gauge',
    labels: [...branch, ...target, 'source_cluster'],
    meaning: 'Always 1: joins a branch with its targets and their clusters.',
    query: 'count by (provider_name, branch) (gitopsreverser_git_branch_targets)',
    bad: 'Nothing; for joins.',
  },
  apply_echoes_total: {
    type: 'counter',
    labels: [...target, 'outcome'],
    meaning:
      "Changes inside an apply window by what they were: the applier's own writes, which are not mirrored, or collisions.",
    query: 'sum by (outcome) (rate(gitopsreverser_apply_echoes_total[15m]))',
    bad: 'Nothing by itself; no echo at all while the applier works means that it is not recognised.',
  },
  apply_window_collisions_total: {
    type: 'counter',
    labels: target,
    meaning: 'Edits that an apply wrote over inside its window.',
    query: 'increase(gitopsreverser_apply_window_collisions_total[1h]) > 0',
    bad: 'Many: people edit while the applier runs, and their edits flip before they are restored.',
  },
  placements_total: {
    type: 'counter',
    labels: [...target, 'disposition'],
    meaning: 'New documents that were placed: new_file, or appended to an existing one.',
    query: 'sum by (disposition) (increase(gitopsreverser_placements_total[1d]))',
    bad: 'appended where every object has its own file: two templates give one path.',
  },
  placement_refusals_total: {
    type: 'counter',
    labels: ['reason'],
    values: { reason: placementRefusals },
    meaning: 'New documents that could not be placed, by the reason of the refusal.',
    query: 'sum by (reason) (increase(gitopsreverser_placement_refusals_total[1h]))',
    bad: 'Any: an object does not reach Git.',
  },
  secret_encryptions_total: {
    type: 'counter',
    labels: ['outcome'],
    values: { outcome: ['encrypted', 'failed'] },
    meaning: 'Documents sealed with sops, whole or one value at a time.',
    query: 'sum by (outcome) (increase(gitopsreverser_secret_encryptions_total[1h]))',
    bad: 'failed: a sensitive edit does not reach Git; the GitTarget says why.',
  },
  api_catalog_resources: {
    type: 'gauge',
    labels: ['source_cluster'],
    meaning: 'Types of a source cluster that can be followed.',
    query: 'gitopsreverser_api_catalog_resources',
    bad: 'A sudden drop: a CRD or an aggregated API went away.',
  },
  api_catalog_group_versions: {
    type: 'gauge',
    labels: ['source_cluster'],
    meaning: 'API group versions that discovery named.',
    query: 'gitopsreverser_api_catalog_group_versions',
    bad: 'A sudden drop.',
  },
  api_catalog_refresh_total: {
    type: 'counter',
    labels: ['source_cluster', 'outcome'],
    meaning: 'Looks at discovery: ok, degraded (a group did not answer), failed.',
    query:
      'sum by (source_cluster) (increase(gitopsreverser_api_catalog_refresh_total{outcome="failed"}[10m]))',
    bad: 'failed for 10 minutes: the cluster does not answer.',
  },
  api_catalog_refresh_duration_seconds: {
    type: 'histogram',
    labels: ['source_cluster'],
    buckets: slow,
    meaning: 'Time of one look at discovery.',
    query:
      'histogram_quantile(0.95, sum by (le, source_cluster) (rate(gitopsreverser_api_catalog_refresh_duration_seconds_bucket[1h])))',
    bad: 'Above 10 s.',
  },
  reconciles_total: {
    type: 'counter',
    labels: ['kind', 'outcome'],
    values: {
      kind: ['KubeProvider', 'GitProvider', 'GitBranch', 'GitTarget', 'WatchRule', 'ClusterWatchRule'],
      outcome: ['ok', 'error'],
    },
    meaning: 'Times one of our objects was looked at.',
    query: 'sum by (kind) (rate(gitopsreverser_reconciles_total{outcome="error"}[15m]))',
    bad: 'error above 0: look at the log.',
  },
  status_writes_total: {
    type: 'counter',
    labels: ['kind', 'outcome'],
    values: {
      kind: ['KubeProvider', 'GitProvider', 'GitBranch', 'GitTarget', 'WatchRule', 'ClusterWatchRule'],
      outcome: ['written', 'conflict', 'gone', 'failed'],
    },
    meaning: 'Status writes; unchanged statuses are not written.',
    query: 'sum by (kind, outcome) (rate(gitopsreverser_status_writes_total[15m]))',
    bad: 'written steadily above one a second: two controllers fight over a status.',
  },
  gate_decisions_total: {
    type: 'counter',
    labels: ['applier', 'decision', 'reason'],
    meaning: 'Answers to appliers: open, superseded, closed; reason says why it was closed, or uncovered.',
    query: 'sum by (applier, reason) (increase(gitopsreverser_gate_decisions_total{decision="closed"}[15m]))',
    bad: 'closed for longer than a start takes: nothing is applied.',
  },
  gate_duration_seconds: {
    type: 'histogram',
    labels: ['applier', 'decision'],
    buckets: slow,
    meaning: 'Time to an answer.',
    query:
      'histogram_quantile(0.99, sum by (le, decision) (rate(gitopsreverser_gate_duration_seconds_bucket[15m])))',
    bad: 'open above 1 s: listing the covered objects is slow.',
  },
  gate_forwarded_total: {
    type: 'counter',
    labels: ['call', 'result'],
    values: { call: ['gate', 'flush', 'status', 'door'], result: ['answered', 'unreachable'] },
    meaning: 'Calls that this replica, which does not lead, handed on to the one that does.',
    query: 'sum by (call) (increase(gitopsreverser_gate_forwarded_total{result="unreachable"}[15m]))',
    bad: 'unreachable for longer than a change of the leader takes (15 s): nothing is applied through this replica.',
  },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof metricsTable;

/** docs/metrics.md. */
export function metricsPage(): string {
  const rows: [string, MetricRow][] = Object.entries(metricsTable);
  const parts = rows.map(([name, row]) => section(`${metricPrefix}${name}`, row));
  return [
    '# Metrics',
    '',
    'Generated from `src/telemetry/metrics-table.ts`. Served as Prometheus text at `/metrics` of the metrics listener (default `:9795`),',
    'together with the process and event-loop metrics of prom-client (`process_*`, `nodejs_*`).',
    '',
    ...parts,
  ].join('\n');
}

function section(name: string, { type: kind, labels, values = {}, meaning, query, bad }: MetricRow): string {
  const described = labels.map((label) => {
    const known = values[label];
    return `\`${label}\`${known === undefined ? '' : ` (${known.join(', ')})`}`;
  });
  return [
    `## \`${name}\``,
    '',
    meaning,
    '',
    `- Type: ${kind}`,
    `- Labels: ${described.length === 0 ? 'none' : described.join(', ')}`,
    `- Query: \`${query}\``,
    `- Bad: ${bad}`,
    '',
  ].join('\n');
}
