/**
 * The namespace a document states against the one its live object has.
 *
 * A document may leave it to the applier, and one of a cluster-scoped kind may state a namespace that nobody reads. Both are
 * compared as if they agreed with the live object, and written back as they were.
 */
import { isObject, type Json, type JsonObject } from '../json.ts';

/** The document with the live object's namespace. */
export function asLive(document: JsonObject, namespace: string): JsonObject {
  return withNamespace(document, namespace === '' ? undefined : namespace);
}

/** `desired` with whatever the document itself states. */
export function asWritten(desired: JsonObject, document: JsonObject): JsonObject {
  return withNamespace(desired, isObject(document.metadata) ? document.metadata.namespace : undefined);
}

export function withoutNamespace(object: JsonObject): JsonObject {
  return withNamespace(object, undefined);
}

function withNamespace(object: JsonObject, namespace: Json | undefined): JsonObject {
  if (!isObject(object.metadata)) return object;
  const metadata: JsonObject = { ...object.metadata };
  if (namespace === undefined) delete metadata.namespace;
  else metadata.namespace = namespace;
  return { ...object, metadata };
}
