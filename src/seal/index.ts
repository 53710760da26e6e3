/**
 * The sops program: encrypts, decrypts and changes sealed documents.
 *
 * It decides nothing: which rule, which values and whether the result is right are core/sealed's and core/plan's. Plain text goes
 * in through standard input and comes out through a pipe; files hold ciphertext and rules only. The worker and the commands make
 * a sealer; core/plan calls it.
 */
export { findProgram } from './find-program.ts';
export { createSealer, type SealerOptions } from './sealer.ts';
