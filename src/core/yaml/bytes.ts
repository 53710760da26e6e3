/** Bytes of a file to text and back, without losing one: strict UTF-8, the byte order mark stays in the text. */

export type Decoded =
  | { ok: true; text: string }
  | { ok: false; reason: 'TooLarge' | 'NotUtf8'; message: string };

/** Largest file we read, in bytes. */
const maxFileBytes = 10 * 1024 * 1024;

/** Reads a file's bytes as UTF-8. Larger than 10 MiB or not UTF-8 is a reason, not an error. */
export function decodeFile(bytes: Uint8Array): Decoded {
  if (bytes.length > maxFileBytes) {
    const message = `the file has ${bytes.length} bytes, more than the ${maxFileBytes} we read; split it`;
    return { ok: false, reason: 'TooLarge', message };
  }
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { ok: false, reason: 'NotUtf8', message: 'the file is not UTF-8 text; save it as UTF-8' };
  }
}

export function encodeFile(text: string): Uint8Array {
  // Small ones come from a pool: thousands of blocks of their own leave holes in the memory of the process.
  return Buffer.from(text);
}
