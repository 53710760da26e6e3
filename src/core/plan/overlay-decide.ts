/** A live object that a build makes: nothing to do, an edit of its sources, or a refusal. */
import { type FolderIndex, isInside, scaleTarget, type Tree } from '../folder/index.ts';
import { describeObject, identify, type ObjectId, objectKey } from '../identity.ts';
import { type Intent, intentOf } from '../intent/index.ts';
import { kindSchema } from '../intent/schema/index.ts';
import { equalJson, isObject, type JsonObject } from '../json.ts';
import {
  type DeletePatch,
  deletePatchOf,
  fillObject,
  type Overlay,
  type OverlayChange,
  type RenderedObject,
  type RootFailure,
  restoreDeleted,
  restoreObject,
  withoutMarks,
} from '../kustomize/index.ts';
import type { Refusal, RefusalReason } from '../refusal.ts';
import { isTerminating, neverMirrored } from '../sanitize/index.ts';
import { refused } from './decision.ts';
import { asLive, asWritten } from './namespace.ts';
import type { Notice, ObjectOutcome, PlanOptions, Upsert } from './types.ts';
import { substitutionFor } from './variables.ts';
import { carryOver } from './version.ts';

export interface OverlayContext {
  readonly overlay: Overlay;
  readonly tree: Tree;
  readonly index: FolderIndex;
  /** The documents that no build reads. */
  readonly plain: FolderIndex;
  readonly options: PlanOptions;
  readonly notices: Notice[];
}

/** What comes of one object. */
export type Built =
  | { readonly kind: 'settled'; readonly outcome: ObjectOutcome; readonly refusal?: Refusal }
  | {
      readonly kind: 'project';
      readonly object: ObjectId;
      readonly change: OverlayChange;
      readonly fields: readonly string[];
      readonly overwritten: readonly string[];
      readonly path?: string;
    };

/** Left to the documents' planner: the object's sealed document. */
export interface SealedPlace {
  readonly kind: 'sealed';
  readonly path: string;
}

export function outcome(object: ObjectId, kind: ObjectOutcome['outcome'], path?: string): Built {
  return { kind: 'settled', outcome: { object, outcome: kind, ...(path === undefined ? {} : { path }) } };
}

export function refusal(object: ObjectId, reason: RefusalReason, message: string, path?: string): Built {
  const decision = refused(object, reason, message, path);
  return {
    kind: 'settled',
    outcome: { object, outcome: 'refused', ...(path === undefined ? {} : { path }) },
    refusal: decision.refusal,
  };
}

export async function decideBuilt(
  context: OverlayContext,
  change: Upsert,
): Promise<Built | SealedPlace | 'plain' | 'new'> {
  const { overlay } = context;
  const object = identify(change.live);
  if (object === undefined) throw new Error('a live object without a name was given to plan');
  if (neverMirrored(change.live) !== undefined || isTerminating(change.live)) return 'plain';
  const found = overlay.find(object, object.namespace !== '');
  if (found.kind === 'several') {
    if (!isEditedSinceHandled(context, change, object)) return outcome(object, 'unchanged');
    const roots = found.roots.map((root) => root || '.').join(' and ');
    const text = `${describeObject(object)} is built by ${roots}; only one of them can be the one that is live`;
    return refusal(object, 'Duplicate', text);
  }
  if (found.kind === 'none') return await withoutBuilt(context, change, object);
  if (isObject(found.object.value.sops)) return sealedPlace(context, object, found.object);
  return decideEdit(context, change, object, found.root, found.object);
}

/** Ciphertext is edited in its own file, whatever else the build does. */
function sealedPlace(
  context: OverlayContext,
  object: ObjectId,
  { origin, id }: RenderedObject,
): Built | SealedPlace {
  const { scope } = context.overlay;
  const path = origin.kind === 'file' ? origin.path : undefined;
  const roots = path === undefined ? [] : scope.graph.rootsOf(path);
  if (path !== undefined && isInside(path, scope.folder) && roots.length === 1 && id.name === object.name) {
    return { kind: 'sealed', path };
  }
  const text = `${describeObject(object)} is encrypted in ${path ?? 'a file that the build does not name'}, which is not ours to write`;
  return refusal(object, 'EncryptedDocument', text, path);
}

async function withoutBuilt(
  context: OverlayContext,
  change: Upsert,
  object: ObjectId,
): Promise<Built | 'plain' | 'new'> {
  const { overlay, plain } = context;
  const deleted = await deletePatchOf(overlay, object);
  if (deleted !== undefined) {
    const restored = await decideRestored(context, change, object, deleted);
    if (restored !== undefined) return restored;
  }
  const written = (plain.documents.get(object.name) ?? []).find(
    ({ id }) => id.kind === object.kind && id.group === object.group && fitsNamespace(id, object),
  );
  if (written !== undefined) return unlisted(context, change, object, written.path) ?? 'plain';
  const failure = failureFor(overlay);
  if (failure === undefined) return 'new';
  if (!isEditedSinceHandled(context, change, object)) return outcome(object, 'unchanged');
  return refusal(object, failure.reason, `${describeObject(object)}: ${failure.message}`, failure.path);
}

function fitsNamespace(id: ObjectId, object: ObjectId): boolean {
  return id.namespace === object.namespace || id.namespace === '' || object.namespace === '';
}

/** What a root of the folder that cannot be built might have made. */
export function failureFor({ failures }: Overlay): RootFailure | undefined {
  return failures[0];
}

/** Where the folder has a kustomization of its own, an applier reads nothing that it does not list. */
export function unlisted(
  context: OverlayContext,
  change: Upsert | undefined,
  object: ObjectId,
  path: string,
): Built | undefined {
  const { graph, folder } = context.overlay.scope;
  const top = graph.nodes.get(folder);
  if (top === undefined) return undefined;
  if (change !== undefined && !isEditedSinceHandled(context, change, object))
    return outcome(object, 'unchanged', path);
  const text = `${describeObject(object)} stands in ${path}, which ${top.file} does not read; list it there, or remove it`;
  return refusal(object, 'RenderRefused', text, path);
}

function decideEdit(
  context: OverlayContext,
  change: Upsert,
  object: ObjectId,
  root: string,
  built: RenderedObject,
  restore?: DeletePatch,
): Built {
  const path =
    built.origin.kind === 'file'
      ? built.origin.path
      : built.origin.kind === 'generator'
        ? built.origin.file
        : undefined;
  const { options } = context;
  const schema = kindSchema(String(built.value.apiVersion), object.kind, options.crds);
  const { postBuild, isSubstituted } = substitutionFor(options, change);
  const filled = fillObject(postBuild, schema, built.value, change.live);
  const document = asLive(withName(filled, object.name), object.namespace);
  const isOtherVersion = built.value.apiVersion !== change.live.apiVersion;
  const base = isOtherVersion ? (change.handled ?? document) : document;
  const intent = ask(context, change, object, base);
  for (const { code, message } of intent.notices)
    context.notices.push({ object, code, message, ...(path === undefined ? {} : { path }) });
  const name = describeObject(object);
  if (intent.kind !== 'edit') {
    if (restore === undefined) return outcome(object, 'unchanged', path);
    return project(
      object,
      {
        kind: 'edit',
        key: objectKey(built.id),
        edit: { root, object: built, wanted: built.value, schema },
        restore,
      },
      path,
      [],
    );
  }
  const carried = change.handled === undefined ? undefined : carryOver(intent.fields, document);
  const desired = isOtherVersion ? carried : intent.desired;
  if (desired === undefined) {
    const text = `${name} is ${String(built.value.apiVersion)} in the build and ${String(change.live.apiVersion)} live, and the edit need not mean the same in both; write the document in the live version`;
    return refusal(object, 'VersionMismatch', text, path);
  }
  if (isOtherVersion && equalJson(desired, document)) return outcome(object, 'unchanged', path);
  if (options.isSensitive(object)) {
    const text = `${name} is sensitive and is built from plain text in ${path ?? 'the folder'}; encrypt it there, and its edits are written`;
    return refusal(object, 'EncryptionNotConfigured', text, path);
  }
  const wanted = asWritten(withName(desired, built.id.name), built.value);
  const restored = restoreObject(postBuild, schema, { raw: built.value, filled, wanted });
  // Where nothing is filled in after the build, a text that looks like a variable is a text.
  const isText = postBuild === undefined && isSubstituted === false;
  if (!restored.ok && !isText)
    return refusal(object, 'RenderDoesNotMatchLive', `${name}: ${restored.message}`, path);
  const edit = { root, object: built, wanted: restored.ok ? restored.value : wanted, schema };
  const overwritten = intent.overwritten.map(({ where }) => where);
  const fields = intent.fields.map(({ where }) => where);
  const own: OverlayChange = {
    kind: 'edit',
    key: objectKey(built.id),
    edit,
    ...(restore === undefined ? {} : { restore }),
  };
  return project(object, own, path, fields, overwritten);
}

export function project(
  object: ObjectId,
  change: OverlayChange,
  path: string | undefined,
  fields: readonly string[],
  overwritten: readonly string[] = [],
): Built {
  return { kind: 'project', object, change, fields, overwritten, ...(path === undefined ? {} : { path }) };
}

/** An inherited object that was deleted by a patch of ours is back: the patch goes, and the rest is an edit. */
async function decideRestored(
  context: OverlayContext,
  change: Upsert,
  object: ObjectId,
  deleted: DeletePatch,
): Promise<Built | undefined> {
  const { overlay } = context;
  const files = overlay.files.fork();
  if (!(await restoreDeleted(files, deleted)).ok) return undefined;
  const rendered = await overlay.build(deleted.root, files);
  if (!rendered.ok) return undefined;
  const back = rendered.objects.find(
    ({ id }) => id.kind === object.kind && id.group === object.group && id.name === object.name,
  );
  if (back === undefined) return undefined;
  return decideEdit(context, change, object, deleted.root, back, deleted);
}

function withName(object: JsonObject, name: string): JsonObject {
  if (!isObject(object.metadata) || object.metadata.name === name) return object;
  return { ...object, metadata: { ...object.metadata, name } };
}

function ask(
  context: OverlayContext,
  change: Upsert,
  object: ObjectId,
  document: JsonObject | undefined,
): Intent {
  const { options } = context;
  const schema = kindSchema(String(change.live.apiVersion), object.kind, options.crds);
  const candidates = change.candidates?.map((one) =>
    withoutMarks(fillObject(substitutionFor(options, change).postBuild, schema, one, change.live)),
  );
  return intentOf({
    live: withoutMarks(change.live),
    handled: change.handled === undefined ? undefined : withoutMarks(change.handled),
    document,
    ...(candidates === undefined ? {} : { candidates }),
    applierKnown: change.applierKnown,
    schema,
    managers: change.managers ?? options.managers,
    autoscaled: change.autoscaled === true || isAutoscaled(context, object),
  });
}

/** An autoscaler that is built, or stands in the folder. */
export function isAutoscaled({ overlay, index }: OverlayContext, object: ObjectId): boolean {
  const targets = overlay.builds.flatMap(({ objects }) =>
    objects.flatMap(({ value, id }) => {
      const target = scaleTarget(value, id);
      return target === undefined ? [] : [{ ...target, namespace: id.namespace }];
    }),
  );
  return [...targets, ...index.scaled].some(
    (one) =>
      one.group === object.group &&
      one.kind === object.kind &&
      one.name === object.name &&
      (one.namespace === object.namespace || one.namespace === ''),
  );
}

/** Whether anything of the object is an edit, told without what Git says. Unknown without handled state, so true. */
export function isEditedSinceHandled(context: OverlayContext, change: Upsert, object: ObjectId): boolean {
  if (change.handled === undefined) return true;
  return ask(context, change, object, change.handled).kind !== 'none';
}
