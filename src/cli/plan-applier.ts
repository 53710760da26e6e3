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
import { BadInput } from './bad-input.ts';
import type { LocalRepository } from './local-tree.ts';
import { readObjects } from './plan-objects.ts';

const maxBytes = 1024 * 1024;

/** An ownership mark, or an applier among the field managers. */
function isMarked(live: JsonObject): boolean {
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

export interface Appliers {
  /** Whether somebody applies a live object. */
  isApplied(live: JsonObject): boolean;
  /** Whether Flux replaces `${…}` after Git: the folder's Kustomization has a postBuild. */
  readonly isSubstituted: boolean;
}

/**
 * Reads who applies the folder: the given Flux Kustomization, else those and the Argo CD Applications of the repository whose
 * path is the folder. Throws BadInput when the given file cannot be used.
 */
export async function readAppliers(
  { tree, folder }: Pick<LocalRepository, 'tree' | 'folder'>,
  kustomization: string | undefined,
): Promise<Appliers> {
  const appliers =
    kustomization === undefined ? await appliersIn(tree, folder) : await givenIn(kustomization);
  return {
    isApplied: (live) => appliers.length > 0 || isMarked(live),
    isSubstituted: appliers.some(({ spec }) => isObject(spec) && isObject(spec.postBuild)),
  };
}

async function givenIn(file: string): Promise<JsonObject[]> {
  const found = (await readObjects(file)).objects.filter(isFluxKustomization);
  if (found.length === 0) throw new BadInput(`${file}: holds no Flux Kustomization`);
  return found;
}

async function appliersIn(tree: Tree, folder: string): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (const { path, mode, size } of tree.entries()) {
    if (!/\.ya?ml$/.test(path) || mode === '120000' || mode === '160000' || size > maxBytes) continue;
    const decoded = decodeFile(await tree.read(path));
    if (!decoded.ok || !/kustomize\.toolkit\.fluxcd\.io|argoproj\.io/.test(decoded.text)) continue;
    for (const document of readDocuments(decoded.text)) {
      if (document.kind !== 'value' || !isObject(document.value)) continue;
      if (appliedFolders(document.value).includes(folder)) found.push(document.value);
    }
  }
  return found;
}

/** The folders an applier object names, as repository paths. */
function appliedFolders(object: JsonObject): string[] {
  const { spec } = object;
  if (!isObject(spec)) return [];
  if (isFluxKustomization(object)) return [cleanPath(spec.path)];
  if (groupOf(object) !== 'argoproj.io' || object.kind !== 'Application') return [];
  const sources = Array.isArray(spec.sources) ? spec.sources : [spec.source ?? null];
  return sources.flatMap((source) =>
    isObject(source) && source.path !== undefined ? [cleanPath(source.path)] : [],
  );
}

function isFluxKustomization(object: JsonObject): boolean {
  return groupOf(object) === 'kustomize.toolkit.fluxcd.io' && object.kind === 'Kustomization';
}

function groupOf(object: JsonObject): string {
  return typeof object.apiVersion === 'string' ? parseApiVersion(object.apiVersion).group : '';
}

/** `./apps/shop/` and `/apps/shop` are `apps/shop`; nothing is the root. */
function cleanPath(path: Json | undefined): string {
  const text = typeof path === 'string' ? path : '';
  return text
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}
