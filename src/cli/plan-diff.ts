/** Planned edits as a unified diff that `git apply` accepts, byte for byte. */
import { formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import type { PlannedEdit } from '../core/plan/index.ts';

/** Changed lines up to which the shortest difference is looked for; beyond, the whole file is shown as replaced. */
const maxEditLength = 4000;

type Hunk = StructuredPatch['hunks'][number];

/** `before` holds the bytes of every path that is edited or deleted. */
export function printDiff(edits: readonly PlannedEdit[], before: ReadonlyMap<string, Uint8Array>): string {
  return edits.map((edit) => printEdit(edit, textOf(before.get(edit.path)), textOf(edit.content))).join('');
}

function printEdit(edit: PlannedEdit, before: string, after: string): string {
  const oldFileName = edit.action === 'create' ? '/dev/null' : `a/${edit.path}`;
  const newFileName = edit.action === 'delete' ? '/dev/null' : `b/${edit.path}`;
  const found = structuredPatch(oldFileName, newFileName, before, after, '', '', {
    context: 3,
    maxEditLength,
  });
  return formatPatch({
    oldFileName,
    newFileName,
    oldHeader: '',
    newHeader: '',
    hunks: found?.hunks ?? [replacement(before, after)],
    isGit: true,
    isCreate: edit.action === 'create',
    isDelete: edit.action === 'delete',
    ...(edit.action === 'create' ? { newMode: edit.mode } : {}),
    ...(edit.action === 'delete' ? { oldMode: edit.mode } : {}),
  });
}

function replacement(before: string, after: string): Hunk {
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  const unended = '\\ No newline at end of file';
  return {
    oldStart: 1,
    oldLines: oldLines.length,
    newStart: 1,
    newLines: newLines.length,
    lines: [
      ...oldLines.map((line) => `-${line}`),
      ...(before === '' || before.endsWith('\n') ? [] : [unended]),
      ...newLines.map((line) => `+${line}`),
      ...(after === '' || after.endsWith('\n') ? [] : [unended]),
    ],
  };
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** The byte order mark is a character of the first line, as it is for git. */
function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
