/**
 * Who applies the folder, as far as the live objects and the repository tell. Without any sign of an applier the folder is a
 * mirror, and live wins as a whole.
 */
import type { Tree } from '../core/folder/index.ts';
import { parseApiVersion } from '../core/identity.ts';
import { knownAppliers } from '../core/intent/index.ts';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { applierOwner } from '../core/sanitize/index.ts';
import { decodeFile, readDocuments } from '../core/yaml/index.ts';

const maxBytes = 1024 * 1024;

/** An ownership mark, or an applier among the field managers. */
export function isApplied(live: JsonObject): boolean {
  if (applierOwner(live) !== undefined) return true;
  const managed = isObject(live.metadata) ? live.metadata.managedFields : undefined;
  const appliers: readonly string[] = Object.values(knownAppliers).flat();
  return (
    Array.isArray(managed) &&
    managed.some(
      (entry) => isObject(entry) && typeof entry.manager === 'string' && appliers.includes(entry.manager),
    )
  );
}

/** True when a Flux Kustomization or an Argo CD Application anywhere in the repository applies the folder. */
export async function isAppliedFolder(tree: Tree, folder: string): Promise<boolean> {
  for (const { path, mode, size } of tree.entries()) {
    if (!/\.ya?ml$/.test(path) || mode === '120000' || mode === '160000' || size > maxBytes) continue;
    const decoded = decodeFile(await tree.read(path));
    if (!decoded.ok || !/kustomize\.toolkit\.fluxcd\.io|argoproj\.io/.test(decoded.text)) continue;
    const documents = readDocuments(decoded.text);
    if (documents.some((one) => one.kind === 'value' && appliedFolders(one.value).includes(folder)))
      return true;
  }
  return false;
}

/** The folders an applier object names, as repository paths. */
function appliedFolders(value: Json): string[] {
  if (!isObject(value) || typeof value.apiVersion !== 'string' || !isObject(value.spec)) return [];
  const { group } = parseApiVersion(value.apiVersion);
  const { spec } = value;
  if (group === 'kustomize.toolkit.fluxcd.io' && value.kind === 'Kustomization')
    return [cleanPath(spec.path)];
  if (group !== 'argoproj.io' || value.kind !== 'Application') return [];
  const sources = Array.isArray(spec.sources) ? spec.sources : [spec.source ?? null];
  return sources.flatMap((source) =>
    isObject(source) && source.path !== undefined ? [cleanPath(source.path)] : [],
  );
}

/** `./apps/shop/` and `/apps/shop` are `apps/shop`; nothing is the root. */
function cleanPath(path: Json | undefined): string {
  const text = typeof path === 'string' ? path : '';
  return text
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}
