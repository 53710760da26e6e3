/**
 * The handled states of one GitTarget: what each live object looked like when we last dealt with it (contracts 1).
 *
 * Memory holds a small record per object; bodies are blobs in the private repository. A record is written only once its
 * edit is published or found to be none, so a crash finds the edit again. Losing the volume loses nothing but the base of
 * the three-way comparison.
 */
import { hash } from 'node:crypto';
import { type ObjectId, objectKey } from '../core/identity.ts';
import { canonicalJson, isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { type Mask, masked } from '../core/sealed/index.ts';
import type { Journal } from './journal.ts';
import { RecordTable } from './record-table.ts';
import { othersFirst } from './turns.ts';

export interface HandledRecord {
  readonly id: ObjectId;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The Git blob id of the canonical sanitized object; of a sensitive object, of the masked one. */
  readonly digest: string;
  /** Id of the blob with its document when it was handled; kept for sensitive objects, whose documents may be unreadable. */
  readonly documentBlob?: string;
}

/** What a collection's last settled snapshot covered. */
export interface CollectionRecord {
  /** uid of the cluster's kube-system namespace. */
  readonly cluster: string;
  /** The rule that was watched: version, namespace and selector. */
  readonly scope: string;
  readonly resourceVersion: string;
}

/** A small tree on a private ref: written as a whole, read back after a restart. */
export interface PrivateTree {
  list(): Promise<readonly { path: string; id: string }[]>;
  read(id: string): Promise<Uint8Array>;
  write(files: readonly { path: string; content: string | null }[]): Promise<void>;
}

export interface HandledUpdate {
  readonly key: string;
  /** The write that dealt with the object; without one it voids only what an earlier process noted. */
  readonly sequence?: number;
  /** undefined: the object is gone and dealt with. */
  readonly record: HandledRecord | undefined;
  /** Canonical JSON of the sanitized object, masked when it is sensitive. */
  readonly body: string | undefined;
}

const collectionsFile = 'collections.json';
const tipFile = 'tip';
/** Records printed before everything else on the thread has a turn. */
const printedAtOnce = 500;
/** Digest of an object that an earlier process wrote into a commit without recording it: differs from every other. */
export const unrecorded = 'unrecorded';

export class HandledStates {
  readonly journal: Journal;
  readonly #tree: PrivateTree;
  readonly #records = new RecordTable();
  /** Shards that changed since they were written. */
  readonly #unprinted = new Set<string>();
  #collections: Record<string, CollectionRecord> = {};
  readonly #unwritten = new Map<string, string | null>();
  /** What is on its way to the volume and cannot be read there yet. */
  #beingWritten: ReadonlyMap<string, string | null> = new Map();
  #tip: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(tree: PrivateTree, journal: Journal) {
    this.#tree = tree;
    this.journal = journal;
  }

  /** Reads what an earlier process left. An unreadable shard counts as no record, never as a delete. */
  async load(): Promise<void> {
    await this.journal.load();
    for (const { path, id } of await this.#tree.list()) {
      if (path.startsWith('objects/')) continue;
      const content = await this.#tree.read(id).catch(() => undefined);
      if (content === undefined) continue;
      if (path === collectionsFile) this.#collections = readCollections(content);
      if (path === tipFile) this.#tip = Buffer.from(content).toString('utf8');
      if (!path.startsWith('index/')) continue;
      for (const record of readShard(content)) this.#records.set(record, placeOf(objectKey(record.id)).shard);
    }
  }

  /** The commit of the branch that the records were last known to fit. */
  get tip(): string | undefined {
    return this.#tip;
  }

  /** Notes that the records fit this commit; written with the next update. */
  fits(tip: string): void {
    if (this.#tip === tip) return;
    this.#tip = tip;
    this.#unwritten.set(tipFile, tip);
  }

  get size(): number {
    return this.#records.size;
  }

  /** The record, or what the journal knows beyond it: then it equals no live object and has no body. */
  get(key: string): HandledRecord | undefined {
    return this.#left(key) ?? this.recorded(key);
  }

  #left(key: string): HandledRecord | undefined {
    const left = this.journal.left(key).at(-1);
    if (left === undefined) return undefined;
    const { id, uid, resourceVersion } = left;
    return { id, uid, resourceVersion, digest: unrecorded };
  }

  /** The record as it was before the writes that the journal knows. */
  recorded(key: string): HandledRecord | undefined {
    return this.#records.get(key, placeOf(key).shard);
  }

  *records(): Iterable<[string, HandledRecord]> {
    for (const [key, record] of this.#records.entries()) yield [key, this.#left(key) ?? record];
    for (const key of this.journal.leftKeys()) {
      const record = this.recorded(key) === undefined ? this.get(key) : undefined;
      if (record !== undefined) yield [key, record];
    }
  }

  /** Key and resourceVersion of every record; far cheaper than the records, and all that a comparison of versions needs. */
  *versions(): Iterable<readonly [string, string]> {
    for (const [key, version] of this.#records.versions())
      yield [key, this.journal.left(key).at(-1)?.resourceVersion ?? version];
    for (const key of this.journal.leftKeys()) {
      const record = this.recorded(key) === undefined ? this.get(key) : undefined;
      if (record !== undefined) yield [key, record.resourceVersion];
    }
  }

  collection(name: string): CollectionRecord | undefined {
    return Object.hasOwn(this.#collections, name) ? this.#collections[name] : undefined;
  }

  /** The sanitized object of a record, masked when it is sensitive; undefined when the blob is lost. */
  async body(record: HandledRecord): Promise<JsonObject | undefined> {
    try {
      const text =
        this.#unwrittenBody(record) ?? Buffer.from(await this.#tree.read(record.digest)).toString('utf8');
      const body = parseJson(text);
      return isObject(body) ? body : undefined;
    } catch {
      return undefined;
    }
  }

  /** The next edit of an object may be planned before the record of the last one is on the volume. */
  #unwrittenBody({ id, digest }: HandledRecord): string | undefined {
    const { bodyPath } = placeOf(objectKey(id));
    const bodies = [this.#unwritten.get(bodyPath), this.#beingWritten.get(bodyPath)];
    return (
      bodies.find((body) => typeof body === 'string' && blobId(Buffer.from(body)) === digest) ?? undefined
    );
  }

  /** Notes a newer resourceVersion of an object that did not change in any way that matters. */
  touch(key: string, resourceVersion: string): void {
    const record = this.recorded(key);
    if (record !== undefined && record.resourceVersion !== resourceVersion)
      this.#records.set({ ...record, resourceVersion }, placeOf(key).shard);
  }

  /**
   * Takes the updates into memory at once and to the volume in order. Rejects when the volume cannot be written; what was
   * not written goes with the next update.
   */
  async put(
    updates: readonly HandledUpdate[],
    collections: Readonly<Record<string, CollectionRecord>> = {},
  ): Promise<void> {
    for (const { key, record, body } of updates) {
      const { shard, bodyPath } = placeOf(key);
      const before = this.#records.digest(key, shard);
      this.#unprinted.add(shard);
      if (record === undefined) this.#records.delete(key, shard);
      else this.#records.set(record, shard);
      if (before !== undefined && before !== record?.digest) this.#unwritten.set(bodyPath, null);
      if (body !== undefined) this.#unwritten.set(bodyPath, body);
    }
    if (Object.keys(collections).length > 0) {
      this.#collections = { ...this.#collections, ...collections };
      this.#unwritten.set(collectionsFile, JSON.stringify(this.#collections));
    }
    await this.#write();
    await this.journal.settle(updates.map(({ key, sequence = 0 }) => ({ key, sequence })));
  }

  /** One write at a time: what an earlier one could not write is never written over a newer one. */
  #write(): Promise<void> {
    const write = this.#writing.then(() => this.#writeNow());
    this.#writing = write.catch(() => undefined);
    return write;
  }

  async #writeNow(): Promise<void> {
    const printed = new Map<string, string | null>();
    await this.#printInTurns(printed);
    // What changed meanwhile, without a pause: so the shards fit each other and everything else that is unwritten.
    for (const shard of this.#unprinted) this.#print(shard, printed);
    const files = [...this.#unwritten].map(([path, content]) => ({ path, content }));
    this.#beingWritten = new Map(this.#unwritten);
    this.#unwritten.clear();
    for (const [shard, content] of printed) files.push({ path: `index/${shard}`, content });
    if (files.length === 0) return;
    try {
      await this.#tree.write(files);
    } catch (error) {
      for (const shard of printed.keys()) this.#unprinted.add(shard);
      // A newer value of the same file may have come in meanwhile; that one stays.
      for (const { path, content } of files)
        if (!path.startsWith('index/') && !this.#unwritten.has(path)) this.#unwritten.set(path, content);
      throw error;
    } finally {
      this.#beingWritten = new Map();
    }
  }

  async #printInTurns(printed: Map<string, string | null>): Promise<void> {
    let count = 0;
    for (const shard of [...this.#unprinted]) {
      count += this.#print(shard, printed);
      if (count < printedAtOnce) continue;
      count = 0;
      await othersFirst();
    }
  }

  #print(shard: string, printed: Map<string, string | null>): number {
    this.#unprinted.delete(shard);
    const lines = this.#records.shard(shard).map(printRecord);
    printed.set(shard, lines.length === 0 ? null : lines.join(''));
    return lines.length;
  }
}

function printRecord(record: HandledRecord): string {
  const { id, uid, resourceVersion, digest, documentBlob } = record;
  const fields = [id.group, id.kind, id.namespace, id.name, uid, resourceVersion, digest];
  return `${JSON.stringify(documentBlob === undefined ? fields : [...fields, documentBlob])}\n`;
}

/** Canonical text of a sanitized object and the digest its record holds. A sensitive object is given with a mask. */
export function digestOf(sanitized: JsonObject, mask: Mask | undefined): { digest: string; body: string } {
  const text = canonicalJson(mask === undefined ? sanitized : masked(sanitized, mask));
  return { digest: blobId(Buffer.from(text)), body: text };
}

/** The id Git gives this content. */
export function blobId(content: Uint8Array): string {
  // In one step: a hash object is native memory until it is collected, and this is asked for every object.
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
}

/** Where a record and its body are kept, by the hash of the key. */
function placeOf(key: string): { readonly shard: string; readonly bodyPath: string } {
  const hashed = hash('sha1', key);
  const shard = hashed.slice(0, 2);
  return { shard, bodyPath: `objects/${shard}/${hashed.slice(2)}` };
}

function readShard(content: Uint8Array): HandledRecord[] {
  return Buffer.from(content)
    .toString('utf8')
    .split('\n')
    .flatMap((line) => readRecord(line) ?? []);
}

function readRecord(line: string): HandledRecord | undefined {
  if (line === '') return undefined;
  const fields = tryParse(line);
  if (!Array.isArray(fields) || fields.length < 7 || fields.length > 8) return undefined;
  const texts = fields.filter((field): field is string => typeof field === 'string');
  const [group, kind, namespace, name, uid, resourceVersion, digest, documentBlob] = texts;
  if (group === undefined || kind === undefined || namespace === undefined || name === undefined)
    return undefined;
  if (uid === undefined || resourceVersion === undefined || digest === undefined) return undefined;
  const record = { id: { group, kind, namespace, name }, uid, resourceVersion, digest };
  return documentBlob === undefined ? record : { ...record, documentBlob };
}

function readCollections(content: Uint8Array): Record<string, CollectionRecord> {
  const parsed = tryParse(Buffer.from(content).toString('utf8'));
  if (!isObject(parsed)) return {};
  const collections: Record<string, CollectionRecord> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (!isObject(value)) continue;
    const { cluster, scope, resourceVersion } = value;
    if (typeof cluster !== 'string' || typeof scope !== 'string' || typeof resourceVersion !== 'string')
      continue;
    collections[name] = { cluster, scope, resourceVersion };
  }
  return collections;
}

function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
