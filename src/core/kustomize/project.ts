/**
 * Carries one object's edit back to its sources in a workspace: image and replica entries, patches of the folder that state the
 * field, the document, and for what only a base states a small patch of our own.
 *
 * It chooses by following what kustomize does; it proves nothing. The caller builds the result and judges it, and asks again
 * with the next attempt when it is not what was wanted.
 */

import { changesBetween } from '../intent/index.ts';
import type { KindSchema } from '../intent/schema/index.ts';
import { equalJson, isObject, type JsonObject } from '../json.ts';
import type { RefusalReason } from '../refusal.ts';
import { printDocument } from '../yaml/index.ts';
import { projectGenerated } from './generator.ts';
import { currentDocument, type Job, openJob } from './job.ts';
import { besides, dropPatchFile, editKustomization, withPatch } from './kustomization-edits.ts';
import { authorForm, type ListStyle, patchForm, withoutRedundant } from './patch-form.ts';
import { type AppliedPatch, editsHeader } from './patches.ts';
import { parentOf } from './reference.ts';
import type { RenderedObject } from './rendered.ts';
import { routeImages } from './route-images.ts';
import { routeReplicas } from './route-replicas.ts';
import { generatorOf, type Scope, sourceOf, writeProblem } from './source.ts';
import { NoPlace, sourceForm } from './source-form.ts';
import type { SourceDocument, Workspace } from './workspace.ts';

export interface ObjectEdit {
  readonly root: string;
  readonly object: RenderedObject;
  /** The wanted object, as the build has to give it. */
  readonly wanted: JsonObject;
  readonly schema: KindSchema;
}

export type Projection =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: RefusalReason; readonly message: string; readonly path?: string };

/** By attempt; the first two differ in whether our patch is tidied. */
const listStyles: readonly ListStyle[] = ['by-key', 'by-key', 'replace', 'whole'];

/** Ways to place one edit, the preferred one first. */
export const attempts = listStyles.length;

/** Writes the edit into `files`. */
export async function projectEdit(
  scope: Scope,
  files: Workspace,
  edit: ObjectEdit,
  attempt: number,
): Promise<Projection> {
  const { root, object, wanted, schema } = edit;
  if (object.origin.kind === 'generator') {
    const generator = generatorOf(scope.graph, root, object);
    if (generator !== undefined) return await projectGenerated(scope, files, generator, object.value, wanted);
    const text = `it is made by a ${object.origin.generator} in ${object.origin.file}, whose objects are not edited`;
    return refuse('UnsupportedKustomize', text, object.origin.file);
  }
  const source = await sourceOf(scope.graph, root, object, files);
  if (source === undefined) return refuse('UnplaceableEdit', noSource(object), pathOf(object));
  const job = await openJob(scope, files, source, { schema, built: object.value, wanted });
  await routeImages(job);
  await routeReplicas(job);
  await routePatches(job, attempt === 0);
  if (equalJson(job.wanted, job.built)) return { ok: true };
  return job.canWriteStated(undefined)
    ? await editDocumentOf(job, source.document)
    : await authorPatch(job, styleOf(job, attempt));
}

/** Kustomize knows the lists of the kinds that every cluster has; a whole list there would freeze what the base says of it. */
function styleOf({ source }: Job, attempt: number): ListStyle {
  const { group } = source.document.id;
  const isBuiltin = !group.includes('.') || group.endsWith('.k8s.io');
  const style = listStyles[attempt] ?? 'replace';
  return style === 'whole' && isBuiltin ? 'replace' : style;
}

function noSource(object: RenderedObject): string {
  const path = pathOf(object);
  return path === undefined
    ? 'the build does not say where it comes from'
    : `which document of ${path} makes it cannot be told`;
}

function pathOf({ origin }: RenderedObject): string | undefined {
  return origin.kind === 'file' ? origin.path : origin.kind === 'generator' ? origin.file : undefined;
}

function refuse(reason: RefusalReason, message: string, path?: string): Projection {
  return { ok: false, reason, message, ...(path === undefined ? {} : { path }) };
}

/** The outermost patch that states a field is the one that is built. */
async function routePatches(job: Job, tidy: boolean): Promise<void> {
  for (const patch of job.patches.merged.toReversed()) {
    if (patch.path === undefined || !job.canWrite(patch.path)) continue;
    const current = await valueNow(job, patch);
    if (current === undefined) continue;
    const views = { patch: current, built: job.built, wanted: job.wanted };
    const form = patchForm(job.schema, views, tidy);
    if (equalJson(form.patch, current)) continue;
    const rest =
      tidy && patch.isOwned ? withoutRedundant(job.schema, form.patch, beneath(job, patch)) : form.patch;
    const isWritten =
      rest === undefined || (patch.isOwned && saysNothing(form.patch))
        ? await dropPatchFile(job.files, patch.layer.node.file, patch.path)
        : await job.files.set(patch.path, patch.index, rest, job.schema);
    if (isWritten.ok && isObject(form.wanted)) job.wanted = form.wanted;
  }
}

async function valueNow(job: Job, patch: AppliedPatch): Promise<JsonObject | undefined> {
  const document =
    patch.path === undefined ? undefined : (await job.files.documents(patch.path))[patch.index];
  return document?.kind === 'value' && isObject(document.value) ? document.value : undefined;
}

function saysNothing(patch: JsonObject): boolean {
  const body = Object.keys(patch).filter(
    (key) => key !== 'apiVersion' && key !== 'kind' && key !== 'metadata',
  );
  const marks = isObject(patch.metadata) ? Object.keys(patch.metadata) : [];
  return body.length === 0 && marks.every((key) => key === 'name' || key === 'namespace');
}

/** What the object says without the patch, as far as documents and patches tell. */
function beneath(job: Job, patch: AppliedPatch): JsonObject {
  let value = job.source.document.value;
  for (const other of job.patches.merged) {
    if (other !== patch) value = authorForm(job.schema, value, {}, stated(other.value), 'by-key');
  }
  return value;
}

/** A patch without the words that only name its object. */
function stated(patch: JsonObject): JsonObject {
  const { apiVersion: _version, kind: _kind, metadata, ...body } = patch;
  const { name: _name, namespace: _namespace, ...marks } = isObject(metadata) ? metadata : {};
  return Object.keys(marks).length === 0 ? body : { ...body, metadata: marks };
}

async function editDocumentOf(job: Job, document: SourceDocument): Promise<Projection> {
  const current = await currentDocument(job.files, document);
  if (current === undefined)
    return refuse('UnplaceableEdit', `its document left ${document.path}`, document.path);
  let form: JsonObject;
  try {
    const value = sourceForm(
      job.schema,
      [],
      current.value,
      withNamesOf(job.built, current),
      withNamesOf(job.wanted, current),
    );
    form = isObject(value) ? value : current.value;
  } catch (error) {
    if (!(error instanceof NoPlace)) throw error;
    return unplaceable(job, document.path);
  }
  const set = await job.files.set(current.path, current.index, form, job.schema);
  return set.ok ? { ok: true } : refuse('UnplaceableEdit', set.message, document.path);
}

/** Name and namespace are matters of the kustomization; they are compared as if they agreed. */
function withNamesOf(object: JsonObject, { value }: SourceDocument): JsonObject {
  if (!isObject(object.metadata) || !isObject(value.metadata)) return object;
  const { name: _name, namespace: _namespace, ...metadata } = object.metadata;
  const { name, namespace } = value.metadata;
  return {
    ...object,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...metadata,
    },
  };
}

/** For what a base states: our own patch beside the outermost kustomization that we may write. */
async function authorPatch(job: Job, style: ListStyle): Promise<Projection> {
  const { home, source, built, wanted, schema, files } = job;
  const { document } = source;
  if (home === undefined) {
    const why = writeProblem(job.scope, document.path) ?? document.notEditable ?? '';
    const isShared = job.scope.graph.rootsOf(document.path).length > 1;
    const text = `${why}, and no kustomization of the folder can carry the edit`;
    return refuse(isShared ? 'WriteFanIn' : 'WriteEscapesScope', text, document.path);
  }
  const owner = readOnlyOwner(job);
  if (owner !== undefined) return owner;
  const path = besides(home.node.folder, document.id.kind, document.id.name, 'edits');
  const known = job.patches.merged.find((patch) => patch.path === path);
  const isTaken = files.has(path) && !((await files.text(path)) ?? '').startsWith(editsHeader);
  if (isTaken) return refuse('WriteBoundaryRefused', `${path} is a file of somebody else`, path);
  const before = (known === undefined ? undefined : await valueNow(job, known)) ?? nameOnly(document);
  let form: JsonObject;
  try {
    form = authorForm(schema, before, built, wanted, style);
  } catch (error) {
    if (!(error instanceof NoPlace)) throw error;
    return unplaceable(job, path);
  }
  if (files.has(path)) {
    const set = await files.set(path, 0, form, schema);
    if (!set.ok) return refuse('UnplaceableEdit', set.message, path);
  } else files.write(path, editsHeader + printDocument(form));
  const listed = await editKustomization(files, home.node.file, withPatch(parentOf(home.node.file), path));
  return listed.ok ? { ok: true } : refuse('UnplaceableEdit', listed.message, home.node.file);
}

/** What an inline patch of the folder states stays its author's: an override of ours beside it would be two truths. */
function readOnlyOwner(job: Job): Projection | undefined {
  const inline = job.patches.merged.filter(
    ({ path, layer }) => path === undefined && job.canWrite(layer.node.file),
  );
  for (const { value, layer } of inline) {
    const form = patchForm(job.schema, { patch: value, built: job.built, wanted: job.wanted }, false);
    if (equalJson(form.patch, value)) continue;
    const text = `${firstField(job)} is set by an inline patch in ${layer.node.file}, which is read-only; change it there`;
    return refuse('UnplaceableEdit', text, layer.node.file);
  }
  return undefined;
}

export function nameOnly({ value, id }: SourceDocument): JsonObject {
  return {
    apiVersion: value.apiVersion ?? '',
    kind: id.kind,
    metadata: { name: id.name, ...(id.namespace === '' ? {} : { namespace: id.namespace }) },
  };
}

function unplaceable(job: Job, path: string): Projection {
  const text = `${firstField(job)} has no exact place in ${path}: the build mixes its list with another source`;
  return refuse('UnplaceableEdit', text, path);
}

function firstField({ schema, built, wanted }: Job): string {
  return changesBetween(schema, built, wanted)[0]?.where ?? 'the object';
}

/** What could own a value that the build does not give as wanted, in words. */
export function ownersOf(scope: Scope, root: string): string {
  const reach = scope.graph.reaches.get(root);
  const owners = [...(reach?.folders ?? [])].flatMap((folder) => {
    const node = scope.graph.nodes.get(folder);
    const features = node?.decoded.ok === true ? node.decoded.kustomization.features : [];
    const found = features.filter((feature) => overriding.has(feature));
    return node === undefined || found.length === 0 ? [] : [`${found.join(', ')} of ${node.file}`];
  });
  return owners.slice(0, 5).join('; ');
}

const overriding = new Set([
  ...['labels', 'commonLabels', 'commonAnnotations', 'inline patch', 'JSON6902 patch', 'patches'],
  ...['patchesStrategicMerge', 'replacements', 'vars', 'transformers', 'images', 'replicas', 'namespace'],
  ...['namePrefix', 'nameSuffix', 'configurations', 'imageTags'],
]);
