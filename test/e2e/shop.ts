/** What tests of the running process ask again and again: an edit and the commits it made, a flush, the words in status. */
import assert from 'node:assert/strict';
import { type Commit, diff, log, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import type { Sidecar, World } from './sidecar.ts';

/** Long enough for a busy machine; a test that passes never waits that long. */
export const patience = { timeoutMs: 60_000, intervalMs: 20 };

export interface Moved {
  readonly before: string;
  readonly after: string;
  /** Oldest first. */
  readonly commits: readonly Commit[];
  /** Added and removed lines of all files together, without context. */
  readonly lines: readonly string[];
  readonly files: readonly string[];
}

/** Does something to the cluster, lets everything it means reach Git, and tells what became of the branch. */
export async function moved(
  world: World,
  name: string,
  bareDir: string,
  action: () => Promise<unknown>,
  branch = 'main',
): Promise<Moved> {
  const before = (await tip(bareDir, branch)) ?? '';
  await action();
  await flush(world, name);
  return movedSince(bareDir, before, branch);
}

export async function movedSince(bareDir: string, before: string, branch = 'main'): Promise<Moved> {
  const after = (await tip(bareDir, branch)) ?? '';
  if (before === after) return { before, after, commits: [], lines: [], files: [] };
  const history = await log(bareDir, branch);
  const at = history.findIndex(({ sha }) => sha === before);
  assert.ok(at > 0, `the branch was rewritten: ${before} is no ancestor of ${after}`);
  const commits = history.slice(0, at).reverse();
  const text = await diff(bareDir, before, after);
  return {
    before,
    after,
    commits,
    lines: changedLines(text),
    files: [...new Set(commits.flatMap(({ files }) => files))].sort(),
  };
}

/** `-  image: a` and `+  image: b`, in file order. */
export function changedLines(diffText: string): string[] {
  return diffText
    .split('\n')
    .filter((line) => /^[+-]/.test(line) && !line.startsWith('+++ ') && !line.startsWith('--- '));
}

let flushes = 0;

/** Asks for a flush, as `gitops-reverser flush` does, waits for its end, and expects that nothing is left out. */
export async function flush(world: World, name: string): Promise<void> {
  const { outcome, message } = await tryFlush(world, name);
  assert.equal(outcome, 'Done', message);
}

/** The same, whatever comes of it. */
export async function tryFlush(world: World, name: string): Promise<NonNullable<Status['lastFlush']>> {
  const value = `${Date.now()}-${flushes++}`;
  await annotate(world, 'gittarget', name, 'flushRequestedAt', value);
  return until(
    `the flush of ${name} ended`,
    async () => {
      const { lastHandledFlushAt, lastFlush } = await status(world, 'gittarget', name);
      return lastHandledFlushAt === value ? lastFlush : undefined;
    },
    patience,
  );
}

export async function annotate(
  world: World,
  kind: string,
  name: string,
  annotation: 'flushRequestedAt' | 'requestedAt',
  value = `${Date.now()}-${flushes++}`,
  object = name,
): Promise<void> {
  const text = `reconcile.configbutler.ai/${annotation}=${value}`;
  await world.kubectl('annotate', kind, object, '-n', name, '--overwrite', text);
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface Status {
  readonly conditions?: readonly Condition[];
  readonly lastHandledFlushAt?: string;
  readonly lastFlush?: { readonly outcome: string; readonly message: string };
  readonly lastHandledReconcileAt?: string;
  readonly lastPushedCommit?: string;
  readonly pendingWrites?: number;
  readonly observedGeneration?: number;
}

/** Status of an object in the namespace of the same name. */
export async function status(world: World, kind: string, name: string, object = name): Promise<Status> {
  const found = JSON.parse(await world.kubectl('get', kind, object, '-n', name, '-o', 'json'));
  return found.status ?? {};
}

/** Waits until a condition of an object reads as told, and returns it. */
export async function condition(
  world: World,
  [kind, name, object = name]: readonly [kind: string, namespace: string, object?: string],
  type: string,
  wanted: { readonly status?: string; readonly reason?: string | RegExp; readonly message?: RegExp },
): Promise<Condition> {
  let last: readonly Condition[] = [];
  return until(
    `${kind} ${name}/${object} says ${type} ${JSON.stringify(wanted, (_key, value) => (value instanceof RegExp ? String(value) : value))}`,
    async () => {
      last = (await status(world, kind, name, object)).conditions ?? [];
      const found = last.find((one) => one.type === type);
      if (found === undefined) return undefined;
      if (wanted.status !== undefined && found.status !== wanted.status) return undefined;
      if (wanted.reason !== undefined && !matches(wanted.reason, found.reason)) return undefined;
      return wanted.message === undefined || wanted.message.test(found.message) ? found : undefined;
    },
    patience,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${last.map((one) => JSON.stringify(one)).join('\n')}`);
  });
}

function matches(wanted: string | RegExp, text: string): boolean {
  return typeof wanted === 'string' ? wanted === text : wanted.test(text);
}

/** Messages of the Events about an object of a namespace, each with its reason in front. */
export async function events(world: World, name: string): Promise<string[]> {
  const found = JSON.parse(await world.kubectl('get', 'events', '-n', name, '-o', 'json'));
  return found.items.map(
    (one: { reason?: string; message?: string; note?: string }) =>
      `${one.reason}: ${one.message ?? one.note}`,
  );
}

/** A Deployment as people write it; `extra` are further lines of `spec.template.spec.containers[0]`. */
export function deployment(
  name: string,
  {
    image = 'nginx:1.25',
    replicas = 2,
    labels = '',
  }: { image?: string; replicas?: number; labels?: string } = {},
): string {
  return `# ${name} of our shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}   # everybody knows it
${labels}spec:
  replicas: ${replicas}  # as many as the team agreed on
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
      -   name: ${name}
          image: "${image}"  # pinned
          env:
          - {name: MODE, value: 'fast'}
`;
}

export function configMap(name: string, data: Readonly<Record<string, string>>): string {
  const lines = Object.entries(data).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`);
  return ['apiVersion: v1', 'kind: ConfigMap', 'metadata:', `  name: ${name}`, 'data:', ...lines, ''].join(
    '\n',
  );
}

/** A number the process tells about itself: the sum of a metric's series whose labels fit. */
export async function metric(sidecar: Sidecar, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${sidecar.metricsPort}/metrics`)).text();
  const series = text.split('\n').filter((line) => line.startsWith(`gitopsreverser_${name}{`));
  return series
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Asks for Git to be read again and a new snapshot, and waits until every collection of the target was read. */
export async function resync(
  world: World,
  sidecar: Sidecar,
  name: string,
  collections: number,
): Promise<void> {
  const snapshots = () => metric(sidecar, 'watch_replay_duration_seconds_count');
  const before = await snapshots();
  await annotate(world, 'gittarget', name, 'requestedAt');
  await until(
    `${collections} new snapshots of ${name}`,
    async () => (await snapshots()) >= before + collections,
    patience,
  );
  await flush(world, name);
}
