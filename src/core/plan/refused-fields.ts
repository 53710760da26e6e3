/** Names the fields of edits that were refused, for the people who would lose them. */
import { identify, objectKey } from '../identity.ts';
import { intentOf } from '../intent/index.ts';
import { kindSchema } from '../intent/schema/index.ts';
import type { Change, Plan, PlanOptions, Upsert } from './types.ts';

const namedAtMost = 20;

/** The plan with the edited fields in its refusals, as far as a handled state tells them. */
export function withRefusedFields(
  plan: Plan,
  changes: readonly Change[],
  options: Pick<PlanOptions, 'managers' | 'crds'>,
): Plan {
  if (plan.refused.length === 0) return plan;
  const upserts = new Map<string, Upsert>();
  for (const change of changes) {
    const id = change.kind === 'upsert' ? identify(change.live) : undefined;
    if (change.kind === 'upsert' && id !== undefined) upserts.set(objectKey(id), change);
  }
  const refused = plan.refused.map((refusal) => {
    const change = refusal.object === undefined ? undefined : upserts.get(objectKey(refusal.object));
    const fields = change === undefined ? [] : editedFields(change, options);
    return fields.length === 0 ? refusal : { ...refusal, fields };
  });
  return { ...plan, refused };
}

/** What a person changed since the object was handled, whatever Git says. */
function editedFields(change: Upsert, { managers, crds }: Pick<PlanOptions, 'managers' | 'crds'>): string[] {
  const { live, handled, applierKnown } = change;
  if (handled === undefined) return [];
  const intent = intentOf({
    live,
    handled,
    document: handled,
    applierKnown,
    schema: kindSchema(String(live.apiVersion), String(live.kind), crds),
    managers: change.managers ?? managers,
    autoscaled: change.autoscaled === true,
  });
  return intent.kind === 'edit' ? intent.fields.slice(0, namedAtMost).map(({ where }) => where) : [];
}
