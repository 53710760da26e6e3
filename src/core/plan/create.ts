/** A new document: where it goes, and why it may not be written there. */
import {
  checkPath,
  couldDescribe,
  type IndexedFile,
  joinPath,
  placeDocument,
  relativeTo,
  roleOf,
} from '../folder/index.ts';
import { describeObject, metadataMap, type ObjectId } from '../identity.ts';
import type { JsonObject } from '../json.ts';
import type { RefusalReason } from '../refusal.ts';
import { applierOwner } from '../sanitize/index.ts';
import { Concealed } from '../sealed/index.ts';
import { type Context, type Decision, refused } from './decision.ts';
import { withoutNamespace } from './namespace.ts';
import { lostContent } from './sealed.ts';
import type { Upsert } from './types.ts';
import { asText } from './variables.ts';

export async function decideCreate(
  context: Context,
  object: ObjectId,
  change: Upsert,
  { desired, fields }: { readonly desired: JsonObject; readonly fields: readonly string[] },
): Promise<Decision> {
  const { options } = context;
  const { live } = change;
  const name = describeObject(object);
  const sensitive = options.isSensitive(object);
  if (sensitive && options.sealer === undefined) {
    const text = `${name} is sensitive, and encryption is not set up; it is never written in plain text`;
    return refused(object, 'EncryptionNotConfigured', text);
  }
  const isRendered = applierOwner(live) !== undefined || (change.managers?.appliers ?? []).length > 0;
  const twin = await possibleTwin(context, object, isRendered);
  if (twin !== undefined) {
    const text = `${name} may already be described by ${twin}, which cannot be read as manifests; mend that file or move it out of the folder`;
    return refused(object, 'InUnreadableFile', text, twin);
  }
  const place = placeOf(context, object, desired);
  if (!place.ok) return refused(object, place.reason, place.message, place.path);
  const meant = asText(context, change, desired);
  const document = options.serializeNamespace === false ? withoutNamespace(meant) : meant;
  if (sensitive) return sealNew(object, live, { path: place.path, document, fields });
  return {
    kind: 'create',
    object,
    path: place.path,
    desired: document,
    fields,
    overwritten: [],
  };
}

function sealNew(
  object: ObjectId,
  live: JsonObject,
  { path, document, fields }: { path: string; document: JsonObject; fields: readonly string[] },
): Decision {
  const problem = lostContent(object, path, live);
  return problem ?? { kind: 'seal', object, path, desired: new Concealed(document), fields, overwritten: [] };
}

async function possibleTwin(
  context: Context,
  object: ObjectId,
  isRendered: boolean,
): Promise<string | undefined> {
  const unclear = await context.reader.unclear();
  return unclear.find(({ path, text }) => text === undefined || couldDescribe(path, text, object, isRendered))
    ?.path;
}

type Place =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: RefusalReason; readonly message: string; readonly path?: string };

function placeOf({ index, options }: Context, object: ObjectId, desired: JsonObject): Place {
  const name = describeObject(object);
  const apiVersion = String(desired.apiVersion);
  const type = options.resourceOf(apiVersion, object.kind);
  if (type === undefined) {
    const message = `${name} has no path: discovery does not know ${object.kind} of ${apiVersion}`;
    return { ok: false, reason: 'UnknownKind', message };
  }
  const placed = placeDocument(
    {
      id: object,
      apiVersion,
      resource: type.resource,
      namespaced: object.namespace !== '',
      labels: labelsOf(desired),
      sensitive: options.isSensitive(object),
    },
    options.placement,
  );
  const path = joinPath(options.folder, placed.path);
  const check = checkPath(path, index.scope());
  if (!check.ok) {
    const message = `${name} has no usable path (placement: ${placed.source}): ${check.message}`;
    return { ok: false, reason: check.reason, message, path };
  }
  const relative = relativeTo(path, options.folder);
  const pattern = index.ignore.patternFor(relative);
  if (pattern !== undefined) {
    const message = `${name} would be written to ${path}, which the pattern ${pattern} of .gittargetignore covers`;
    return { ok: false, reason: 'IgnoreShadowsManaged', message, path };
  }
  if (roleOf(relative, '100644', index.ignore) !== 'manifest') {
    const message = `${name} cannot be written to ${path}: that name is not one for manifests`;
    return { ok: false, reason: 'InvalidPath', message, path };
  }
  const file = index.files.get(path);
  if (file !== undefined && options.isSensitive(object)) {
    const message = `${name} needs a file of its own, and ${path} is there already; let the placement name every object`;
    return { ok: false, reason: 'SensitiveAppend', message, path };
  }
  const problem = file === undefined ? undefined : appendProblem(file);
  if (problem === undefined) return { ok: true, path };
  return {
    ok: false,
    reason: 'MultiDocumentTarget',
    message: `${name} cannot be added to ${path}: ${problem}`,
    path,
  };
}

/** Why nothing is added to an existing file: we add only where we could edit every other document, too. */
function appendProblem({ parsed, documents }: IndexedFile): string | undefined {
  if (parsed?.ok === false) return parsed.message;
  for (const [position, document] of (parsed?.documents ?? []).entries()) {
    if (document.kind === 'unreadable')
      return `its document ${position + 1} is not readable (${document.reason})`;
    if (document.kind === 'other') return `its document ${position + 1} is no Kubernetes object`;
  }
  for (const { index, encrypted, notEditable } of documents) {
    const which = `its document ${index + 1}`;
    if (encrypted) return `${which} is encrypted, and plain text never joins it`;
    if (notEditable !== undefined) return `${which} cannot be edited in place (${notEditable})`;
  }
  return undefined;
}

function labelsOf(object: JsonObject): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadataMap(object, 'labels'))) {
    if (typeof value === 'string') labels[key] = value;
  }
  return labels;
}
