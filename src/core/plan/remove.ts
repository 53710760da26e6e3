/**
 * A live object that is gone: its document goes, stays by the prune mode, or stays because it is no longer the one handled.
 *
 * One routine for deletes and sweeps, so that both leave the same traces.
 */
import {
  couldDescribe,
  documentsNamed,
  findDocument,
  type IndexedDocument,
  isAutoscaled,
} from '../folder/index.ts';
import { describeObject, type ObjectId, objectKey } from '../identity.ts';
import { intentOf } from '../intent/index.ts';
import type { JsonObject } from '../json.ts';
import { type Context, type Decision, refused, schemaOf } from './decision.ts';
import { asLive } from './namespace.ts';
import { openDocument, sharedFile, withHandledValues } from './sealed.ts';
import type { Delete, Sweep } from './types.ts';
import { filled } from './variables.ts';

export async function decideDelete(context: Context, change: Delete): Promise<Decision> {
  const { id: object } = change;
  const namespaced = object.namespace !== '' || isNamespaced(context, object);
  const lookup = findDocument(context.index, object, namespaced);
  if (lookup.kind === 'none') return await withoutDocument(context, object);
  const { document } = lookup;
  if (context.options.prune === 'Never') return { kind: 'retained', object, path: document.path };
  const { layout } = context;
  if (layout.kind === 'refused') return refused(object, layout.reason, layout.message, layout.path);
  const shared = sharedFile(context, object, document);
  if (shared !== undefined) return shared;
  if (await isStillAsHandled(context, change, document)) return { kind: 'remove', object, document };
  const text = `${describeObject(object)} was deleted live, but its document in ${document.path} was changed in Git since it was last handled; it stays until somebody decides`;
  return refused(object, 'DocumentChangedSince', text, document.path);
}

/** Documents of the swept collection whose object the snapshot did not hold. */
export function decideSweep(context: Context, sweep: Sweep): Decision[] {
  const present = new Set(sweep.present);
  // A document that states no namespace may be of any; one object of its name anywhere keeps it.
  const names = new Set([...present].map((key) => key.slice(key.lastIndexOf('/') + 1)));
  const decisions: Decision[] = [];
  for (const { documents } of context.index.files.values()) {
    for (const document of documents) {
      const { id: object, path } = document;
      if (object.group !== sweep.group || object.kind !== sweep.of) continue;
      if (isHeld(object, sweep, present, names)) continue;
      decisions.push(sweptOut(context, object, document, path));
    }
  }
  return decisions;
}

function isHeld(
  object: ObjectId,
  sweep: Sweep,
  present: ReadonlySet<string>,
  names: ReadonlySet<string>,
): boolean {
  if (present.has(objectKey(object))) return true;
  if (sweep.namespace !== undefined && object.namespace !== sweep.namespace) return true;
  if (object.namespace === '') return names.has(object.name);
  // A cluster-scoped object whose document states a namespace nobody reads.
  return present.has(objectKey({ ...object, namespace: '' }));
}

function sweptOut(context: Context, object: ObjectId, document: IndexedDocument, path: string): Decision {
  if (context.options.prune !== 'Always') return { kind: 'retained', object, path };
  const { layout } = context;
  if (layout.kind === 'refused') return refused(object, layout.reason, layout.message, layout.path);
  return sharedFile(context, object, document) ?? { kind: 'remove', object, document };
}

async function withoutDocument(context: Context, object: ObjectId): Promise<Decision> {
  if (context.options.prune === 'Never') return { kind: 'unchanged', object };
  const unclear = await context.reader.unclear();
  const path = unclear.find(
    (one) => one.text !== undefined && couldDescribe(one.path, one.text, object),
  )?.path;
  if (path === undefined) return { kind: 'unchanged', object };
  const text = `${describeObject(object)} was deleted live and may be described by ${path}, which cannot be read as manifests; remove it there`;
  return refused(object, 'InUnreadableFile', text, path);
}

/**
 * Whether Git still says what it said when the object was last handled: the very same blob, or every field the document
 * states is as it was live then. Fields the document lacks are not compared, since controllers add such.
 */
async function isStillAsHandled(
  context: Context,
  change: Delete,
  document: IndexedDocument,
): Promise<boolean> {
  const { documentBlob } = change;
  if (documentBlob !== undefined && context.index.files.get(document.path)?.entry.id === documentBlob)
    return true;
  if (change.handled === undefined) return documentBlob === undefined;
  const written = document.encrypted ? await opened(context, document) : await context.reader.value(document);
  // Ciphertext cannot be compared with what was live.
  if (written === undefined) return false;
  const made = filled(context, change, written, change.handled);
  const stated = asLive(made, change.id.namespace);
  const { handled } = withHandledValues(change, stated);
  return handled !== undefined && statesOnly(context, change.id, stated, handled);
}

async function opened(context: Context, document: IndexedDocument): Promise<JsonObject | undefined> {
  const found = await openDocument(context, document);
  return found.kind === 'opened' ? found.document.reveal() : undefined;
}

function statesOnly(context: Context, object: ObjectId, stated: JsonObject, handled: JsonObject): boolean {
  const intent = intentOf({
    live: handled,
    handled: undefined,
    document: stated,
    applierKnown: false,
    schema: schemaOf(handled, context.options.crds),
    managers: context.options.managers,
    autoscaled: isAutoscaled(context.index, object) || context.autoscaled.has(objectKey(object)),
  });
  return intent.kind !== 'edit' || intent.fields.every(({ before }) => before === undefined);
}

function isNamespaced({ options, index }: Context, object: ObjectId): boolean {
  const apiVersion = documentsNamed(index, object)[0]?.apiVersion;
  return apiVersion === undefined || (options.resourceOf(apiVersion, object.kind)?.namespaced ?? true);
}
