/** What an API server serves and which of it may be mirrored; see `catalog.ts`. */
export {
  type Discovery,
  type FailedGroup,
  type Origin,
  resourceKey,
  type ServedResource,
} from './catalog.ts';
export { type ExcludedType, excludedTypes, isExcludedObject, isExcludedType } from './exclusions.ts';
export {
  type Resolution,
  type ResolutionProblem,
  type ResolvedCollection,
  type RuleItem,
  type RuleScope,
  resolveRule,
} from './resolve.ts';
export {
  activationMs,
  type Catalog,
  type CatalogEntry,
  nextCatalog,
  noCatalog,
  removalGraceMs,
  withoutSensitive,
} from './state.ts';
export { type CatalogReason, type FollowPolicy, judgeServed, type Verdict } from './verdict.ts';
