/** From a final write to the record of what was handled. */
import type { HandledUpdate } from './handled.ts';
import type { TargetRun } from './target-run.ts';

/** The record of an object whose write is final. */
export function handledUpdate(target: TargetRun, key: string, sequence: number): HandledUpdate | undefined {
  const newest = target.underWay.digest(key);
  const version = target.underWay.resourceVersion(key);
  const done = target.underWay.confirm(key, sequence);
  if (done === undefined) return undefined;
  const { change, documentBlob } = done;
  if (change.live === undefined) return { key, sequence, record: undefined, body: undefined };
  const { id, uid, digest, body } = change;
  // Versions that changed nothing that matters may have come since.
  const resourceVersion = newest === digest && version !== undefined ? version : change.resourceVersion;
  const record = { id, uid, resourceVersion, digest };
  return { key, sequence, record: documentBlob === undefined ? record : { ...record, documentBlob }, body };
}
