/** The wanted set of the workers: a GitTarget is in it when, and only when, it may run and everything it needs is known. */

import { parseDuration } from '../api/duration.ts';
import type { GitTarget } from '../api/git-target.ts';
import { annotations } from '../api/group.ts';
import type { MirrorSpec } from '../worker/mirror-spec.ts';
import { acknowledgement } from './acknowledgement.ts';
import type { Context } from './context.ts';
import { mixesNamespaces } from './decide-git-target.ts';
import { normalFolder } from './destination.ts';
import { holds } from './gates.ts';
import { collectionsOf } from './rule-view.ts';
import { forgetTargetMetrics } from './target-metrics.ts';
import { type TargetView, viewTarget } from './target-view.ts';
import { placementOf } from './validate-git-target.ts';

/** Makes the wanted set and hands it over, when it is another one. A target that cannot be judged stays out, the others go on. */
export function applySpecs(context: Context): void {
  const { store, mirror, memory, log } = context;
  const specs = store.list('GitTarget').flatMap((target) => {
    try {
      const spec = specOf(context, viewTarget(context, target));
      return spec === undefined ? [] : [spec];
    } catch (error) {
      log.error(
        { err: error, gitTarget: `${target.metadata.namespace}/${target.metadata.name}` },
        'judging a GitTarget broke',
      );
      return [];
    }
  });
  const same =
    specs.length === memory.applied.size && specs.every((spec) => isSame(memory.applied.get(spec.key), spec));
  if (same) return;
  const keys = new Set([...memory.applied.keys(), ...specs.map(({ key }) => key)]);
  const changed = [...keys].filter(
    (key) =>
      !isSame(
        memory.applied.get(key),
        specs.find((spec) => spec.key === key),
      ),
  );
  for (const key of memory.applied.keys()) {
    if (!specs.some((spec) => spec.key === key)) forgetTargetMetrics(context.metrics, key);
  }
  memory.applied.clear();
  for (const spec of specs) memory.applied.set(spec.key, spec);
  mirror.apply(specs);
  for (const key of changed) context.enqueue('GitTarget', key);
}

export function specOf(context: Context, view: TargetView): MirrorSpec | undefined {
  const { target, validated, settings, cluster, gitBranch, sealing } = view;
  const { metadata, spec } = target;
  if (metadata.deletionTimestamp !== undefined || !holds(validated)) return undefined;
  if (sealing.kind === 'unusable' || sealing.kind === 'unknown') return undefined;
  if (
    settings === undefined ||
    gitBranch === undefined ||
    cluster?.uid === undefined ||
    !cluster.catalog.known
  )
    return undefined;
  // What an applier made would look like people's work.
  const { tracking } = context.argocd;
  if (tracking === undefined) return undefined;
  const collections = collectionsOf(context, view);
  if (mixesNamespaces(spec, collections)) return undefined;
  return {
    key: view.key,
    uid: metadata.uid ?? '',
    name: metadata.name,
    namespace: view.namespace,
    provider: view.providerName,
    ...settings,
    branch: view.branch,
    path: normalFolder(spec.path),
    lastPushedCommit: gitBranch.status?.lastPushedCommit,
    ...commitSettings(spec),
    placement: placementOf(spec),
    serializeNamespace: spec.serializeNamespace,
    prune: spec.prune.mode,
    ignoreManagers: spec.ignoreManagers ?? [],
    suspend: spec.suspend,
    sealing: sealing.kind === 'ok' ? sealing.sealing : undefined,
    cluster: { name: view.kubeProviderName, client: cluster.client, uid: cluster.uid },
    collections,
    tracking,
    resync: metadata.annotations?.[annotations.requestedAt] ?? '',
    acknowledged: acknowledgement(gitBranch, context.mirror.observe(view.key)?.branch),
  };
}

function commitSettings({ commit }: GitTarget['spec']) {
  const { window, message } = commit;
  return {
    idleTimeoutMs: parseDuration(window.idleTimeout) ?? 0,
    maxDurationMs: parseDuration(window.maxDuration) ?? 0,
    liveTemplate: message?.liveTemplate,
    reconcileTemplate: message?.reconcileTemplate,
  };
}

/** Secrets are compared by their object, which a check that found the same ones again keeps. */
function isSame(a: MirrorSpec | undefined, b: MirrorSpec | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.access === b.access &&
    a.signer === b.signer &&
    a.sealing === b.sealing &&
    a.cluster.client === b.cluster.client &&
    plain(a) === plain(b)
  );
}

function plain({
  access: _access,
  signer: _signer,
  sealing: _sealing,
  cluster,
  lastPushedCommit: _pushed,
  ...rest
}: MirrorSpec): string {
  return JSON.stringify([cluster.name, cluster.uid, rest]);
}
