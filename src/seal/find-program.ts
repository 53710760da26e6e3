/** Where a program is: an explicit path, or the first folder of PATH that holds it. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute path; undefined when there is none that can be run. */
export async function findProgram(name: string, path: string | undefined): Promise<string | undefined> {
  const candidates = isAbsolute(name)
    ? [name]
    : (path ?? '').split(delimiter).flatMap((folder) => (isAbsolute(folder) ? [join(folder, name)] : []));
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
