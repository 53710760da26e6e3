/**
 * The key of the digests that stand for the values of sensitive objects. It lives as long as the private volume, so that a
 * restart knows every object again; without it, all of them would be sealed anew.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson } from '../core/json.ts';
import type { Mask } from '../core/sealed/index.ts';

const fileName = 'digest.key';
const keyBytes = 32;

/** Reads the key of the volume, or makes it. Throws when the volume cannot be used, or holds something else under that name. */
export async function digestMask(dataDir: string): Promise<Mask> {
  const key = await readOrMake(dataDir);
  return (path, value) => {
    const text = `${JSON.stringify(path)}\n${canonicalJson(value)}`;
    return `hmac:${createHmac('sha256', key).update(text).digest('base64')}`;
  };
}

async function readOrMake(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, fileName);
  const fresh = join(dataDir, `${fileName}.${randomUUID()}`);
  const known = await readKey(path);
  if (known !== undefined) return known;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(fresh, randomBytes(keyBytes), { mode: 0o600, flush: true });
  try {
    // Never replaces a key that is there.
    await link(fresh, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(fresh, { force: true });
  }
  const made = await readKey(path);
  if (made === undefined) throw new Error(`${path} was removed while it was made`);
  return made;
}

async function readKey(path: string): Promise<Buffer | undefined> {
  let key: Buffer;
  try {
    key = await readFile(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  if (key.length !== keyBytes) throw new Error(`${path} is not the key of this volume; move it away`);
  return key;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
