/** What a Flux Kustomization says of a folder. */
import { type Json, type JsonObject, valueAt } from '../core/json.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { ApplierOwner } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { cleanPath, commitIds, type FolderApplier, type FolderRef, pathsOverlap } from './folder-applier.ts';

const kustomizations = { group: 'kustomize.toolkit.fluxcd.io', version: 'v1', resource: 'kustomizations' };
const gitRepositories = { group: 'source.toolkit.fluxcd.io', version: 'v1', resource: 'gitrepositories' };

export async function readKustomization(
  client: KubeClient,
  owner: ApplierOwner,
  folder: FolderRef,
): Promise<FolderApplier> {
  const { namespace, name } = owner;
  const read = await client.get({ ...kustomizations, namespace, name });
  // Flux may run on another cluster and apply to this one: not finding it proves nothing.
  if (read.kind !== 'ok') return { kind: 'unknown', message: read.message };
  const kustomization = read.object;
  if (valueAt(kustomization, ['spec', 'sourceRef', 'kind']) !== 'GitRepository') return { kind: 'elsewhere' };
  const source = await client.get({
    ...gitRepositories,
    namespace: text(kustomization, 'spec', 'sourceRef', 'namespace') ?? namespace,
    name: text(kustomization, 'spec', 'sourceRef', 'name') ?? '',
  });
  if (source.kind !== 'ok') return { kind: 'unknown', message: source.message };
  if (!applies(kustomization, source.object, folder)) return { kind: 'elsewhere' };
  const revisions = commitIds([
    text(kustomization, 'status', 'lastAppliedRevision'),
    text(kustomization, 'status', 'lastAttemptedRevision'),
  ]);
  return { kind: 'applies', revisions };
}

function applies(kustomization: JsonObject, source: JsonObject, folder: FolderRef): boolean {
  if (normaliseRepositoryUrl(text(source, 'spec', 'url') ?? '') !== folder.repository) return false;
  const branch = text(source, 'spec', 'ref', 'branch') ?? 'master';
  if (branch !== folder.branch) return false;
  return pathsOverlap(cleanPath(text(kustomization, 'spec', 'path') ?? ''), folder.path);
}

function text(object: JsonObject, ...path: string[]): string | undefined {
  const value: Json | undefined = valueAt(object, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
