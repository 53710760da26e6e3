/** One folder of a scan: accepted or refused, and what of it stays as it is. */
import { compareText, type FolderIndex, folderLayout, isInside } from '../folder/index.ts';
import { identify, type ObjectId, parseApiVersion } from '../identity.ts';
import { isObject } from '../json.ts';
import { type Builds, outsideOf, type RootBuild, type RootFailure, topmost } from '../kustomize/index.ts';
import { plainIndex } from '../plan/index.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { readOnlyParts } from './read-only.ts';
import type { FolderReport } from './report.ts';

/** What an applier of the folder gets, with where it comes from. */
export interface ScannedObject {
  readonly id: ObjectId;
  readonly apiVersion: string;
  readonly encrypted: boolean;
  /** Undefined for what a generator makes. */
  readonly path?: string;
}

export type IsSensitive = (apiVersion: string, kind: string) => boolean;

/** `overlaps` is left for who knows all folders. */
export async function judgeFolder(
  builds: Builds,
  index: FolderIndex,
  isSensitive: IsSensitive,
): Promise<FolderReport> {
  const { graph } = builds;
  const { folder } = index;
  const reach = graph.reaches.get(folder);
  const result = reach === undefined ? undefined : await builds.result(reach);
  const refused = result === undefined ? refusalsOfPlain(builds, index) : refusalsOf(result);
  const objects = result === undefined ? documentsOf(index) : builtObjects(result);
  const reads = reach === undefined ? [] : topmost(outsideOf(reach, folder));
  const namespaces = new Set(objects.map(({ id }) => id.namespace).filter((one) => one !== ''));
  const [namespace] = namespaces;
  const declared = graph.nodes.get(folder)?.decoded;
  const set = declared?.ok === true ? declared.kustomization.namespace : '';
  const own = set === '' && namespaces.size === 1 ? namespace : set;
  return {
    path: folder,
    layout: reach === undefined ? 'plain' : reads.length === 0 ? 'kustomize' : 'kustomize-overlay',
    accepted: refused.length === 0,
    refused,
    readOnly: refused.length > 0 ? [] : readOnlyParts(builds, index, { reach, objects, isSensitive }),
    reads,
    readBy: readersOf(builds, index),
    ...(own === undefined || own === '' ? {} : { namespace: own }),
    objects: {
      total: objects.length,
      inFolder: objects.filter(({ path }) => path !== undefined && isInside(path, folder)).length,
      encrypted: objects.filter(({ encrypted }) => encrypted).length,
    },
    kinds: kindsOf(objects),
    skipped: index.skipped.filter(({ path }) => graph.rootsOf(path).length === 0),
    overlaps: [],
  };
}

function refusalsOf(result: RootBuild | RootFailure): Refusal[] {
  if ('objects' in result) return [];
  return [refuse(result.reason, result.message, { path: result.path })];
}

/** As the planner would have it, for what no build reads. */
function refusalsOfPlain(builds: Builds, index: FolderIndex): readonly Refusal[] {
  const layout = folderLayout(plainIndex(index, builds.graph));
  if (layout.kind === 'plain') return [];
  if (layout.kind === 'closed') return layout.refusals;
  return [refuse(layout.reason, layout.message, { path: layout.path })];
}

function documentsOf({ documents }: FolderIndex): ScannedObject[] {
  return [...documents.values()].flat().map(({ id, apiVersion, encrypted, path }) => ({
    id,
    apiVersion,
    encrypted,
    path,
  }));
}

function builtObjects(result: RootBuild | RootFailure): ScannedObject[] {
  if (!('objects' in result)) return [];
  return result.objects.map(({ id, value, origin }) => ({
    id: identify(value) ?? id,
    apiVersion: String(value.apiVersion),
    encrypted: isObject(value.sops),
    ...(origin.kind === 'file' ? { path: origin.path } : {}),
    ...(origin.kind === 'generator' ? { path: origin.file } : {}),
  }));
}

function readersOf({ graph }: Builds, { folder, files }: FolderIndex): string[] {
  const readers = [...files.keys()].flatMap((path) => graph.rootsOf(path));
  return [...new Set(readers)].filter((root) => !isInside(`${root}/`, folder)).sort(compareText);
}

function kindsOf(objects: readonly ScannedObject[]): FolderReport['kinds'] {
  const byNamespace = new Map<string, Set<string>>();
  for (const { id, apiVersion } of objects) {
    const { group, version } = parseApiVersion(apiVersion);
    const kind = [...(group === '' ? [] : [group]), version, id.kind].join('/');
    const known = byNamespace.get(id.namespace) ?? new Set();
    byNamespace.set(id.namespace, known.add(kind));
  }
  const sorted = [...byNamespace].map(([name, kinds]) => [name, [...kinds].sort(compareText)] as const);
  return {
    byNamespace: Object.fromEntries(
      sorted.filter(([name]) => name !== '').sort(([a], [b]) => compareText(a, b)),
    ),
    undeclared: sorted.find(([name]) => name === '')?.[1] ?? [],
  };
}
