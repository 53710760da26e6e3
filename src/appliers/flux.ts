/** What a Flux Kustomization says of a folder. */
import { type JsonObject, valueAt } from '../core/json.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { ApplierOwner } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { branchOf, gitRepositories, kustomizations, textAt } from './flux-kinds.ts';
import { readSubstitution } from './flux-post-build.ts';
import { cleanPath, commitIds, type FolderApplier, type FolderRef, pathsOverlap } from './folder-applier.ts';

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
    namespace: textAt(kustomization, 'spec', 'sourceRef', 'namespace') ?? namespace,
    name: textAt(kustomization, 'spec', 'sourceRef', 'name') ?? '',
  });
  if (source.kind !== 'ok') return { kind: 'unknown', message: source.message };
  if (!applies(kustomization, source.object, folder)) return { kind: 'elsewhere' };
  const revisions = commitIds([
    textAt(kustomization, 'status', 'lastAppliedRevision'),
    textAt(kustomization, 'status', 'lastAttemptedRevision'),
  ]);
  const isExact = cleanPath(textAt(kustomization, 'spec', 'path') ?? '') === folder.path;
  return { kind: 'applies', revisions, isExact, substitution: await readSubstitution(client, kustomization) };
}

function applies(kustomization: JsonObject, source: JsonObject, folder: FolderRef): boolean {
  if (normaliseRepositoryUrl(textAt(source, 'spec', 'url') ?? '') !== folder.repository) return false;
  if (branchOf(source) !== folder.branch) return false;
  return pathsOverlap(cleanPath(textAt(kustomization, 'spec', 'path') ?? ''), folder.path);
}
