/**
 * Where the served types come from, by the APIServices, and where their `scale` keeps the replicas, by the CRDs that
 * have one. CRDs are never listed: with their annotations a hundred of them are tens of megabytes.
 */
import type { Origin } from '../core/catalog/index.ts';
import { metadataMap } from '../core/identity.ts';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import type { CallOptions } from './call.ts';
import { type KubeClient, resourceVersionOf } from './client.ts';
import type { GroupVersionFacts } from './discovery-facts.ts';
import { isRecord, records, text } from './loose.ts';

/** By CRD name: the version of the CRD that was read, and the path for each of its versions. */
export type ScalePaths = Map<
  string,
  { readonly resourceVersion: string; readonly paths: Map<string, string> }
>;

export interface Evidence {
  origin(group: string, version: string): Origin;
  scalePath(group: string, version: string, resource: string): string | undefined;
}

const crds = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  namespace: '',
} as const;

const apiServices = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  resource: 'apiservices',
  namespace: '',
} as const;

// For a credential that may not look at APIServices, and for what has none.
const builtinGroups = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'extensions',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
]);

const builtinScales = new Set([
  '/replicationcontrollers',
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
]);

export async function readEvidence(
  client: KubeClient,
  facts: readonly GroupVersionFacts[],
  scalePaths: ScalePaths,
  options: CallOptions,
): Promise<Evidence> {
  const services = await client.listAll(apiServices, options);
  const origins = services.kind === 'ok' ? new Map(services.items.map(originOf)) : undefined;
  const origin = (group: string, version: string): Origin => {
    const known = origins?.get(`${group}/${version}`);
    // The aggregator's own group has no APIService.
    if (known === undefined && builtinGroups.has(group)) return 'builtin';
    return known ?? (origins === undefined ? 'extension' : 'unknown');
  };
  await readScalePaths(
    client,
    facts.filter(({ group, version }) => mayBeCrd(origin(group, version))),
    scalePaths,
    options,
  );
  return {
    origin,
    scalePath(group, version, resource) {
      if (builtinScales.has(`${group}/${resource}`)) return '.spec.replicas';
      return scalePaths.get(`${resource}.${group}`)?.paths.get(version);
    },
  };
}

async function readScalePaths(
  client: KubeClient,
  facts: readonly GroupVersionFacts[],
  scalePaths: ScalePaths,
  options: CallOptions,
): Promise<void> {
  const scaled = new Set(
    facts.flatMap(({ group, resources }) =>
      resources
        .filter(({ subresources }) => subresources.includes('scale'))
        .map(({ resource }) => `${resource}.${group}`),
    ),
  );
  for (const name of scalePaths.keys()) {
    if (!scaled.has(name)) scalePaths.delete(name);
  }
  for (const name of scaled) {
    const metadata = await client.get({ ...crds, name }, { ...options, metadataOnly: true });
    // Unreadable just now: what was read before still holds.
    if (metadata.kind !== 'ok') continue;
    if (scalePaths.get(name)?.resourceVersion === resourceVersionOf(metadata.object)) continue;
    const whole = await client.get({ ...crds, name }, options);
    if (whole.kind !== 'ok') continue;
    scalePaths.set(name, { resourceVersion: resourceVersionOf(whole.object), paths: pathsOf(whole.object) });
  }
}

function mayBeCrd(origin: Origin): boolean {
  return origin === 'crd' || origin === 'extension';
}

function pathsOf({ spec }: JsonObject): Map<string, string> {
  const paths = new Map<string, string>();
  for (const version of records(isRecord(spec) ? spec.versions : undefined)) {
    const { subresources } = version;
    if (!isRecord(subresources) || !isRecord(subresources.scale)) continue;
    const path = text(subresources.scale.specReplicasPath);
    if (path !== '') paths.set(text(version.name), path);
  }
  return paths;
}

// The aggregator registers its own groups at start, those of CRDs as they come, and others name their server.
function originOf(service: JsonObject): [string, Origin] {
  const spec: Record<string, Json> = isObject(service.spec) ? service.spec : {};
  const key = `${text(spec.group)}/${text(spec.version)}`;
  if (isObject(spec.service)) return [key, 'aggregated'];
  const managed = metadataMap(service, 'labels')['kube-aggregator.kubernetes.io/automanaged'];
  return [key, managed === 'true' ? 'crd' : 'builtin'];
}
