/**
 * What our commits of one GitTarget hold before its handled states say so: identity, version and commit of each object,
 * never a body. Between the push and that record a crash would forget that an edit is in Git, and a delete made while the
 * process is down would find nothing to delete.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ObjectId, objectKey } from '../core/identity.ts';
import { type Json, parseJson } from '../core/json.ts';

export interface JournalEntry {
  readonly id: ObjectId;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The commit of ours that holds the object; whether the remote ever took it is not known here. */
  readonly commit: string;
}

export interface PrivateFile {
  /** undefined when there is none. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/** Entries of writes of an earlier process: older than any write of this one. */
const earlier = 0;

export class Journal {
  readonly #file: PrivateFile;
  /** By object key, oldest first. */
  readonly #entries = new Map<string, { readonly sequence: number; readonly entry: JournalEntry }[]>();
  #last: Promise<void> = Promise.resolve();

  constructor(file: PrivateFile) {
    this.#file = file;
  }

  /** Reads what an earlier process left. An unreadable file counts as none. */
  async load(): Promise<void> {
    for (const entry of readEntries(await this.#file.read())) this.#add(earlier, entry);
  }

  /** Objects that an earlier process wrote into commits without recording them, newest entry last. */
  left(key: string): readonly JournalEntry[] {
    const entries = this.#entries.get(key) ?? [];
    return entries.filter(({ sequence }) => sequence === earlier).map(({ entry }) => entry);
  }

  leftKeys(): string[] {
    return [...this.#entries.keys()].filter((key) => this.left(key).length > 0);
  }

  /** Commits of these writes are about to be pushed. Planning a write again replaces what was noted of it. */
  async note(
    writes: readonly { readonly sequence: number; readonly entries: readonly JournalEntry[] }[],
  ): Promise<void> {
    const planned = new Set(writes.map(({ sequence }) => sequence));
    for (const key of this.#entries.keys()) this.#keep(key, (one) => !planned.has(one));
    for (const { sequence, entries } of writes) for (const entry of entries) this.#add(sequence, entry);
    await this.#write();
  }

  /** The handled states say it now, for everything up to that write. */
  async settle(updates: readonly { readonly key: string; readonly sequence: number }[]): Promise<void> {
    const known = updates.filter(({ key }) => this.#entries.has(key));
    if (known.length === 0) return;
    for (const { key, sequence } of known) this.#keep(key, (one) => one > sequence);
    await this.#write();
  }

  #add(sequence: number, entry: JournalEntry): void {
    const key = objectKey(entry.id);
    this.#entries.set(key, [...(this.#entries.get(key) ?? []), { sequence, entry }]);
  }

  #keep(key: string, wanted: (sequence: number) => boolean): void {
    const rest = (this.#entries.get(key) ?? []).filter(({ sequence }) => wanted(sequence));
    if (rest.length === 0) this.#entries.delete(key);
    else this.#entries.set(key, rest);
  }

  #write(): Promise<void> {
    const text = [...this.#entries.values()].flat().map(({ entry }) => `${printEntry(entry)}\n`);
    const writing = this.#last.then(() => this.#file.write(text.join('')));
    this.#last = writing.catch(() => undefined);
    return writing;
  }
}

/** A file of the private volume, replaced as a whole so that a kill leaves the old or the new one. */
export function privateFile(path: string): PrivateFile {
  return {
    async read() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(text) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
  };
}

function printEntry({ id, uid, resourceVersion, commit }: JournalEntry): string {
  return JSON.stringify([id.group, id.kind, id.namespace, id.name, uid, resourceVersion, commit]);
}

function readEntries(text = ''): JournalEntry[] {
  return text.split('\n').flatMap((line) => {
    const fields = tryParse(line);
    if (!Array.isArray(fields) || fields.length !== 7) return [];
    const [group, kind, namespace, name, uid, resourceVersion, commit] = fields.map(textOf);
    if (group === undefined || kind === undefined || namespace === undefined || name === undefined) return [];
    if (uid === undefined || resourceVersion === undefined || commit === undefined) return [];
    return /^[0-9a-f]{40}$/.test(commit)
      ? [{ id: { group, kind, namespace, name }, uid, resourceVersion, commit }]
      : [];
  });
}

function textOf(field: Json): string | undefined {
  return typeof field === 'string' ? field : undefined;
}

function tryParse(line: string): Json | undefined {
  try {
    return line === '' ? undefined : parseJson(line);
  } catch {
    return undefined;
  }
}
