/**
 * What a Flux Kustomization fills in after its build (`spec.postBuild`), with the ConfigMaps and Secrets it takes values from as
 * the cluster has them. The values of Secrets are held for planning and never go into a message.
 */
import { identify } from '../core/identity.ts';
import { type JsonObject, valueAt } from '../core/json.ts';
import { postBuildOf, substituteSources } from '../core/kustomize/index.ts';
import type { Substitution } from '../core/plan/index.ts';
import type { KubeClient } from '../kube/client.ts';

/** A Kustomization may name as many sources as it likes; what lies beyond counts as not read. */
const maxSources = 50;

export async function readSubstitution(client: KubeClient, kustomization: JsonObject): Promise<Substitution> {
  if (valueAt(kustomization, ['spec', 'postBuild']) === undefined) return { isSubstituted: false };
  const namespace = identify(kustomization)?.namespace ?? '';
  const names = [...new Set(substituteSources(kustomization))].slice(0, maxSources);
  const sources = await Promise.all(names.map((name) => readSource(client, namespace, name)));
  const known = sources.filter((source) => source !== undefined);
  const postBuild = postBuildOf(kustomization, known);
  return { isSubstituted: true, ...(postBuild === undefined ? {} : { postBuild }) };
}

/** Undefined when it cannot be read: then nobody knows its values. One that is not there has none. */
async function readSource(
  client: KubeClient,
  namespace: string,
  source: string,
): Promise<JsonObject | undefined> {
  const [kind = '', name = ''] = source.split('/');
  const resource = { ConfigMap: 'configmaps', Secret: 'secrets' }[kind];
  if (resource === undefined) return undefined;
  const read = await client.get({ group: '', version: 'v1', resource, namespace, name });
  if (read.kind === 'ok') return { ...read.object, apiVersion: 'v1', kind };
  return read.kind === 'not-found' ? { apiVersion: 'v1', kind, metadata: { namespace, name } } : undefined;
}
