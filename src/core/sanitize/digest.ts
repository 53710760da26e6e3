/** The fingerprint of a sanitized object: equal objects, equal text. */
import { createHash, createHmac } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../json.ts';

/**
 * SHA-256 over canonical JSON, in hex. With a key it is an HMAC: the fingerprint of a Secret must not let anybody who reads it
 * try out passwords.
 */
export function digest(sanitized: JsonObject, key?: Uint8Array): string {
  const text = canonicalJson(sanitized);
  const hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  return hash.update(text).digest('hex');
}
