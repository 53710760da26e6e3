/**
 * Handled records by object key, in little memory: one string each, key and all, because there is one for every live object.
 * Shards are small enough to be kept in order, and to be written to the volume one by one.
 */
import { objectKey, parseObjectKey } from '../core/identity.ts';
import type { HandledRecord } from './handled.ts';

export class RecordTable {
  /** Packed records of each shard, in order. */
  readonly #shards = new Map<string, string[]>();

  get size(): number {
    let size = 0;
    for (const records of this.#shards.values()) size += records.length;
    return size;
  }

  get(key: string, shard: string): HandledRecord | undefined {
    const records = this.#shards.get(shard) ?? [];
    const packed = records[placeOf(records, key)];
    return packed?.startsWith(startOf(key)) ? unpackRecord(packed) : undefined;
  }

  set(record: HandledRecord, shard: string): void {
    const key = objectKey(record.id);
    const records = this.#shards.get(shard) ?? [];
    const at = placeOf(records, key);
    records.splice(at, records[at]?.startsWith(startOf(key)) ? 1 : 0, packRecord(record));
    this.#shards.set(shard, records);
  }

  delete(key: string, shard: string): void {
    const records = this.#shards.get(shard) ?? [];
    const at = placeOf(records, key);
    if (!records[at]?.startsWith(startOf(key))) return;
    records.splice(at, 1);
    if (records.length === 0) this.#shards.delete(shard);
  }

  /** The table may change meanwhile; of a shard that is begun it is not seen. */
  *entries(): Iterable<[string, HandledRecord]> {
    for (const packed of this.#packed()) yield [keyOf(packed), unpackRecord(packed)];
  }

  /** Key and resourceVersion of every record: far cheaper than the records. */
  *versions(): Iterable<readonly [string, string]> {
    for (const packed of this.#packed()) yield [keyOf(packed), versionOf(packed)];
  }

  shard(shard: string): readonly HandledRecord[] {
    return (this.#shards.get(shard) ?? []).map(unpackRecord);
  }

  *#packed(): Iterable<string> {
    for (const records of this.#shards.values()) yield* [...records];
  }
}

/** No key holds one. */
const separator = '\n';

function startOf(key: string): string {
  return `${key}${separator}`;
}

function keyOf(packed: string): string {
  return packed.slice(0, packed.indexOf(separator));
}

/** Where the record of a key stands or would stand. */
function placeOf(records: readonly string[], key: string): number {
  const start = startOf(key);
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((records[middle] ?? '') < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const objectId = /^[0-9a-f]{40}$/;
/** How the rest is written: in lines, or uid, digest and blob id as bytes with the version behind. */
const lines = '0';
const bytes = '1';
const bytesWithBlob = '2';
const uidBytes = 16;
const idBytes = 20;

export function packRecord({ id, uid, resourceVersion, digest, documentBlob = '' }: HandledRecord): string {
  const isUsual =
    uuid.test(uid) && objectId.test(digest) && (documentBlob === '' || objectId.test(documentBlob));
  const rest = isUsual
    ? [documentBlob === '' ? bytes : bytesWithBlob, bytesOf(uid, digest, documentBlob), resourceVersion]
    : [lines, [uid, digest, documentBlob, resourceVersion].join(separator)];
  return flat([startOf(objectKey(id)), ...rest].join(''));
}

export function unpackRecord(packed: string): HandledRecord {
  const key = keyOf(packed);
  const [uid = '', digest = '', documentBlob = ''] = idsOf(packed, key.length + 2);
  const record = { id: parseObjectKey(key), uid, resourceVersion: versionOf(packed), digest };
  return documentBlob === '' ? record : { ...record, documentBlob };
}

function idsOf(packed: string, start: number): string[] {
  if (packed[start - 1] === lines) return packed.slice(start).split(separator);
  const digits = Buffer.from(packed.slice(start, start + uidBytes + 2 * idBytes), 'latin1').toString('hex');
  const uid = [0, 8, 12, 16, 20].map((from, nth) => digits.slice(from, [8, 12, 16, 20, 32][nth])).join('-');
  const blob = packed[start - 1] === bytesWithBlob ? digits.slice(72) : '';
  return [uid, digits.slice(32, 72), blob];
}

function versionOf(packed: string): string {
  const start = packed.indexOf(separator) + 2;
  const form = packed[start - 1];
  if (form === lines) return packed.slice(packed.lastIndexOf(separator) + 1);
  return packed.slice(start + uidBytes + idBytes * (form === bytesWithBlob ? 2 : 1));
}

/** A character per byte. */
function bytesOf(...ids: readonly string[]): string {
  return Buffer.from(ids.join('').replaceAll('-', ''), 'hex').toString('latin1');
}

const isLatin1 = /^[\u0000-\u00ff]*$/;

/** The same text in one piece; V8 keeps the parts of a joined string beside it. */
function flat(text: string): string {
  return isLatin1.test(text) ? Buffer.from(text, 'latin1').toString('latin1') : Buffer.from(text).toString();
}
