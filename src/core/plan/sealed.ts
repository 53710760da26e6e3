/** Sealed documents as the planner meets them: opening one, and what keeps one from being changed. */
import type { IndexedDocument } from '../folder/index.ts';
import { describeObject, type ObjectId } from '../identity.ts';
import { isSecret, viewSecret } from '../intent/secret.ts';
import type { JsonObject } from '../json.ts';
import { ciphertextIn, type Opened, unmasked } from '../sealed/index.ts';
import { type Context, type Decision, refused } from './decision.ts';
import type { Delete, Upsert } from './types.ts';

/** What the document says. */
export async function openDocument({ tree, options }: Context, document: IndexedDocument): Promise<Opened> {
  const { sealer } = options;
  if (sealer === undefined) return { kind: 'unavailable', message: 'encryption is not set up' };
  return await sealer.open(document.path, await tree.read(document.path));
}

/** The change with the handled values that Git still has, in place of their digests. */
export function withHandledValues<Known extends Upsert | Delete>(change: Known, document: JsonObject): Known {
  const { handled, mask } = change;
  if (handled === undefined || mask === undefined) return change;
  const stored = isSecret(document) ? viewSecret(document).document : document;
  return { ...change, handled: unmasked(handled, stored, mask) };
}

/** Why the sealed document of a live object cannot be changed, whatever is in it. */
export function sealedProblem(
  context: Context,
  object: ObjectId,
  document: IndexedDocument,
  live: JsonObject,
): Decision | undefined {
  const { path } = document;
  if (context.options.sealer === undefined) {
    const text = `${describeObject(object)} is encrypted in ${path}, and encryption is not set up`;
    return refused(object, 'EncryptedDocument', text, path);
  }
  return sharedFile(context, object, document) ?? lostContent(object, path, live);
}

/** The checksum of sops spans the file, so a sealed document is changed or removed only where it stands alone. */
export function sharedFile(
  { index }: Context,
  object: ObjectId,
  document: IndexedDocument,
): Decision | undefined {
  const { path, encrypted } = document;
  if (!encrypted || (index.files.get(path)?.filled ?? 0) < 2) return undefined;
  const text = `${describeObject(object)} is encrypted in ${path} together with other documents; give it a file of its own`;
  return refused(object, 'NotEditable', text, path);
}

/** A live object that holds ciphertext: sealing it would lose what was sealed before. */
export function lostContent(object: ObjectId, path: string, live: JsonObject): Decision | undefined {
  const field = ciphertextIn(live);
  if (field === undefined) return undefined;
  const text = `${field} of the live ${describeObject(object)} is ciphertext: whoever applies ${path} does not decrypt it; set that up first`;
  return refused(object, 'EncryptedDocument', text, path);
}
