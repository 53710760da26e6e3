/** A live object that is there: nothing to do, an edit of its document, a new document, or a refusal. */
import { findDocument, type Lookup } from '../folder/index.ts';
import { describeObject, type ObjectId } from '../identity.ts';
import type { FieldChange } from '../intent/index.ts';
import { equalJson, type JsonObject } from '../json.ts';
import { isTerminating, neverMirrored } from '../sanitize/index.ts';
import { Concealed } from '../sealed/index.ts';
import { ask } from './ask.ts';
import { decideCreate } from './create.ts';
import { type Context, type Decision, refused, schemaOf, tell } from './decision.ts';
import { asLive, asWritten } from './namespace.ts';
import { openDocument, sealedProblem, withHandledValues } from './sealed.ts';
import { decideUnread } from './sealed-unread.ts';
import { lostToken } from './token.ts';
import type { Upsert } from './types.ts';
import { filled, substitutionFor, unfilled } from './variables.ts';
import { carryOver } from './version.ts';

type Found = Exclude<Lookup, { kind: 'none' }>;

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
    return await withSealedDocument(context, change, object, lookup);
  }
  const written = await context.reader.value(lookup.document);
  return withDocument(context, change, object, lookup, written);
}

async function withSealedDocument(
  context: Context,
  change: Upsert,
  object: ObjectId,
  lookup: Found,
): Promise<Decision> {
  const { document } = lookup;
  const problem = sealedProblem(context, object, document, change.live);
  if (problem !== undefined) return problem;
  const opened = await openDocument(context, document);
  if (opened.kind === 'failed') {
    const text = `${describeObject(object)} cannot be opened in ${document.path}: ${opened.message}`;
    return refused(object, opened.reason, text, document.path);
  }
  if (opened.kind === 'unavailable')
    return await decideUnread(context, change, object, document, opened.message);
  const written = opened.document.reveal();
  const known = withHandledValues(change, asLive(written, object.namespace));
  const decision = withDocument(context, known, object, lookup, written);
  if (decision.kind !== 'edit') return decision;
  const { desired, fields, overwritten } = decision;
  return {
    kind: 'seal',
    object,
    path: document.path,
    document,
    desired: new Concealed(desired),
    opened: opened.document,
    fields,
    overwritten,
  };
}

async function withoutDocument(context: Context, change: Upsert, object: ObjectId): Promise<Decision> {
  const intent = ask(context, change, object, undefined);
  tell(context, object, intent.notices, undefined);
  if (intent.kind === 'create') {
    return await decideCreate(context, object, change, { desired: intent.desired, fields: [] });
  }
  if (intent.kind !== 'gone-in-git' || intent.desired === undefined) return { kind: 'unchanged', object };
  const fields = intent.fields.map(({ where }) => where);
  return await decideCreate(context, object, change, { desired: intent.desired, fields });
}

/** `written` is the document as Git has it, opened when it is sealed. */
function withDocument(
  context: Context,
  change: Upsert,
  object: ObjectId,
  lookup: Found,
  written: JsonObject,
): Decision {
  const { path, apiVersion } = lookup.document;
  const made = filled(context, change, written, change.live);
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
  const problem = editProblem(context, { object, change }, lookup, intent.fields);
  if (problem !== undefined) return problem;
  const views = { written, filled: made, desired: asWritten(desired, written) };
  const result = unfilled(context, { object, change }, views, lookup.document);
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
  { object, change }: { readonly object: ObjectId; readonly change: Upsert },
  lookup: Found,
  fields: readonly FieldChange[],
): Decision | undefined {
  const { path, encrypted } = lookup.document;
  const name = describeObject(object);
  if (lookup.kind === 'not-editable') {
    return refused(object, 'NotEditable', `${name} cannot be edited in ${path}: ${lookup.reason}`, path);
  }
  if (context.options.isSensitive(object) && !encrypted) {
    const text = `${name} is sensitive and stands in ${path} in plain text; encrypt it there with sops, and its edits are written`;
    return refused(object, 'SensitiveInPlainText', text, path);
  }
  const { isSubstituted, postBuild } = substitutionFor(context.options, change);
  // With the variables known the document is compared as it is applied, and written back around them.
  if (isSubstituted !== true || postBuild !== undefined) return undefined;
  const field = fields.find(({ before, after }) => lostToken(before, after) !== undefined);
  if (field === undefined) return undefined;
  // What stands in a sealed document is not shown, not even a part of it that looks like a variable.
  const token = encrypted ? 'a variable' : lostToken(field.before, field.after);
  const text = `${field.where} of ${name} holds ${token} in ${path}, which is replaced after Git, and the live value differs; change the variable or write the value into the file`;
  return refused(object, 'RenderDoesNotMatchLive', text, path);
}

/** Whether anything of the object is an edit, told without its document. Unknown without handled state, so true. */
function isEditedSinceHandled(context: Context, change: Upsert, object: ObjectId): boolean {
  if (change.handled === undefined) return true;
  const { kind } = ask(context, change, object, change.handled);
  return kind !== 'none';
}
