/** What stays as it is in a folder that is accepted: an edit of it is refused, and the rest goes on. */
import { compareText, type FolderIndex, type IndexedDocument, isInside } from '../folder/index.ts';
import { describeObject } from '../identity.ts';
import { type Builds, featureRule, type Reach } from '../kustomize/index.ts';
import type { Actor } from '../refusal.ts';
import type { IsSensitive, ScannedObject } from './folder.ts';
import type { ReadOnlyPart } from './report.ts';

interface Facts {
  /** Undefined for a folder without a kustomization. */
  readonly reach: Reach | undefined;
  readonly objects: readonly ScannedObject[];
  readonly isSensitive: IsSensitive;
}

export function readOnlyParts(builds: Builds, index: FolderIndex, facts: Facts): ReadOnlyPart[] {
  const documents = [...index.documents.values()].flat();
  const parts = [
    ...featureParts(builds, facts.reach),
    ...plainSecrets(facts),
    ...documents.flatMap((document) => documentPart(builds, index, document, facts.reach)),
    ...sharedFiles(builds, index, facts.reach),
  ];
  return parts.sort((a, b) => compareText(`${a.path}\0${a.what}`, `${b.path}\0${b.what}`));
}

/** They shape or mark the build, or make names, which nobody can edit live. */
const silent = new Set([
  'namespace',
  'namePrefix',
  'nameSuffix',
  'apiVersion',
  'kind',
  'metadata',
  'buildMetadata',
  'sortOptions',
  'generatorOptions',
]);
/** Written another way, they are editable. */
const renewable = new Set([
  'imageTags',
  'inline patch',
  'patchesJson6902',
  'JSON6902 patch',
  'secretGenerator',
]);

function featureParts({ graph }: Builds, reach: Reach | undefined): ReadOnlyPart[] {
  return [...(reach?.folders ?? [])].flatMap((folder) => {
    const node = graph.nodes.get(folder);
    if (node?.decoded.ok !== true) return [];
    return node.decoded.kustomization.features
      .filter((feature) => featureRule(feature).verdict === 'read-only' && !silent.has(feature))
      .map((feature) => ({
        path: node.file,
        what: feature,
        why: featureRule(feature).reason,
        actor: renewable.has(feature) ? ('repository-author' as const) : ('nobody' as const),
      }));
  });
}

function plainSecrets({ objects, isSensitive }: Facts): ReadOnlyPart[] {
  return objects.flatMap(({ id, apiVersion, encrypted, path }) =>
    encrypted || path === undefined || isKustomization(path) || !isSensitive(apiVersion, id.kind)
      ? []
      : [
          part(
            path,
            describeObject(id),
            'it is sensitive and stands in plain text; encrypt it there with sops, and its edits are written',
          ),
        ],
  );
}

function isKustomization(path: string): boolean {
  return /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/.test(path);
}

function documentPart(
  { graph }: Builds,
  index: FolderIndex,
  document: IndexedDocument,
  reach: Reach | undefined,
): ReadOnlyPart[] {
  const { id, path, notEditable, encrypted } = document;
  const what = describeObject(id);
  if (reach !== undefined && graph.rootsOf(path).length === 0)
    return [part(path, what, 'no kustomization lists the file, so nobody applies it; list it, or remove it')];
  if (notEditable !== undefined) return [part(path, what, `it cannot be edited in place: ${notEditable}`)];
  if (encrypted && (index.files.get(path)?.filled ?? 0) > 1)
    return [part(path, what, 'it is encrypted together with other documents; give it a file of its own')];
  return [];
}

/** Files of the folder that other roots read, too: an edit for one would change the others. */
function sharedFiles(
  { graph }: Builds,
  { folder, files }: FolderIndex,
  reach: Reach | undefined,
): ReadOnlyPart[] {
  return [...files.keys()].flatMap((path) => {
    const roots = graph.rootsOf(path);
    if (roots.length < 2 || !isInside(path, folder)) return [];
    const others = roots.filter((root) => root !== folder || reach === undefined).map((root) => root || '.');
    const instead =
      reach === undefined
        ? 'it is not written'
        : 'it is not written; an edit of its objects becomes a patch of this folder';
    return [part(path, 'file', `${others.slice(0, 5).join(' and ')} read it, too: ${instead}`)];
  });
}

function part(path: string, what: string, why: string, actor: Actor = 'repository-author'): ReadOnlyPart {
  return { path, what, why, actor };
}
