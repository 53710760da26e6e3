/** The text of a file that a person names, or of standard input for `-`. */
import { readFile, stat } from 'node:fs/promises';
import { BadInput, reasonOf } from './bad-input.ts';
import { callerPath } from './caller-path.ts';

const maxInputBytes = 256 * 1024 * 1024;

/** Throws BadInput that names the file: not there, not readable, too large, or no UTF-8. */
export async function inputText(file: string): Promise<string> {
  const bytes = await bytesOf(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new BadInput(`${file}: not UTF-8 text`, { cause: error });
  }
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    if (file === '-') return await standardInput();
    const path = callerPath(file);
    const { size } = await stat(path);
    if (size > maxInputBytes) throw new BadInput(`${file}: larger than ${maxInputBytes} bytes`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(`${file}: ${reasonOf(error)}`, { cause: error });
  }
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxInputBytes) throw new BadInput(`-: larger than ${maxInputBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
