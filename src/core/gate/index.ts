/**
 * The gate: may an applier write a revision over what is live? Decides open, superseded or closed from facts; it asks
 * nobody and remembers nothing. The worker's gate desk gathers the facts and calls it.
 */
export { type Coverage, coverageOf } from './coverage.ts';
export {
  type Closed,
  type ClosedReason,
  type CollectionEvidence,
  closed,
  decide,
  type FlushEvidence,
  type Freshness,
  type GateAnswer,
  type GateFacts,
  type PublishedEdit,
  type RefusedEdit,
  type TargetEvidence,
} from './decide.ts';
export { addGrant, expire, type Grant, grantMs, usableGrants, useGrant } from './grants.ts';
export type { ApplicationRef, ApplierKind, GatePhase, GateQuestion, GateTarget } from './question.ts';
