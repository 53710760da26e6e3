/**
 * age keys of the X25519 kind: reading the entries of a Secret, and making a pair from random bytes. The recipient follows from
 * the key. Format: https://age-encryption.org/v1, bech32 of BIP 173.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { Concealed } from './concealed.ts';

export type AgeKeys =
  | {
      readonly ok: true;
      readonly recipients: readonly string[];
      /** All keys, one a line, as SOPS_AGE_KEY takes them. */
      readonly keys: Concealed<string> | undefined;
    }
  | { readonly ok: false; readonly message: string };

const keyPrefix = 'age-secret-key-';
const recipientPrefix = 'age';
const maxRecipientLength = 4096;

/** `age1…`, any kind. Whether sops knows the kind is for it to say. */
export function isRecipient(text: string): boolean {
  return /^age1[a-z0-9]+$/.test(text) && text.length <= maxRecipientLength;
}

/**
 * Reads `*.agekey` entries, text as decoded from the Secret. Each must hold exactly one secret key; comments are passed over.
 * No message holds a value.
 */
export function readAgeKeys(entries: Readonly<Record<string, string>>): AgeKeys {
  const recipients: string[] = [];
  const keys: string[] = [];
  for (const [name, text] of Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!name.endsWith('.agekey')) continue;
    const lines = text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
    const [key] = lines;
    if (key === undefined || lines.length > 1) {
      return { ok: false, message: `the entry ${name} must hold exactly one line with AGE-SECRET-KEY-` };
    }
    const recipient = recipientOf(key);
    if (recipient === undefined) {
      return { ok: false, message: `the entry ${name} holds no age key of the kind AGE-SECRET-KEY-1` };
    }
    recipients.push(recipient);
    keys.push(key);
  }
  return {
    ok: true,
    recipients,
    keys: keys.length === 0 ? undefined : new Concealed(`${keys.join('\n')}\n`),
  };
}

/** A key pair from 32 random bytes. */
export function agePair(random: Uint8Array): { readonly key: Concealed<string>; readonly recipient: string } {
  const key = bech32(keyPrefix, random).toUpperCase();
  const recipient = recipientOf(key);
  if (random.length !== 32 || recipient === undefined) throw new Error('an age key is made of 32 bytes');
  return { key: new Concealed(key), recipient };
}

function recipientOf(key: string): string | undefined {
  const decoded = readBech32(key);
  if (decoded?.prefix !== keyPrefix || decoded.bytes.length !== 32) return undefined;
  return bech32(recipientPrefix, publicKey(decoded.bytes));
}

/** The fixed beginning of an X25519 private key as PKCS 8, before its 32 bytes. */
const pkcs8Head = Buffer.from('302e020100300506032b656e04220420', 'hex');

function publicKey(secret: Uint8Array): Uint8Array {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, secret]), format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
}

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

function bech32(prefix: string, bytes: Uint8Array): string {
  const words = regroup(bytes, 8, 5, true) ?? [];
  const checksum = polymod([...expand(prefix), ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const tail = [25, 20, 15, 10, 5, 0].map((shift) => (checksum >> shift) & 31);
  return `${prefix}1${[...words, ...tail].map((word) => alphabet[word]).join('')}`;
}

function readBech32(text: string): { readonly prefix: string; readonly bytes: Uint8Array } | undefined {
  const lower = text.toLowerCase();
  if (lower !== text && text.toUpperCase() !== text) return undefined;
  const mark = lower.lastIndexOf('1');
  const prefix = lower.slice(0, mark);
  const words = [...lower.slice(mark + 1)].map((letter) => alphabet.indexOf(letter));
  if (mark < 1 || words.length < 6 || words.includes(-1)) return undefined;
  if (polymod([...expand(prefix), ...words]) !== 1) return undefined;
  const bytes = regroup(words.slice(0, -6), 5, 8, false);
  return bytes === undefined ? undefined : { prefix, bytes: Uint8Array.from(bytes) };
}

function regroup(values: Iterable<number>, from: number, to: number, pad: boolean): number[] | undefined {
  const groups: number[] = [];
  let held = 0;
  let bits = 0;
  for (const value of values) {
    held = ((held << from) | value) & 0xfff;
    bits += from;
    while (bits >= to) {
      bits -= to;
      groups.push((held >> bits) & ((1 << to) - 1));
    }
  }
  const rest = held & ((1 << bits) - 1);
  if (pad) return bits === 0 ? groups : [...groups, (rest << (to - bits)) & ((1 << to) - 1)];
  return bits < from && rest === 0 ? groups : undefined;
}

function expand(prefix: string): number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, mask] of generator.entries()) if (((top >> bit) & 1) === 1) sum ^= mask;
  }
  return sum;
}
