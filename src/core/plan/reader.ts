/** The files of the folder as text and documents, each read and parsed once per plan. */
import type { FolderIndex, IndexedDocument, Tree } from '../folder/index.ts';
import { identify, objectKey } from '../identity.ts';
import { isObject, type JsonObject } from '../json.ts';
import { decodeFile, type ReadDocument, readDocuments } from '../yaml/index.ts';

export interface Reader {
  /** Reads files that will be asked for, all at once: one after the other each waits for an answer of its own. */
  ahead(paths: readonly string[]): Promise<void>;
  /** The text of a file that the index could read. */
  text(path: string): Promise<string>;
  documents(path: string): Promise<readonly ReadDocument[]>;
  /** The value of an indexed document. */
  value(document: IndexedDocument): Promise<JsonObject>;
  /** The files that gave no readable record, with their text where it can be searched; see `couldDescribe`. */
  unclear(): Promise<readonly { readonly path: string; readonly text: string | undefined }[]>;
}

export function createReader(tree: Tree, index: FolderIndex): Reader {
  const texts = new Map<string, string>();
  const parsed = new Map<string, readonly ReadDocument[]>();
  let unclear: { path: string; text: string | undefined }[] | undefined;

  async function text(path: string): Promise<string> {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const decoded = decodeFile(await tree.read(path));
    // The index has read the same bytes before, so anything else means that the tree changed under us.
    if (!decoded.ok) throw new Error(`${path} is not the file that was indexed: ${decoded.message}`);
    texts.set(path, decoded.text);
    return decoded.text;
  }

  async function documents(path: string): Promise<readonly ReadDocument[]> {
    const known = parsed.get(path) ?? readDocuments(await text(path));
    parsed.set(path, known);
    return known;
  }

  return {
    // What cannot be read is told to whoever needs it.
    ahead: async (paths) => void (await Promise.allSettled(paths.map(text))),
    text,
    documents,
    async value(document) {
      const read = (await documents(document.path))[document.index];
      const found = read?.kind === 'value' ? identify(read.value) : undefined;
      if (
        read?.kind !== 'value' ||
        !isObject(read.value) ||
        found === undefined ||
        objectKey(found) !== objectKey(document.id)
      ) {
        throw new Error(
          `${document.path} is not the file that was indexed: document ${document.index + 1} is another`,
        );
      }
      return read.value;
    },
    async unclear() {
      if (unclear !== undefined) return unclear;
      unclear = [];
      for (const { path, searchable } of index.unclear) {
        // Names of kinds and objects are ASCII, so any reading of the other bytes will do.
        const found = searchable ? new TextDecoder('latin1').decode(await tree.read(path)) : undefined;
        unclear.push({ path, text: found });
      }
      return unclear;
    },
  };
}
