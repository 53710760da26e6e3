/** The token of the gate: read anew for each request, and made where nobody mounted one. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

/** At once: through the thread pool it takes five turns of the thread, each behind whatever else it does. */
export async function readToken(file: string): Promise<string> {
  return readFileSync(file, 'utf8').trim();
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
