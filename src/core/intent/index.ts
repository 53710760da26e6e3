/**
 * What of a live object is a person's edit, and how the document in Git looks with exactly that edit in it.
 *
 * Values only: it knows neither files nor YAML nor kustomize. What the server does to an object is asked of `schema`, who wrote
 * a field is read from managedFields. Called by the planner and the branch worker for every changed object.
 */
export { changesBetween, type FieldChange } from './changes.ts';
export { type Intent, type IntentInput, intentOf } from './intent.ts';
export {
  type FieldOwner,
  type FieldOwnership,
  knownAppliers,
  type ManagerRules,
  type Role,
} from './managers.ts';
export type { Notice, NoticeCode } from './notice.ts';
export { formatPath } from './path.ts';
