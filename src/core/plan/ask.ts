/** Asks core/intent about one live object of the batch. */
import { isAutoscaled } from '../folder/index.ts';
import { type ObjectId, objectKey } from '../identity.ts';
import { type Intent, intentOf } from '../intent/index.ts';
import type { JsonObject } from '../json.ts';
import { type Context, schemaOf } from './decision.ts';
import type { Upsert } from './types.ts';
import { filled } from './variables.ts';

/** What of the object is an edit; `document` is what Git states, undefined when it has none. */
export function ask(
  context: Context,
  change: Upsert,
  object: ObjectId,
  document: JsonObject | undefined,
): Intent {
  const { options, index, autoscaled } = context;
  return intentOf({
    live: change.live,
    handled: change.handled,
    document,
    ...(change.candidates === undefined
      ? {}
      : { candidates: change.candidates.map((one) => filled(context, change, one, change.live)) }),
    applierKnown: change.applierKnown,
    schema: schemaOf(change.live, options.crds),
    managers: change.managers ?? options.managers,
    autoscaled:
      change.autoscaled === true || autoscaled.has(objectKey(object)) || isAutoscaled(index, object),
  });
}
