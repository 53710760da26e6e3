/**
 * What the API server serves: aggregated discovery where it is spoken, else group by group. `core/catalog` judges it.
 */
import type { Discovery } from '../core/catalog/index.ts';
import type { JsonObject } from '../core/json.ts';
import type { CallOptions } from './call.ts';
import type { KubeClient } from './client.ts';
import { readEvidence, type ScalePaths } from './discovery-evidence.ts';
import { type GroupVersionFacts, readAggregated, readResourceList } from './discovery-facts.ts';
import { records, text } from './loose.ts';
import type { KubeFailure } from './result.ts';

export type DiscoveryResult = { readonly kind: 'ok'; readonly discovery: Discovery } | KubeFailure;

export interface DiscoveryReader {
  /** Asks once. A failure says nothing about any type; a group that fails alone is in `failed`. */
  read(options?: CallOptions): Promise<DiscoveryResult>;
}

type Facts = { readonly kind: 'ok'; readonly facts: readonly GroupVersionFacts[] } | KubeFailure;

const aggregated = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

export function createDiscovery(client: KubeClient): DiscoveryReader {
  // Scale paths are in the CRDs, which are large; each is read once per version of the CRD.
  const scalePaths: ScalePaths = new Map();
  return {
    async read(options = {}) {
      const core = await readRoot(client, '/api', options);
      if (core.kind !== 'ok') return core;
      const groups = await readRoot(client, '/apis', options);
      if (groups.kind !== 'ok') return groups;
      const facts = [...core.facts, ...groups.facts];
      const evidence = await readEvidence(client, facts, scalePaths, options);
      return { kind: 'ok', discovery: assemble(facts, evidence) };
    },
  };
}

type Evidence = Awaited<ReturnType<typeof readEvidence>>;

function assemble(facts: readonly GroupVersionFacts[], evidence: Evidence): Discovery {
  const preferred = new Set<string>();
  const resources = facts.flatMap(({ group, version, resources: served }) =>
    served.map((resource) => {
      // Versions come in the server's order of preference.
      const name = `${group}/${resource.resource}`;
      const first = !preferred.has(name);
      preferred.add(name);
      const scalePath = evidence.scalePath(group, version, resource.resource);
      return {
        group,
        version,
        ...resource,
        preferred: first,
        origin: evidence.origin(group, version),
        ...(scalePath === undefined ? {} : { scalePath }),
      };
    }),
  );
  const failed = facts.flatMap(({ group, version, failure }) =>
    failure === undefined ? [] : [{ group, version, message: failure }],
  );
  return { resources, failed };
}

async function readRoot(client: KubeClient, path: '/api' | '/apis', options: CallOptions): Promise<Facts> {
  const answer = await client.raw(path, aggregated, options);
  if (answer.kind !== 'ok') return answer;
  if (answer.object.kind === 'APIGroupDiscoveryList')
    return { kind: 'ok', facts: readAggregated(answer.object) };
  return readGroups(client, path, answer.object, options);
}

async function readGroups(
  client: KubeClient,
  path: '/api' | '/apis',
  root: JsonObject,
  options: CallOptions,
): Promise<Facts> {
  const versions = path === '/api' ? coreVersions(root) : groupVersions(root);
  const facts: GroupVersionFacts[] = [];
  for (const { group, version } of versions) {
    const url = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const answer = await client.raw(url, 'application/json', options);
    if (answer.kind === 'aborted' || answer.kind === 'unauthorized') return answer;
    facts.push(
      answer.kind === 'ok'
        ? { group, version, resources: readResourceList(answer.object) }
        : { group, version, resources: [], failure: answer.message },
    );
  }
  return { kind: 'ok', facts };
}

function coreVersions(root: JsonObject): { group: string; version: string }[] {
  const versions = Array.isArray(root.versions) ? root.versions : [];
  return versions.map((version) => ({ group: '', version: text(version) }));
}

function groupVersions(root: JsonObject): { group: string; version: string }[] {
  return records(root.groups).flatMap(({ name, versions, preferredVersion }) => {
    const [preferred] = records([preferredVersion]);
    const listed = records(versions).map(({ version }) => text(version));
    const first = text(preferred?.version);
    const ordered = listed.includes(first)
      ? [first, ...listed.filter((version) => version !== first)]
      : listed;
    return ordered.map((version) => ({ group: text(name), version }));
  });
}
