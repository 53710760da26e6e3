/** What an Argo CD Application says of a folder. */
import { isObject, type Json, type JsonObject, valueAt } from '../core/json.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { ApplierOwner } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { cleanPath, commitIds, type FolderApplier, type FolderRef, pathsOverlap } from './folder-applier.ts';

const applications = { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' };
/** Where Applications live when a tracking id names no namespace. */
const defaultNamespace = 'argocd';

export async function readApplication(
  client: KubeClient,
  owner: ApplierOwner,
  folder: FolderRef,
): Promise<FolderApplier> {
  if (owner.isForeign)
    return { kind: 'unknown', message: `${owner.name} is an Application of another Argo CD installation` };
  const namespace = owner.namespace === '' ? defaultNamespace : owner.namespace;
  const read = await client.get({ ...applications, namespace, name: owner.name });
  // Argo CD may run in another namespace or on another cluster: not finding it proves nothing.
  if (read.kind !== 'ok') return { kind: 'unknown', message: read.message };
  const application = read.object;
  if (!sources(application).some((source) => applies(source, folder))) return { kind: 'elsewhere' };
  const history = valueAt(application, ['status', 'history']);
  const newest = Array.isArray(history) ? history.at(-1) : undefined;
  const synced = valueAt(application, ['status', 'operationState', 'syncResult']);
  return { kind: 'applies', revisions: commitIds([...revisionsOf(newest), ...revisionsOf(synced)]) };
}

function sources(application: JsonObject): JsonObject[] {
  const several = valueAt(application, ['spec', 'sources']);
  const one = valueAt(application, ['spec', 'source']);
  const all: Json[] = Array.isArray(several) && several.length > 0 ? several : one === undefined ? [] : [one];
  return all.filter(isObject);
}

/** The branch is not compared: HEAD and short names resolve to it, and a wrong guess would count edits as the applier's. */
function applies(source: JsonObject, folder: FolderRef): boolean {
  const { repoURL, path } = source;
  if (typeof repoURL !== 'string' || normaliseRepositoryUrl(repoURL) !== folder.repository) return false;
  return pathsOverlap(cleanPath(typeof path === 'string' ? path : ''), folder.path);
}

function revisionsOf(record: Json | undefined): (string | undefined)[] {
  if (!isObject(record)) return [];
  const { revision, revisions } = record;
  const all = [revision, ...(Array.isArray(revisions) ? revisions : [])];
  return all.map((one) => (typeof one === 'string' ? one : undefined));
}
