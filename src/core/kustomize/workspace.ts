/**
 * The files of the repository while a batch edits them: what stands in the tree, with the edits so far laid over it.
 *
 * A fork costs nothing and leaves its parent alone, so an edit can be tried, judged by a build, and dropped.
 */
import { compareText, type Tree, type TreeEntry } from '../folder/index.ts';
import { identify, type ObjectId } from '../identity.ts';
import { isObject, type JsonObject } from '../json.ts';
import {
  decodeFile,
  type EditOptions,
  editDocument,
  encodeFile,
  type ReadDocument,
  readDocuments,
  removeDocument,
} from '../yaml/index.ts';
import { isFile } from './graph.ts';
import { blobId, type SourceFile } from './render.ts';

/** A document of a file that is one Kubernetes object. */
export interface SourceDocument {
  readonly path: string;
  readonly index: number;
  readonly id: ObjectId;
  readonly value: JsonObject;
  readonly notEditable?: string;
}

export type SetResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

export interface Workspace {
  /** Undefined when the file is not there, or is no text. */
  text(path: string): Promise<string | undefined>;
  documents(path: string): Promise<readonly ReadDocument[]>;
  objects(path: string): Promise<readonly SourceDocument[]>;
  /** Undefined removes the file. */
  write(path: string, text: string | undefined): void;
  /** Makes one document of a file say exactly `value`. */
  set(path: string, index: number, value: JsonObject, options?: EditOptions): Promise<SetResult>;
  /** Takes a document out; the file goes with its last one, which is told. */
  remove(path: string, index: number): Promise<{ readonly fileGone: boolean }>;
  /**
   * Like `set`, but carried out together with everything else that comes to wait for the file: many entries of one list cost one
   * edit. Only where the workspace defers; else it is `set`.
   */
  setLater(path: string, index: number, value: JsonObject, options: EditOptions): Promise<SetResult>;
  /** The value that waits for a file. */
  awaited(path: string): { readonly index: number; readonly value: JsonObject } | undefined;
  /** Carries out what waits. False when something of it has no place; then nobody knows whose it is. */
  finish(): Promise<boolean>;
  has(path: string): boolean;
  /** What waits goes along. */
  fork(options?: { readonly defers: boolean }): Workspace;
  /** Paths that were written since the fork. */
  written(): readonly string[];
  /** Paths whose content is not the tree's, in order, with their text now. */
  changes(): readonly { readonly path: string; readonly text: string | undefined }[];
  /** For a build: the files of these paths that are there now. */
  sources(paths: Iterable<string>): SourceFile[];
}

/** What all forks share: what was read of the tree. */
interface Shared {
  readonly tree: Tree;
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly texts: Map<string, string | undefined>;
  readonly documents: Map<string, readonly ReadDocument[]>;
}

export function openWorkspace(tree: Tree): Workspace {
  let entries: ReadonlyMap<string, TreeEntry> | undefined;
  const shared: Shared = {
    tree,
    // Most plans of a large repository never ask.
    get entries() {
      entries ??= new Map(
        tree.entries().flatMap((entry) => (isFile(entry.mode) ? [[entry.path, entry] as const] : [])),
      );
      return entries;
    },
    texts: new Map(),
    documents: new Map(),
  };
  return workspace(shared, { edited: new Map(), waiting: new Map(), failed: false, defers: false });
}

interface State {
  /** Undefined: the file is removed. */
  readonly edited: Map<string, string | undefined>;
  readonly waiting: Map<string, Waiting>;
  /** Something that waited had no place. */
  failed: boolean;
  readonly defers: boolean;
}

interface Waiting {
  readonly index: number;
  readonly value: JsonObject;
  readonly options: EditOptions;
}

const byName: EditOptions = { listKeys: () => ['name'] };

function workspace(shared: Shared, state: State): Workspace {
  const { edited, waiting, defers } = state;
  const written = new Set<string>();

  async function text(path: string): Promise<string | undefined> {
    const open = waiting.get(path);
    if (open !== undefined) {
      waiting.delete(path);
      const result = await set(path, open.index, open.value, open.options);
      if (!result.ok) state.failed = true;
    }
    if (edited.has(path)) return edited.get(path);
    if (shared.texts.has(path)) return shared.texts.get(path);
    const decoded = shared.entries.has(path) ? decodeFile(await shared.tree.read(path)) : undefined;
    const found = decoded?.ok === true ? decoded.text : undefined;
    shared.texts.set(path, found);
    return found;
  }

  async function documents(path: string): Promise<readonly ReadDocument[]> {
    const own = await text(path);
    if (own === undefined) return [];
    // Keyed by content, so that an edit never meets an earlier reading.
    const known = shared.documents.get(own) ?? readDocuments(own);
    shared.documents.set(own, known);
    return known;
  }

  async function set(
    path: string,
    index: number,
    value: JsonObject,
    options: EditOptions = byName,
  ): Promise<SetResult> {
    const own = await text(path);
    if (own === undefined) return { ok: false, message: `${path} is not there` };
    const result = editDocument(own, index, value, options);
    if (!result.ok) return { ok: false, message: `${path}: ${result.message}` };
    if (result.changed) put(path, result.text);
    return { ok: true };
  }

  function put(path: string, content: string | undefined): void {
    edited.set(path, content);
    written.add(path);
  }

  return {
    text,
    documents,
    set,
    async setLater(path, index, value, options) {
      if (!defers) return await set(path, index, value, options);
      waiting.set(path, { index, value, options });
      written.add(path);
      return { ok: true };
    },
    awaited: (path) => waiting.get(path),
    async finish() {
      for (const path of [...waiting.keys()]) await text(path);
      return !state.failed;
    },
    written: () => [...written],
    async objects(path) {
      return (await documents(path)).flatMap((document, index): SourceDocument[] => {
        const id = document.kind === 'value' ? identify(document.value) : undefined;
        if (id === undefined || document.kind !== 'value' || !isObject(document.value)) return [];
        const { value, notEditable } = document;
        return [{ path, index, id, value, ...(notEditable === undefined ? {} : { notEditable }) }];
      });
    },
    write(path, content) {
      waiting.delete(path);
      put(path, content);
    },
    async remove(path, index) {
      const result = removeDocument((await text(path)) ?? '', index);
      put(path, result.empty ? undefined : result.text);
      return { fileGone: result.empty };
    },
    has(path) {
      return edited.has(path) ? edited.get(path) !== undefined : shared.entries.has(path);
    },
    fork: (options = { defers }) =>
      workspace(shared, {
        edited: new Map(edited),
        waiting: new Map(waiting),
        failed: state.failed,
        defers: options.defers,
      }),
    changes() {
      return [...edited]
        .filter(([path, content]) =>
          content === undefined ? shared.entries.has(path) : shared.texts.get(path) !== content,
        )
        .map(([path, content]) => ({ path, text: content }))
        .sort((a, b) => compareText(a.path, b.path));
    },
    sources(paths) {
      const found: SourceFile[] = [];
      for (const path of new Set(paths)) {
        const content = edited.get(path);
        const entry = shared.entries.get(path);
        if (content !== undefined) {
          const bytes = encodeFile(content);
          found.push({ path, id: blobId(bytes), read: async () => bytes });
        } else if (entry !== undefined && !edited.has(path)) {
          found.push({ path, id: entry.id, read: () => shared.tree.read(path) });
        }
      }
      return found;
    },
  };
}
