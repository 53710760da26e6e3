/** The form sops gives one value: `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`. */

export interface Ciphertext {
  /** str, int, float, bool, bytes, time or comment. */
  readonly type: string;
  /** Bytes of the plain value; AES-GCM keeps the length. */
  readonly length: number;
}

const form =
  /^ENC\[AES256_GCM,data:([A-Za-z0-9+/]+=*),iv:[A-Za-z0-9+/]+=*,tag:[A-Za-z0-9+/]+=*,type:([a-z]+)\]$/;

export function readCiphertext(text: string): Ciphertext | undefined {
  if (!text.startsWith('ENC[')) return undefined;
  const [, data, type] = form.exec(text) ?? [];
  if (data === undefined || type === undefined) return undefined;
  return { type, length: Buffer.from(data, 'base64').length };
}
