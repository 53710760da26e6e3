/** What the worker remembers of objects whose values it may not keep. */
import type { ObjectChange } from '../core/branch/state.ts';
import { isSecret, viewSecret } from '../core/intent/secret.ts';
import type { JsonObject } from '../core/json.ts';
import type { Mask } from '../core/sealed/index.ts';
import { digestOf, type HandledRecord, type HandledUpdate, unrecorded } from './handled.ts';
import type { Assumed } from './under-way.ts';

interface Known {
  readonly record: HandledRecord | undefined;
  readonly pending: Assumed | undefined;
  readonly mask: Mask;
}

/** What the planner is told of a sensitive object beside its masked state. */
export function knownBeside({ live, whole }: ObjectChange, { record, pending, mask }: Known) {
  const documentBlob = pending === undefined ? record?.documentBlob : pending.documentBlob;
  const known = { mask, ...(documentBlob === undefined || whole ? {} : { documentBlob }) };
  if (live === undefined) return known;
  const isKnown = pending !== undefined || record !== undefined;
  return { ...known, ...(whole ? { asked: true } : {}), ...(isKnown ? { changed: true } : {}) };
}

/** The record of an object whose newest commits fell out of the branch: what Git still says. `mask` of a sensitive one. */
export function takenBack(
  record: HandledRecord,
  document: JsonObject | undefined,
  mask: Mask | undefined,
): Pick<HandledUpdate, 'record' | 'body'> {
  // Whatever version is live now counts as unseen.
  const { documentBlob: _fellOut, ...kept } = record;
  const rest = { ...kept, resourceVersion: '' };
  if (document !== undefined) {
    const stored = mask !== undefined && isSecret(document) ? viewSecret(document).document : document;
    const { digest, body } = digestOf(stored, mask);
    return { record: { ...rest, digest }, body };
  }
  // It may be there unread: a state that nothing equals lets the live object be written again.
  if (mask !== undefined) return { record: { ...rest, digest: unrecorded }, body: undefined };
  return { record: undefined, body: undefined };
}
