/** What the three-way merge passes around: one place of the object, seen from every side, and the rules of this merge. */
import type { Json, JsonObject, Path } from '../json.ts';
import type { KindSchema } from './schema/index.ts';

/**
 * What counts as an edit.
 * - `handled`: what differs from the object as last handled, unless the applier or a controller made it.
 * - `candidates`: what equals no document the applier may have applied, or what a person owns.
 * - `whole`: every difference from the document, unless a controller made it.
 */
export type Policy = 'handled' | 'candidates' | 'whole';

/** Who owns a place, taken together. `automation` is an applier and a controller, but no person. */
export type Verdict = 'nobody' | 'person' | 'applier' | 'controller' | 'automation';

export interface Place {
  /** With list positions of the live object; of the document where the live object has no such item. */
  readonly path: Path;
  readonly document: Json | undefined;
  /** One value for `handled` and `whole`, one per candidate for `candidates`. */
  readonly bases: readonly (Json | undefined)[];
  readonly live: Json | undefined;
}

export interface MergeRules {
  readonly policy: Policy;
  readonly schema: KindSchema;
  readonly document: JsonObject;
  /** The live object with everything the server returned. */
  readonly live: JsonObject;
  /** The documents behind `bases` when the policy is `candidates`. */
  readonly candidates: readonly JsonObject[];
  /** An autoscaler sets `spec.replicas`. */
  readonly autoscaled: boolean;
  verdict(path: Path): Verdict;
  /** The verdict is `controller`. */
  isControllers(path: Path): boolean;
}

/** The merge of one value, handed to the modules that merge its parts. */
export type MergeValue = (rules: MergeRules, place: Place) => Json | undefined;

/** Null is how YAML says absent. */
export function isMissing(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The member of a map; undefined when the value is no map or lacks it. */
export function member(value: Json | undefined, key: string): Json | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
