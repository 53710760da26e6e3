/** Hands a private key to one child without a file that has a name and without an environment that holds it. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Concealed } from '../core/sealed/index.ts';

/** Linux: a file without a name, gone with its last descriptor. */
const nameless = 0o20200000;
/** Memory, never a disk. */
const memory = '/dev/shm';

/** Undefined where the machine has no such files. The caller closes it. */
export async function openKeyFile(key: Concealed<string>): Promise<FileHandle | undefined> {
  if (process.platform !== 'linux') return undefined;
  let file: FileHandle;
  try {
    file = await open(memory, nameless | constants.O_RDWR, 0o600);
  } catch {
    return undefined;
  }
  await file.write(key.reveal(), 0, 'utf8');
  return file;
}
