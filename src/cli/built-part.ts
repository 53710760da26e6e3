/** The programs that `make` builds for tests and for people who work on the project: the last place where one is looked for. */
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Absolute path of the newest build of a program of the group `tools`; undefined when there is none. */
export async function builtPart(name: string): Promise<string | undefined> {
  const { GITOPS_REVERSER_CACHE: own, XDG_CACHE_HOME: shared } = process.env;
  const parts = join(own ?? join(shared ?? join(homedir(), '.cache'), 'gitops-reverser'), 'parts');
  const folders = await readdir(parts).catch(() => []);
  const found: { readonly path: string; readonly builtAt: number }[] = [];
  for (const folder of folders.filter((one) => one.startsWith('tools-'))) {
    const path = join(parts, folder, 'bin', name);
    const file = await stat(path).catch(() => undefined);
    if (file?.isFile()) found.push({ path, builtAt: file.mtimeMs });
  }
  return found.sort((a, b) => b.builtAt - a.builtAt)[0]?.path;
}
