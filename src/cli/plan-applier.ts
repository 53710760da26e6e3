/**
 * Who applies the folder, as far as the live objects and the repository tell. Without any sign of an applier the folder is a
 * mirror, and live wins as a whole.
 */
import type { Tree } from '../core/folder/index.ts';
import { parseApiVersion } from '../core/identity.ts';
import { knownAppliers } from '../core/intent/index.ts';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { type PostBuild, postBuildOf, substituteSources } from '../core/kustomize/index.ts';
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
  /** Somebody named applies the very folder. */
  readonly isFolderApplied: boolean;
  /** What is filled in, when one Kustomization alone applies the folder. */
  readonly postBuild?: PostBuild;
}

interface Applier {
  /** The file that holds it. */
  readonly path: string;
  readonly object: JsonObject;
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
  const substituting = appliers.filter(({ object: { spec } }) => isObject(spec) && isObject(spec.postBuild));
  const postBuild = appliers.length === 1 ? await postBuildOfFirst(tree, substituting) : undefined;
  return {
    isApplied: (live) => appliers.length > 0 || isMarked(live),
    isSubstituted: substituting.length > 0,
    isFolderApplied: appliers.length > 0,
    ...(postBuild === undefined ? {} : { postBuild }),
  };
}

async function postBuildOfFirst(tree: Tree, [first]: readonly Applier[]): Promise<PostBuild | undefined> {
  if (first === undefined) return undefined;
  const names = substituteSources(first.object);
  const sources = names.length === 0 ? [] : await objectsIn(tree, (object) => isSource(object, names));
  return postBuildOf(
    first.object,
    sources.map(({ object }) => object),
    first.path,
  );
}

/** Offline the values are those of Git. */
function isSource({ apiVersion, kind, metadata }: JsonObject, names: readonly string[]): boolean {
  const name = isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
  return apiVersion === 'v1' && names.includes(`${String(kind)}/${name}`);
}

async function givenIn(file: string): Promise<Applier[]> {
  const found = (await readObjects(file)).objects.filter(isFluxKustomization);
  if (found.length === 0) throw new BadInput(`${file}: holds no Flux Kustomization`);
  return found.map((object) => ({ path: file, object }));
}

async function appliersIn(tree: Tree, folder: string): Promise<Applier[]> {
  return await objectsIn(
    tree,
    (object) => appliedFolders(object).includes(folder),
    /kustomize\.toolkit\.fluxcd\.io|argoproj\.io/,
  );
}

/** Objects of the repository; only files whose text holds `hint` are parsed. */
async function objectsIn(
  tree: Tree,
  isMeant: (object: JsonObject) => boolean,
  hint = /^/,
): Promise<Applier[]> {
  const found: Applier[] = [];
  for (const { path, mode, size } of tree.entries()) {
    if (!/\.ya?ml$/.test(path) || mode === '120000' || mode === '160000' || size > maxBytes) continue;
    const decoded = decodeFile(await tree.read(path));
    if (!decoded.ok || !hint.test(decoded.text)) continue;
    for (const document of readDocuments(decoded.text)) {
      if (document.kind !== 'value' || !isObject(document.value)) continue;
      if (isMeant(document.value)) found.push({ path, object: document.value });
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
