/** The token of the gate: read anew for each request, and made where nobody mounted one. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

export async function readToken(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}

/**
 * Writes a random token, readable by this user alone, so that a plugin container of the same user on a shared volume finds it.
 * One that is there is kept; where nothing can be written, whoever mounts the folder brings the file.
 */
export async function makeToken(file: string): Promise<'made' | 'kept'> {
  try {
    await writeFile(file, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
    return 'made';
  } catch {
    return 'kept';
  }
}
