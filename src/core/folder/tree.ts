/**
 * A tree: the files of one commit (or of one work tree on disk) as a value to read from.
 */

export type FileMode = '100644' | '100755' | '120000' | '160000';

export interface TreeEntry {
  /** Relative to the repository root, with forward slashes. */
  readonly path: string;
  readonly mode: FileMode;
  /** Blob id, or another name of exactly this content. */
  readonly id: string;
  /** Bytes. */
  readonly size: number;
}

export interface Tree {
  /** Every file of the repository, directories left out. */
  entries(): readonly TreeEntry[];
  /** The bytes of a listed file. Throws when the file is not there or cannot be read. */
  read(path: string): Promise<Uint8Array>;
}

/** True when the path lies in the folder; '' is the repository root and holds everything. */
export function isInside(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`);
}

/** The path as seen from the folder. Only for paths inside it. */
export function relativeTo(path: string, folder: string): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}

/** Joins a folder and a path below it. */
export function joinPath(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`;
}

/** The last segment of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
