/** Planned edits as a unified diff that `git apply` accepts, byte for byte. */
import { formatPatch, structuredPatch } from 'diff';
import type { PlannedEdit } from '../core/plan/index.ts';

/** `before` holds the bytes of every path that is edited or deleted. */
export function printDiff(edits: readonly PlannedEdit[], before: ReadonlyMap<string, Uint8Array>): string {
  return edits.map((edit) => printEdit(edit, textOf(before.get(edit.path)), textOf(edit.content))).join('');
}

function printEdit(edit: PlannedEdit, before: string, after: string): string {
  const oldName = edit.action === 'create' ? '/dev/null' : `a/${edit.path}`;
  const newName = edit.action === 'delete' ? '/dev/null' : `b/${edit.path}`;
  const patch = structuredPatch(oldName, newName, before, after, '', '', { context: 3 });
  return formatPatch({
    ...patch,
    isGit: true,
    isCreate: edit.action === 'create',
    isDelete: edit.action === 'delete',
    ...(edit.action === 'create' ? { newMode: edit.mode } : {}),
    ...(edit.action === 'delete' ? { oldMode: edit.mode } : {}),
  });
}

/** The byte order mark is a character of the first line, as it is for git. */
function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
