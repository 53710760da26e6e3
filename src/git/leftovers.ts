/** What git leaves behind when it is killed or runs out of room: half-written packs and objects, crash reports, locks. */
import { type Dirent, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './command.ts';

/**
 * Does nothing while another git of ours runs, since these may be its files. Synchronous on purpose: no git can be started
 * in between.
 */
export function removeLeftovers(repository: Git): void {
  const { dir, children } = repository;
  if (children.tasks > 0) return;
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (isLeftover(dir, entry)) rmSync(join(entry.parentPath, entry.name), { recursive: true, force: true });
  }
}

/** A ref may have any of these names but the lock's, so the place matters too. */
function isLeftover(dir: string, { name, parentPath }: Dirent): boolean {
  if (name.endsWith('.lock')) return true;
  if (parentPath === dir) return name === 'gc.pid' || name.startsWith('fast_import_crash_');
  if (!parentPath.startsWith(join(dir, 'objects'))) return false;
  return /^(?:tmp_|\.tmp-|incoming-)|\.keep$/.test(name);
}
