/**
 * `placement.useKustomize`: the first new document of a folder that no kustomization governs brings one with it, which lists all
 * that the folder holds. It is planned as if the file stood there already, so the build proves it before anybody sees it.
 */
import { compareText, type FolderIndex, joinPath, relativeTo, type Tree } from '../folder/index.ts';
import { isObject } from '../json.ts';
import { blobId } from '../kustomize/index.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { decodeFile, encodeFile, printDocument, readDocuments } from '../yaml/index.ts';
import type { Plan, PlannedEdit, PlanOptions } from './types.ts';

/** The tree with the kustomization in it, and its path; undefined when the plan needs none. */
export function withKustomization(
  tree: Tree,
  index: FolderIndex,
  { edits }: Plan,
  { placement, kustomize }: PlanOptions,
): { readonly tree: Tree; readonly path: string } | undefined {
  if (placement.useKustomize !== true || kustomize?.render === undefined) return undefined;
  const isNew = edits.some(({ action, objects }) => action === 'create' && objects.length > 0);
  if (!isNew || index.kustomizations.length > 0) return undefined;
  const path = joinPath(index.folder, 'kustomization.yaml');
  const listed = [...index.files]
    .filter(([, { documents }]) => documents.length > 0)
    .map(([file]) => relativeTo(file, index.folder));
  const content = encodeFile(
    printDocument({
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: listed,
    }),
  );
  const entry = { path, mode: '100644' as const, id: blobId(content), size: content.length };
  const entries = [...tree.entries(), entry].sort((a, b) => compareText(a.path, b.path));
  return {
    path,
    tree: {
      entries: () => entries,
      read: async (one) => (one === path ? content : await tree.read(one)),
    },
  };
}

/** A file that an applier takes from a folder without a kustomization, and that we would not list. */
export function unlistable({ others, unclear }: FolderIndex): string | undefined {
  const hidden = [...others].find(([path, role]) => role === 'ignored' && /\.ya?ml$/.test(path));
  return hidden?.[0] ?? unclear.find(({ path }) => /\.ya?ml$/.test(path))?.path;
}

/** The plan without its new files, each object refused. */
export function withoutNew(plan: Plan, path: string): Plan {
  const dropped = plan.edits.filter(({ action, objects }) => action === 'create' && objects.length > 0);
  const objects = dropped.flatMap((edit) => edit.objects);
  const message = `a kustomization would take ${path} from who applies the folder; list what the folder shall hold in a kustomization, or leave spec.placement.useKustomize out`;
  const refused = objects.map((object): Refusal => refuse('AmbiguousLayout', message, { object, path }));
  return {
    ...plan,
    edits: plan.edits.filter((edit) => !dropped.includes(edit)),
    refused: [...plan.refused, ...refused],
    outcomes: plan.outcomes.map((one) =>
      objects.includes(one.object) ? { object: one.object, outcome: 'refused', path } : one,
    ),
  };
}

/** The kustomization does not stand in Git yet, and what a new folder gets comes along. */
export function asNewFile(plan: Plan, path: string, dry: Plan): Plan {
  const edits = plan.edits.map((edit) => (edit.path === path ? printedAnew(edit) : edit));
  const extra = dry.edits.filter(
    ({ action, objects, path: own }) =>
      action === 'create' && objects.length === 0 && !edits.some((edit) => edit.path === own),
  );
  return { ...plan, edits: [...edits, ...extra].sort((a, b) => compareText(a.path, b.path)) };
}

/** One entry a line, also where the list was empty before. */
function printedAnew(edit: PlannedEdit): PlannedEdit {
  const decoded = edit.content === undefined ? undefined : decodeFile(edit.content);
  const [document] = decoded?.ok === true ? readDocuments(decoded.text) : [];
  if (document?.kind !== 'value' || !isObject(document.value)) return { ...edit, action: 'create' };
  return { ...edit, action: 'create', content: encodeFile(printDocument(document.value)) };
}
