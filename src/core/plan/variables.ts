/** Documents with the variables that Flux fills in after Git, and edits written back around them. */
import { describeObject, type ObjectId } from '../identity.ts';
import type { JsonObject } from '../json.ts';
import { fillObject, restoreObject } from '../kustomize/index.ts';
import { type Context, type Decision, refused, schemaOf } from './decision.ts';
import type { Delete, PlanOptions, Substitution, Upsert } from './types.ts';

/** What is filled in for the object of a change. */
export function substitutionFor(
  { kustomize, isSubstituted }: PlanOptions,
  { substitution }: Pick<Upsert | Delete, 'substitution'>,
): Substitution {
  if (substitution !== undefined) return substitution;
  return {
    ...(kustomize?.postBuild === undefined ? {} : { postBuild: kustomize.postBuild }),
    ...(isSubstituted === undefined ? {} : { isSubstituted }),
  };
}

/** As the applier applies it; the document itself where nobody told what is filled in. `live` lends values nobody knows. */
export function filled(
  { options }: Context,
  change: Pick<Upsert | Delete, 'substitution'>,
  document: JsonObject,
  live: JsonObject,
): JsonObject {
  const { postBuild } = substitutionFor(options, change);
  return fillObject(postBuild, schemaOf(document, options.crds), document, live);
}

export interface Views {
  readonly written: JsonObject;
  readonly filled: JsonObject;
  readonly desired: JsonObject;
}

/** The document to write; a refusal when the edit is of a value that lives in a variable. */
export function unfilled(
  { options }: Context,
  { object, change }: { readonly object: ObjectId; readonly change: Upsert },
  views: Views,
  document: { readonly path: string; readonly encrypted: boolean },
): { readonly kind: 'document'; readonly value: JsonObject } | Extract<Decision, { kind: 'refuse' }> {
  const { postBuild } = substitutionFor(options, change);
  if (postBuild === undefined) return { kind: 'document', value: views.desired };
  const { written: raw, filled: made, desired: wanted } = views;
  const restored = restoreObject(postBuild, schemaOf(raw, options.crds), { raw, filled: made, wanted });
  if (restored.ok) return { kind: 'document', value: restored.value };
  // What stands in a sealed document is not shown, not even a part of it that looks like a variable.
  const what = document.encrypted
    ? `${restored.field} holds a variable whose value lives elsewhere`
    : restored.message;
  const text = `${describeObject(object)} was not written to ${document.path}: ${what}`;
  return refused(object, 'RenderDoesNotMatchLive', text, document.path);
}

/** A new document in which what a person wrote live is meant as it stands. */
export function asText({ options }: Context, change: Upsert, wanted: JsonObject): JsonObject {
  const { postBuild } = substitutionFor(options, change);
  const restored = restoreObject(postBuild, schemaOf(wanted, options.crds), { raw: {}, filled: {}, wanted });
  return restored.ok ? restored.value : wanted;
}
