/**
 * An object that is gone live: its document and every entry that names it, or a patch that takes an inherited object away, and
 * the way back.
 */
import { identify, type ObjectId } from '../identity.ts';
import type { KindSchema } from '../intent/schema/index.ts';
import { equalJson, type JsonObject } from '../json.ts';
import { printDocument } from '../yaml/index.ts';
import { dropGenerated } from './generator.ts';
import { currentDocument, type Job, openJob } from './job.ts';
import {
  besides,
  dropPatchFile,
  editKustomization,
  withoutReplicas,
  withoutResource,
  withPatch,
} from './kustomization-edits.ts';
import { layersTo, nameAfter, uniqueLayers } from './layers.ts';
import type { Overlay } from './overlay.ts';
import { deleteHeader } from './patches.ts';
import { nameOnly, type Projection } from './project.ts';
import { parentOf, resolveReference } from './reference.ts';
import type { RenderedObject } from './rendered.ts';
import { generatorOf, type Scope, sourceOf, writeProblem } from './source.ts';
import type { Workspace } from './workspace.ts';

export interface ObjectRemoval {
  readonly root: string;
  readonly object: RenderedObject;
  readonly schema: KindSchema;
}

/** A file of ours that takes an inherited object away. */
export interface DeletePatch {
  readonly path: string;
  readonly kustomization: string;
  readonly root: string;
}

export async function projectRemove(
  scope: Scope,
  files: Workspace,
  { root, object, schema }: ObjectRemoval,
  attempt: number,
): Promise<Projection> {
  if (object.origin.kind === 'generator') {
    const generator = generatorOf(scope.graph, root, object);
    if (generator !== undefined) return await dropGenerated(scope, files, generator);
    const message = `it is made by a ${object.origin.generator} in ${object.origin.file}, whose objects are not edited`;
    return { ok: false, reason: 'UnsupportedKustomize', message, path: object.origin.file };
  }
  const source = await sourceOf(scope.graph, root, object, files);
  if (source === undefined)
    return { ok: false, reason: 'UnplaceableEdit', message: 'which document makes it cannot be told' };
  const job = await openJob(scope, files, source, { schema, built: object.value, wanted: object.value });
  // A count for an object that is gone breaks the build; it stays only where another object has the same name.
  if (attempt === 0) await dropReplicas(job);
  return job.canWrite(source.document.path) ? await dropDocument(job) : await authorDelete(job);
}

async function dropReplicas({ layers, source, files, canWrite }: Job): Promise<void> {
  for (const { node } of layers) {
    if (canWrite(node.file))
      await editKustomization(files, node.file, withoutReplicas(source.document.id.name));
  }
}

async function dropDocument(job: Job): Promise<Projection> {
  const { files, source, scope } = job;
  const { path } = source.document;
  await dropPatches(job, () => true);
  const current = await currentDocument(files, source.document);
  if (current === undefined) return { ok: true };
  const { fileGone } = await files.remove(path, current.index);
  if (!fileGone) return { ok: true };
  for (const node of scope.graph.nodes.values()) {
    if (!node.documents.includes(path)) continue;
    if (!job.canWrite(node.file)) {
      const message = `${node.file} lists ${path} and is not ours to write`;
      return { ok: false, reason: 'WriteEscapesScope', message, path: node.file };
    }
    const edited = await editKustomization(files, node.file, withoutResource(node.folder, path));
    if (!edited.ok) return { ok: false, reason: 'UnplaceableEdit', message: edited.message, path: node.file };
  }
  return { ok: true };
}

/** Patches of an object that is gone have nothing to patch, and the build fails over them. */
async function dropPatches(job: Job, isMeant: (isOwned: boolean) => boolean): Promise<void> {
  for (const { path, layer, isOwned } of job.patches.merged) {
    if (path === undefined || !isMeant(isOwned) || !job.canWrite(path)) continue;
    const documents = await job.files.documents(path);
    if (documents.filter(({ kind }) => kind !== 'empty').length === 1)
      await dropPatchFile(job.files, layer.node.file, path);
  }
}

async function authorDelete(job: Job): Promise<Projection> {
  const { home, source, files, scope } = job;
  const { document } = source;
  if (home === undefined) {
    const message = `${writeProblem(scope, document.path) ?? ''}, and no kustomization of the folder can take it away`;
    return { ok: false, reason: 'WriteEscapesScope', message, path: document.path };
  }
  const path = besides(home.node.folder, document.id.kind, document.id.name, 'delete');
  const patch: JsonObject = { ...nameOnly(document), $patch: 'delete' };
  const [known] = await files.objects(path);
  if (files.has(path) && !(known !== undefined && equalJson(known.value, patch)))
    return { ok: false, reason: 'WriteBoundaryRefused', message: `${path} is a file of somebody else`, path };
  await dropPatches(job, (isOwned) => isOwned);
  if (!files.has(path)) files.write(path, deleteHeader + printDocument(patch));
  const listed = await editKustomization(files, home.node.file, withPatch(parentOf(home.node.file), path));
  return listed.ok
    ? { ok: true }
    : { ok: false, reason: 'UnplaceableEdit', message: listed.message, path: home.node.file };
}

/** Our file that takes an object of this name away, when there is one. */
export async function deletePatchOf(overlay: Overlay, id: ObjectId): Promise<DeletePatch | undefined> {
  const { scope, files, builds } = overlay;
  for (const { root, reach } of builds) {
    for (const folder of reach.folders) {
      const node = scope.graph.nodes.get(folder);
      const patches = node?.decoded.ok === true ? node.decoded.kustomization.patches : [];
      for (const { path: reference } of patches) {
        const path = reference === undefined ? undefined : resolveReference(folder, reference);
        if (node === undefined || path === undefined || writeProblem(scope, path) !== undefined) continue;
        const [patch] = await files.objects(path);
        const named = identify(patch?.value);
        if (patch?.value.$patch !== 'delete' || !((await files.text(path)) ?? '').startsWith(deleteHeader))
          continue;
        if (named?.kind !== id.kind || named.group !== id.group) continue;
        const layers = uniqueLayers(layersTo(scope.graph, root, node.file, undefined) ?? []);
        const names = [named.name, nameAfter(layers, named.name)];
        if (names.includes(id.name) || id.name.includes(named.name))
          return { path, kustomization: node.file, root };
      }
    }
  }
  return undefined;
}

export async function restoreDeleted(
  files: Workspace,
  { path, kustomization }: DeletePatch,
): Promise<Projection> {
  const dropped = await dropPatchFile(files, kustomization, path);
  return dropped.ok
    ? { ok: true }
    : { ok: false, reason: 'UnplaceableEdit', message: dropped.message, path: kustomization };
}
