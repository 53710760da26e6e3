/**
 * What of a live object never reaches Git, who owns the object, and its digest.
 *
 * Knows Kubernetes bookkeeping, not edits: which of the remaining fields are a person's is decided in `intent`. Called for every
 * watch event before anything is stored or compared, so it shares structure with its input and never changes it.
 */
export { digest } from './digest.ts';
export { neverMirrored } from './never.ts';
export {
  type ApplierOwner,
  type ArgocdTracking,
  applierOwner,
  instanceOwner,
  trackingLabel,
  unknownTracking,
} from './owner.ts';
export { isTerminating, sanitize, withoutLabel } from './sanitize.ts';
export { holdsUnowned, isUnowned } from './unowned.ts';
