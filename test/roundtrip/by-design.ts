/** Which edits are refused by design: the whole table, each row with its reason. */
import type { RefusalReason } from '../../src/core/refusal.ts';
import type { Manifest } from './manifests.ts';

interface Row {
  readonly reason: RefusalReason;
  readonly applies: (manifest: Manifest) => boolean;
}

const table: readonly Row[] = [
  // A Secret in plain text is left alone: its edits reach Git only encrypted, and it is for its author to encrypt it first.
  { reason: 'SensitiveInPlainText', applies: ({ id }) => id.group === '' && id.kind === 'Secret' },
];

export function isRefusedByDesign(reason: RefusalReason, manifest: Manifest): boolean {
  return table.some((row) => row.reason === reason && row.applies(manifest));
}
