/** The order of objects in a batch and of new documents in one file. */
import { compareText } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';

/** By group, kind, namespace and name. */
export function compareObjects(a: ObjectId, b: ObjectId): number {
  return (
    compareText(a.group, b.group) ||
    compareText(a.kind, b.kind) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  );
}
