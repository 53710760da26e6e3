/** What `scan` prints: a table with the reasons below it, or JSON. */
import { describeObject } from '../core/identity.ts';
import type { FolderReport, ScanReport } from '../core/scan/index.ts';

/** `--output json`: `{folders, bases, summary}`; the root of the repository is `.`. */
export function scanJson({ folders, bases }: ScanReport): string {
  const shown = {
    folders: folders.map((folder) => ({
      ...folder,
      path: nameOf(folder.path),
      refused: folder.refused.map(({ object, reason, path, actor, message }) => ({
        reason,
        ...(object === undefined ? {} : { object: describeObject(object) }),
        ...(path === undefined ? {} : { path }),
        actor,
        message,
      })),
      reads: folder.reads.map(nameOf),
      readBy: folder.readBy.map(nameOf),
      overlaps: folder.overlaps.map(nameOf),
    })),
    bases: bases.map(({ path, readBy }) => ({ path: nameOf(path), readBy: readBy.map(nameOf) })),
    summary: {
      accepted: folders.filter(({ accepted }) => accepted).length,
      refused: folders.filter(({ accepted }) => !accepted).length,
    },
  };
  return `${JSON.stringify(shown, null, 2)}\n`;
}

export function scanTable({ folders, bases }: ScanReport): string {
  const rows = [
    ['FOLDER', 'LAYOUT', 'VERDICT', 'NAMESPACE', 'OBJECTS', 'IN FOLDER', 'READ-ONLY'],
    ...folders.map((folder) => [
      nameOf(folder.path),
      folder.layout,
      folder.accepted ? 'accepted' : 'refused',
      folder.namespace ?? '-',
      String(folder.objects.total),
      String(folder.objects.inFolder),
      String(folder.readOnly.length),
    ]),
  ];
  const lines = [
    ...(folders.length === 0 ? [] : aligned(rows)),
    ...folders.flatMap(reasonsOf),
    ...(bases.length === 0 ? [] : ['', 'Built from by other folders, so no targets of their own:']),
    ...bases.map(({ path, readBy }) => `  ${nameOf(path)}: ${readBy.map(nameOf).join(', ') || 'nobody'}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function reasonsOf(folder: FolderReport): string[] {
  const lines = [
    ...folder.refused.map(({ reason, actor, message }) => `  refused ${reason} (${actor}): ${message}`),
    ...folder.readOnly.map(({ path, what, why, actor }) => `  read-only ${path}: ${what} (${actor}): ${why}`),
    ...folder.skipped.map(({ path, reason }) => `  skipped ${path}: ${reason}`),
    ...(folder.reads.length === 0 ? [] : [`  reads ${folder.reads.map(nameOf).join(', ')}`]),
    ...(folder.readBy.length === 0 ? [] : [`  read by ${folder.readBy.map(nameOf).join(', ')}`]),
    ...(folder.overlaps.length === 0 ? [] : [`  overlaps with ${folder.overlaps.map(nameOf).join(', ')}`]),
  ];
  return lines.length === 0 ? [] : ['', `${nameOf(folder.path)}:`, ...lines.map(oneLine)];
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}

function nameOf(path: string): string {
  return path === '' ? '.' : path;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
