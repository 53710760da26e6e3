/** A live object that is there: nothing to do, an edit of its document, a new document, or a refusal. */
import { findDocument, isAutoscaled, type Lookup } from '../folder/index.ts';
import { describeObject, type ObjectId, objectKey } from '../identity.ts';
import { type FieldChange, type Intent, intentOf } from '../intent/index.ts';
import { equalJson, type JsonObject } from '../json.ts';
import { isTerminating, neverMirrored } from '../sanitize/index.ts';
import { decideCreate } from './create.ts';
import { type Context, type Decision, refused, schemaOf, tell } from './decision.ts';
import { asLive, asWritten } from './namespace.ts';
import { tokenIn } from './token.ts';
import type { Upsert } from './types.ts';
import { filled, unfilled } from './variables.ts';
import { carryOver } from './version.ts';

export async function decideUpsert(context: Context, change: Upsert, object: ObjectId): Promise<Decision> {
  const message = neverMirrored(change.live);
  if (message !== undefined) return { kind: 'never-mirrored', object, message };
  const lookup = findDocument(context.index, object, object.namespace !== '');
  const path = lookup.kind === 'none' ? undefined : lookup.document.path;
  const unchanged: Decision = { kind: 'unchanged', object, ...(path === undefined ? {} : { path }) };
  // It is on its way out; the delete will tell.
  if (isTerminating(change.live)) return unchanged;

  const { layout } = context;
  if (layout.kind === 'refused') {
    if (!isEditedSinceHandled(context, change, object)) return unchanged;
    return refused(object, layout.reason, layout.message, layout.path);
  }
  if (lookup.kind === 'none') return await withoutDocument(context, change, object);
  if (lookup.document.encrypted) {
    if (!isEditedSinceHandled(context, change, object)) return unchanged;
    const text = `${describeObject(object)} is encrypted in ${path}, and encryption is not set up`;
    return refused(object, 'EncryptedDocument', text, path);
  }
  return await withDocument(context, change, object, lookup);
}

async function withoutDocument(context: Context, change: Upsert, object: ObjectId): Promise<Decision> {
  const intent = ask(context, change, object, undefined);
  tell(context, object, intent.notices, undefined);
  if (intent.kind === 'create') {
    return await decideCreate(context, object, change.live, { desired: intent.desired, fields: [] });
  }
  if (intent.kind !== 'gone-in-git' || intent.desired === undefined) return { kind: 'unchanged', object };
  const fields = intent.fields.map(({ where }) => where);
  return await decideCreate(context, object, change.live, { desired: intent.desired, fields });
}

async function withDocument(
  context: Context,
  change: Upsert,
  object: ObjectId,
  lookup: Exclude<Lookup, { kind: 'none' }>,
): Promise<Decision> {
  const { path, apiVersion } = lookup.document;
  const written = await context.reader.value(lookup.document);
  const made = filled(context, written, change.live);
  const document = asLive(made, object.namespace);
  const isOtherVersion = apiVersion !== change.live.apiVersion;
  // Across versions the handled state is the only thing the live object can be compared with.
  const base = isOtherVersion ? (change.handled ?? document) : document;
  const intent = ask(context, change, object, base);
  tell(context, object, intent.notices, path);
  if (intent.kind !== 'edit') return { kind: 'unchanged', object, path };

  const carried = change.handled === undefined ? undefined : carryOver(intent.fields, document);
  const desired = isOtherVersion ? carried : intent.desired;
  if (desired === undefined) {
    const text = `${describeObject(object)} is ${apiVersion} in ${path} and ${String(change.live.apiVersion)} live, and the edit need not mean the same in both; write the document in the live version`;
    return refused(object, 'VersionMismatch', text, path);
  }
  if (isOtherVersion && equalJson(desired, document)) return { kind: 'unchanged', object, path };
  const problem = editProblem(context, object, lookup, intent.fields);
  if (problem !== undefined) return problem;
  const views = { written, filled: made, desired: asWritten(desired, written) };
  const result = unfilled(context, object, views, lookup.document);
  if (result.kind === 'refuse') return result;
  return {
    kind: 'edit',
    object,
    document: lookup.document,
    desired: result.value,
    schema: schemaOf(written, context.options.crds),
    fields: intent.fields.map(({ where }) => where),
    overwritten: intent.overwritten.map(({ where }) => where),
  };
}

function editProblem(
  context: Context,
  object: ObjectId,
  lookup: Exclude<Lookup, { kind: 'none' }>,
  fields: readonly FieldChange[],
): Decision | undefined {
  const { path } = lookup.document;
  const name = describeObject(object);
  if (lookup.kind === 'not-editable') {
    return refused(object, 'NotEditable', `${name} cannot be edited in ${path}: ${lookup.reason}`, path);
  }
  if (context.options.isSensitive(object)) {
    const text = `${name} is sensitive and stands in ${path} in plain text; without encryption nothing of it is written`;
    return refused(object, 'EncryptionNotConfigured', text, path);
  }
  if (context.options.isSubstituted !== true) return undefined;
  const field = fields.find(({ before }) => before !== undefined && tokenIn(before) !== undefined);
  if (field === undefined) return undefined;
  const text = `${field.where} of ${name} holds ${tokenIn(field.before ?? null)} in ${path}, which is replaced after Git, and the live value differs; change the variable or write the value into the file`;
  return refused(object, 'RenderDoesNotMatchLive', text, path);
}

function ask(context: Context, change: Upsert, object: ObjectId, document: JsonObject | undefined): Intent {
  const { options, index, autoscaled } = context;
  return intentOf({
    live: change.live,
    handled: change.handled,
    document,
    ...(change.candidates === undefined
      ? {}
      : { candidates: change.candidates.map((one) => filled(context, one, change.live)) }),
    applierKnown: change.applierKnown,
    schema: schemaOf(change.live, options.crds),
    managers: change.managers ?? options.managers,
    autoscaled:
      change.autoscaled === true || autoscaled.has(objectKey(object)) || isAutoscaled(index, object),
  });
}

/** Whether anything of the object is an edit, told without its document. Unknown without handled state, so true. */
function isEditedSinceHandled(context: Context, change: Upsert, object: ObjectId): boolean {
  if (change.handled === undefined) return true;
  const { kind } = ask(context, change, object, change.handled);
  return kind !== 'none';
}
