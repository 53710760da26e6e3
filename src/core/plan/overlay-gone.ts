/** A live object of a kustomize folder that is gone. Its sources go, stay by the prune mode, or stay because Git changed them. */
import { describeObject, type ObjectId, objectKey } from '../identity.ts';
import { intentOf } from '../intent/index.ts';
import { kindSchema } from '../intent/schema/index.ts';
import type { JsonObject } from '../json.ts';
import { fillObject, type RenderedObject } from '../kustomize/index.ts';
import { asLive } from './namespace.ts';
import {
  type Built,
  failureFor,
  isAutoscaled,
  type OverlayContext,
  outcome,
  project,
  refusal,
  unlisted,
} from './overlay-decide.ts';
import type { Delete, Sweep } from './types.ts';
import { substitutionFor } from './variables.ts';

export async function decideGone(context: OverlayContext, change: Delete): Promise<Built | 'plain'> {
  const { id: object } = change;
  const { overlay, options, plain } = context;
  const found = overlay.find(object, object.namespace !== '');
  if (found.kind === 'several') {
    const text = `${describeObject(object)} is built by ${found.roots.join(' and ')}; only one of them can be the one that was live`;
    return refusal(object, 'Duplicate', text);
  }
  // The applier takes away what has another name now.
  if (found.kind === 'earlier') return outcome(object, 'unchanged');
  if (found.kind === 'none') {
    const written = (plain.documents.get(object.name) ?? []).find(
      ({ id }) => id.kind === object.kind && id.group === object.group,
    );
    if (written !== undefined) return unlisted(context, undefined, object, written.path) ?? 'plain';
    const failure = failureFor(overlay);
    if (failure === undefined || options.prune === 'Never') return 'plain';
    return refusal(object, failure.reason, `${describeObject(object)}: ${failure.message}`, failure.path);
  }
  const { origin } = found.object;
  const path = origin.kind === 'file' ? origin.path : origin.kind === 'generator' ? origin.file : undefined;
  if (options.prune === 'Never') return outcome(object, 'retained', path);
  if (!isStillAsHandled(context, change, found.object)) {
    const text = `${describeObject(object)} was deleted live, but what builds it was changed in Git since it was last handled; it stays until somebody decides`;
    return refusal(object, 'DocumentChangedSince', text, path);
  }
  return removal(context, object, found.root, found.object);
}

function removal({ options }: OverlayContext, object: ObjectId, root: string, built: RenderedObject): Built {
  const schema = kindSchema(String(built.value.apiVersion), object.kind, options.crds);
  const { origin } = built;
  const path = origin.kind === 'file' ? origin.path : origin.kind === 'generator' ? origin.file : undefined;
  return project(
    object,
    { kind: 'remove', key: objectKey(built.id), remove: { root, object: built, schema } },
    path,
    [],
  );
}

/** Every field the build states is as it was live then. */
function isStillAsHandled(context: OverlayContext, change: Delete, built: RenderedObject): boolean {
  const { handled, documentBlob } = change;
  const { options, index } = context;
  const path = built.origin.kind === 'file' ? built.origin.path : '';
  if (documentBlob !== undefined && index.files.get(path)?.entry.id === documentBlob) return true;
  if (handled === undefined) return documentBlob === undefined;
  const schema = kindSchema(String(handled.apiVersion), change.id.kind, options.crds);
  const stated: JsonObject = asLive(
    fillObject(substitutionFor(options, change).postBuild, schema, built.value, handled),
    change.id.namespace,
  );
  const intent = intentOf({
    live: handled,
    handled: undefined,
    document: stated,
    applierKnown: false,
    schema,
    managers: options.managers,
    autoscaled: isAutoscaled(context, change.id),
  });
  return intent.kind !== 'edit' || intent.fields.every(({ before }) => before === undefined);
}

/** What is built of the swept collection and was not in the snapshot. */
export function decideSwept(context: OverlayContext, sweep: Sweep): Built[] {
  const names = new Set([...sweep.present].map((key) => key.slice(key.lastIndexOf('/') + 1)));
  const decided: Built[] = [];
  for (const { root, objects } of context.overlay.builds) {
    for (const built of objects) {
      const { id } = built;
      if (id.group !== sweep.group || id.kind !== sweep.of || sweep.present.has(objectKey(id))) continue;
      if (sweep.namespace !== undefined && id.namespace !== sweep.namespace) continue;
      if (id.namespace === '' ? names.has(id.name) : sweep.present.has(objectKey({ ...id, namespace: '' })))
        continue;
      const isKept = context.options.prune !== 'Always';
      decided.push(isKept ? outcome(id, 'retained') : removal(context, id, root, built));
    }
  }
  return decided;
}
