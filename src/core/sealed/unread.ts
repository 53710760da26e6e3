/**
 * A sealed document without a key to open it: what of it is readable, and the rule that seals its successor the same way.
 */
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../json.ts';
import { readCiphertext } from './ciphertext.ts';
import { ruleConfig } from './rule.ts';
import type { SealingConfig } from './sealer.ts';

export type Unread =
  | {
      readonly ok: true;
      /** The document without `sops`; sealed values are ciphertext. */
      readonly document: JsonObject;
      /** Seals for the recipients the document has, and the same fields. */
      readonly config: SealingConfig;
    }
  | { readonly ok: false; readonly message: string };

const scopes = [
  'encrypted_regex',
  'unencrypted_regex',
  'encrypted_suffix',
  'unencrypted_suffix',
  'encrypted_comment_regex',
  'unencrypted_comment_regex',
] as const;

const otherKeys = ['kms', 'gcp_kms', 'hckms', 'azure_kv', 'hc_vault', 'pgp', 'key_groups'] as const;

export function unread(sealed: JsonObject): Unread {
  const { sops, ...document } = sealed;
  if (!isObject(sops)) return { ok: false, message: 'it has no sops part' };
  const other = otherKeys.find((name) => isFilled(sops[name]));
  if (other !== undefined) {
    return { ok: false, message: `it is sealed for keys of the kind ${other}, which are not at hand` };
  }
  const entries = Array.isArray(sops.age) ? sops.age : [];
  const recipients = entries.map((entry) => (isObject(entry) ? entry.recipient : undefined));
  const known = recipients.filter((recipient) => typeof recipient === 'string');
  if (known.length === 0 || known.length < recipients.length) {
    return { ok: false, message: 'it does not say for which age recipients it is sealed' };
  }
  const rule: Record<string, string | boolean> = { age: known.join(',') };
  for (const name of scopes) {
    const value = sops[name];
    if (typeof value === 'string' && value !== '') rule[name] = value;
  }
  if (sops.mac_only_encrypted === true) rule.mac_only_encrypted = true;
  return { ok: true, document, config: ruleConfig(rule) };
}

function isFilled(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

export function isCiphertext(value: Json | undefined): boolean {
  return typeof value === 'string' && readCiphertext(value) !== undefined;
}

/** The document with what is still ciphertext taken from the live object; undefined when a value is not there. */
export function filledIn(document: JsonObject, live: JsonObject): JsonObject | undefined {
  let isMissing = false;
  const fill = (value: Json, path: Path): Json => {
    if (isCiphertext(value)) {
      const own = liveValue(live, path);
      isMissing ||= own === undefined;
      return own ?? null;
    }
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, fill(member, [...path, key])]),
    );
  };
  const filled = fill(document, []);
  return isMissing || !isObject(filled) ? undefined : filled;
}

/** The server keeps `stringData` in `data`. */
function liveValue(live: JsonObject, path: Path): Json | undefined {
  const [top, ...rest] = path;
  if (live.kind !== 'Secret' || top !== 'stringData') return valueAt(live, path);
  const coded = valueAt(live, ['data', ...rest]);
  if (typeof coded !== 'string') return undefined;
  const bytes = Buffer.from(coded, 'base64');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}
