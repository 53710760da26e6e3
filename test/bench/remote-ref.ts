/** Sees the moment a branch of a bare repository moves, by the kernel's word for it: nothing polls, nothing takes a core. */
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';

export interface RefWatch {
  /** The commit the branch is at now. */
  tip(): string;
  /** Waits until the branch is elsewhere than `from`; resolves with the time it was seen. */
  moved(from: string, timeoutMs: number): Promise<Moved>;
  close(): void;
}

export interface Moved {
  readonly at: number;
  readonly tip: string;
}

export function watchRef(bareDir: string, branch: string): RefWatch {
  const folder = join(bareDir, 'refs/heads');
  const file = join(folder, branch);
  const tip = () => readFileSync(file, 'utf8').trim();
  const listeners = new Set<() => void>();
  const watcher: FSWatcher = watch(folder, () => {
    for (const listener of listeners) listener();
  });
  return {
    tip,
    moved(from, timeoutMs) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const at = performance.now();
          const now = tip();
          if (now === from) return;
          listeners.delete(look);
          clearTimeout(timer);
          resolve({ at, tip: now });
        };
        const timer = setTimeout(() => {
          listeners.delete(look);
          reject(new Error(`${bareDir}: ${branch} did not move in ${timeoutMs} ms`));
        }, timeoutMs);
        listeners.add(look);
        look();
      });
    },
    close: () => watcher.close(),
  };
}
