/** Opens each remote's bare repository once, however many branches and providers use it. */
import { join } from 'node:path';
import type { RepositoryUrl } from '../core/repository-url.ts';
import { type OpenResult, openRepository } from '../git/repository.ts';

export interface RepositoriesOptions {
  readonly dataDir: string;
  readonly allowHttp: boolean;
  readonly allowMissingKnownHosts: boolean;
}

export class Repositories {
  readonly #options: RepositoriesOptions;
  readonly #opened = new Map<string, Promise<OpenResult>>();

  constructor(options: RepositoriesOptions) {
    this.#options = options;
  }

  /** What could not be opened is opened anew next time. */
  async open(url: RepositoryUrl): Promise<OpenResult> {
    const { dataDir, allowHttp, allowMissingKnownHosts } = this.#options;
    const volume = join(dataDir, 'repositories');
    const opening =
      this.#opened.get(url.key) ??
      openRepository({ volume, url, ambient: process.env, allowHttp, allowMissingKnownHosts });
    this.#opened.set(url.key, opening);
    const opened = await opening.catch((error: unknown) => {
      this.#opened.delete(url.key);
      throw error;
    });
    if (opened.kind !== 'ok') this.#opened.delete(url.key);
    return opened;
  }

  /** Packs what many small commits left; cheap when there is nothing to do. */
  async maintain(): Promise<void> {
    for (const opening of this.#opened.values()) {
      const opened = await opening;
      if (opened.kind === 'ok') await opened.repository.maintain();
    }
  }

  async close(): Promise<void> {
    const all = await Promise.all([...this.#opened.values()]);
    await Promise.all(all.map((opened) => (opened.kind === 'ok' ? opened.repository.close() : undefined)));
    this.#opened.clear();
  }
}
