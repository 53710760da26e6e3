/** Carries planned edits out on disk: each file whole or not at all. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PlannedEdit } from '../core/plan/index.ts';
import { BadInput } from './bad-input.ts';

/**
 * Writes the edits below `root`. `before` holds the bytes the plan was made from; when a file has changed since, nothing
 * is written and BadInput says so.
 */
export async function writeEdits(
  root: string,
  edits: readonly PlannedEdit[],
  before: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  for (const edit of edits) {
    const now = await readIfThere(join(root, edit.path));
    const then = before.get(edit.path);
    const same =
      now === undefined ? then === undefined : then !== undefined && Buffer.compare(now, then) === 0;
    if (!same) throw new BadInput(`${edit.path}: changed while it was planned; nothing was written`);
  }
  for (const edit of edits) {
    const path = join(root, edit.path);
    if (edit.content === undefined) await rm(path);
    else await replaceFile(path, edit.content);
  }
}

/** A file keeps its permissions; a new one has the usual ones. */
async function replaceFile(path: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, content, { flag: 'wx', mode });
    await chmod(temporary, mode);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
