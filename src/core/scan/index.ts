/**
 * What adopting a repository would come to: its folders that could be targets, and for each whether it is accepted, what of it
 * stays as it is, what refuses it, why, and who can mend it.
 *
 * It says what core/plan would do with live edits, by the same rules and the same builds, and plans nothing. It knows no
 * cluster and no applier. Called by the `scan` command.
 */
export type { BaseReport, FolderReport, ReadOnlyPart, ScanReport } from './report.ts';
export { type ScanOptions, scan } from './scan.ts';
