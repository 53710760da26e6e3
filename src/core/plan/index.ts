/**
 * The plan: what live changes do to a folder of manifests, as whole files to write or remove, and as refusals with reasons.
 *
 * A pure function of a tree, changes and options; it reads through the tree and writes nothing. The branch worker, the `plan`
 * command and the tests call the same function. Kustomize sources and sealing come before and after it, in rooms of their own.
 */
export { plainIndex } from './overlay-index.ts';
export { plan } from './plan.ts';
export { withRefusedFields } from './refused-fields.ts';
export { builtinResource, pluralOf, type ResourceType } from './resource.ts';
export type {
  Change,
  Delete,
  EditedField,
  Notice,
  ObjectOutcome,
  Outcome,
  Plan,
  PlannedEdit,
  PlanOptions,
  PruneMode,
  Substitution,
  Sweep,
  Upsert,
} from './types.ts';
