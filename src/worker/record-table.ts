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
    const packed = this.#find(key, shard);
    return packed === undefined ? undefined : unpackRecord(packed);
  }

  /** Only its digest; undefined when there is no record. */
  digest(key: string, shard: string): string | undefined {
    const packed = this.#find(key, shard);
    return packed === undefined ? undefined : digestOf(packed, key.length + 2);
  }

  #find(key: string, shard: string): string | undefined {
    const records = this.#shards.get(shard) ?? [];
    const start = startOf(key);
    const packed = records[placeOf(records, start)];
    return packed?.startsWith(start) ? packed : undefined;
  }

  set(record: HandledRecord, shard: string): void {
    const start = startOf(objectKey(record.id));
    const records = this.#shards.get(shard) ?? [];
    if (records.length === 0) this.#shards.set(shard, records);
    const at = placeOf(records, start);
    records.splice(at, records[at]?.startsWith(start) ? 1 : 0, packRecord(record));
  }

  delete(key: string, shard: string): void {
    const records = this.#shards.get(shard) ?? [];
    const start = startOf(key);
    const at = placeOf(records, start);
    if (!records[at]?.startsWith(start)) return;
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

/** Where the record that begins like this stands or would stand. */
function placeOf(records: readonly string[], start: string): number {
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
  const start = startOf(objectKey(id));
  const isUsual =
    uuid.test(uid) && objectId.test(digest) && (documentBlob === '' || objectId.test(documentBlob));
  // Other characters than these would make every character of the text two bytes.
  if (!(isUsual && isAscii.test(start + resourceVersion))) {
    return flat(start + lines + [uid, digest, documentBlob, resourceVersion].join(separator));
  }
  const head = `${start}${documentBlob === '' ? bytes : bytesWithBlob}`;
  const ids = `${uid.replaceAll('-', '')}${digest}${documentBlob}`;
  const version = head.length + ids.length / 2;
  const packed = Buffer.allocUnsafe(version + resourceVersion.length);
  packed.write(head, 'latin1');
  packed.write(ids, head.length, 'hex');
  packed.write(resourceVersion, version, 'latin1');
  return packed.toString('latin1');
}

export function unpackRecord(packed: string): HandledRecord {
  const key = keyOf(packed);
  const id = parseObjectKey(key);
  const start = key.length + 2;
  const form = packed[start - 1];
  if (form === lines) {
    const [uid = '', digest = '', documentBlob = '', resourceVersion = ''] = packed
      .slice(start)
      .split(separator);
    const record = { id, uid, resourceVersion, digest };
    return documentBlob === '' ? record : { ...record, documentBlob };
  }
  const end = start + bytesIn(form);
  const ids = Buffer.from(packed.slice(start, end), 'latin1').toString('hex');
  const uid = `${ids.slice(0, 8)}-${ids.slice(8, 12)}-${ids.slice(12, 16)}-${ids.slice(16, 20)}-${ids.slice(20, 32)}`;
  const record = { id, uid, resourceVersion: packed.slice(end), digest: ids.slice(32, 72) };
  return form === bytesWithBlob ? { ...record, documentBlob: ids.slice(72) } : record;
}

function versionOf(packed: string): string {
  const start = packed.indexOf(separator) + 2;
  const form = packed[start - 1];
  return packed.slice(form === lines ? packed.lastIndexOf(separator) + 1 : start + bytesIn(form));
}

/** @param start where the rest begins, behind its form */
function digestOf(packed: string, start: number): string {
  if (packed[start - 1] === lines) return packed.slice(start).split(separator)[1] ?? '';
  const digest = packed.slice(start + uidBytes, start + uidBytes + idBytes);
  return Buffer.from(digest, 'latin1').toString('hex');
}

function bytesIn(form: string | undefined): number {
  return uidBytes + idBytes * (form === bytesWithBlob ? 2 : 1);
}

const isAscii = /^[\u0000-\u007f]*$/;

/** The same text in one piece; V8 keeps the parts of a joined string beside it. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}
