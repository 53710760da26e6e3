/** Temporary folders that do not outlive the process that made them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leash } from './leash.ts';

export interface Folder {
  readonly path: string;
  remove(): Promise<void>;
}

const folders = new Set<string>();

process.on('exit', () => {
  for (const path of folders) {
    rmSync(path, { recursive: true, force: true });
  }
});

export function temporaryFolder(name: string): Folder {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  // The pause lets a killed program finish its last write, else it could make a file again.
  const release = leash('sleep 1; rm -rf -- "$1"', path);
  folders.add(path);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
      folders.delete(path);
      release();
    },
  };
}
