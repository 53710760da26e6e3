/**
 * Sealed documents: files that sops encrypted. What may stand in them readable, which rule encrypts them, which steps turn one
 * into another, and whether a sealed document is one.
 *
 * Pure: the cipher itself is the sops program, reached through the `Sealer` that src/seal implements. Called by core/plan, by
 * the controllers (keys and recipients) and by the commands.
 */
export { type AgeKeys, agePair, isRecipient, readAgeKeys } from './age-key.ts';
export { type CheckedSeal, ciphertextIn, sealProblem } from './check.ts';
export { Concealed } from './concealed.ts';
export { type Mask, masked, unmasked } from './masked.ts';
export { governingConfig, sealScope } from './rule.ts';
export type { Opened, Sealed, Sealer, SealingConfig, SealStep } from './sealer.ts';
export { isSensitiveType } from './sensitive.ts';
export { stepsBetween } from './steps.ts';
export { filledIn, isCiphertext, type Unread, unread } from './unread.ts';
