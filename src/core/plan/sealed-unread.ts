/**
 * A live object whose sealed document no key opens. It cannot be compared, so it is sealed anew as a whole, at most once per real
 * edit: only when it is known to have changed since it was handled.
 */
import type { IndexedDocument } from '../folder/index.ts';
import { describeObject, type ObjectId } from '../identity.ts';
import type { FieldChange } from '../intent/index.ts';
import { Concealed, filledIn, isCiphertext, unread } from '../sealed/index.ts';
import { ask } from './ask.ts';
import { type Context, type Decision, refused } from './decision.ts';
import { asLive, asWritten } from './namespace.ts';
import type { Upsert } from './types.ts';

/** `why` no key opens it, for a person. */
export async function decideUnread(
  context: Context,
  change: Upsert,
  object: ObjectId,
  document: IndexedDocument,
  why: string,
): Promise<Decision> {
  const { path } = document;
  const name = describeObject(object);
  const unchanged: Decision = { kind: 'unchanged', object, path };
  const since = changeSince(context, change, object, document);
  if (since === 'none') return unchanged;
  if (since === 'unknown') {
    if (context.options.adoptsUnread === true) return unchanged;
    const text = `${name} is encrypted in ${path} and cannot be compared: ${why}; give the key, or the object as last handled`;
    return refused(object, 'EncryptedDocument', text, path);
  }
  if (since === 'in-git-too') {
    const text = `${name} was changed live and, in ${path}, in Git, where it cannot be read: ${why}; give the key, or let Git be applied and edit it again`;
    return refused(object, 'DocumentChangedSince', text, path);
  }
  const stored = await context.reader.value(document);
  const sealed = unread(stored);
  if (!sealed.ok) {
    const text = `${name} cannot be sealed anew in ${path}: ${sealed.message}`;
    return refused(object, 'EncryptedDocument', text, path);
  }
  const { handled: _handled, candidates: _candidates, ...rest } = change;
  const stated = asLive(sealed.document, object.namespace);
  const intent = ask(context, { ...rest, applierKnown: false }, object, stated);
  if (intent.kind !== 'edit') return unchanged;
  const desired = filledIn(intent.desired, change.live);
  if (desired === undefined) {
    const text = `${name} holds values in ${path} that are not live, and no key opens them: ${why}`;
    return refused(object, 'EncryptedDocument', text, path);
  }
  return {
    kind: 'seal',
    object,
    path,
    document,
    desired: new Concealed(asWritten(desired, stored)),
    fields: readableFields(intent.fields),
    overwritten: [],
  };
}

/** Whether a person changed the live object since it was handled, as far as that can be told without its document. */
function changeSince(
  context: Context,
  change: Upsert,
  object: ObjectId,
  document: IndexedDocument,
): 'none' | 'live' | 'in-git-too' | 'unknown' {
  if (change.asked === true) return 'live';
  const { handled, documentBlob } = change;
  if (handled === undefined) {
    if (documentBlob === undefined && change.changed !== true) return 'unknown';
    // Without any state to compare with, only whose fields they are tells.
    if (ask(context, change, object, undefined).kind !== 'create') return 'none';
  }
  const isSame =
    documentBlob === undefined || context.index.files.get(document.path)?.entry.id === documentBlob;
  return isSame ? 'live' : 'in-git-too';
}

/** Every sealed value counts as changed, so only the fields around them are named. */
function readableFields(fields: readonly FieldChange[]): string[] {
  const names = fields.map(({ before, path, where }) => (isCiphertext(before) ? String(path[0]) : where));
  return [...new Set(names)];
}
