/**
 * A work tree on disk as a `Tree`: what `plan`, `scan` and `check` read when there is no commit to read from.
 */
import { constants } from 'node:fs';
import { access, lstat, open, readdir, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { compareText, type Tree, type TreeEntry } from '../core/folder/index.ts';
import { BadInput, reasonOf } from './bad-input.ts';

const maxEntries = 500_000;
const maxDepth = 64;
const maxFileBytes = 64 * 1024 * 1024;

export interface LocalRepository {
  readonly tree: Tree;
  /** Absolute path of the repository root. */
  readonly root: string;
  /** The folder relative to the root, with forward slashes; '' when it is the root. */
  readonly folder: string;
}

/**
 * Opens the repository around a folder. Without `root`, the root is the next folder upwards that holds `.git`, else the
 * folder itself. Throws BadInput when a path is missing or the folder lies outside the root.
 */
export async function openLocalRepository(
  folder: string,
  root: string | undefined,
): Promise<LocalRepository> {
  const folderPath = await existingFolder(folder);
  const rootPath = root === undefined ? await rootAbove(folderPath) : await existingFolder(root);
  const inside = relative(rootPath, folderPath);
  if (inside === '..' || inside.startsWith(`..${sep}`)) {
    throw new BadInput(`${folder} is not inside the repository root ${rootPath}`);
  }
  return { tree: await readLocalTree(rootPath), root: rootPath, folder: inside.split(sep).join('/') };
}

/** Lists every file below the root; nested repositories are entries of their own, as submodules are. */
export async function readLocalTree(root: string): Promise<Tree> {
  const entries: TreeEntry[] = [];
  await collect(root, '', 0, entries);
  entries.sort((a, b) => compareText(a.path, b.path));
  return {
    entries: () => entries,
    read: (path) => readRegularFile(join(root, path)),
  };
}

async function collect(root: string, folder: string, depth: number, entries: TreeEntry[]): Promise<void> {
  if (depth > maxDepth) throw new BadInput(`${folder} is nested more than ${maxDepth} folders deep`);
  const children = await readdir(join(root, folder), { withFileTypes: true });
  const folders: string[] = [];
  await Promise.all(
    children.map(async (child) => {
      if (child.name === '.git') return;
      const path = folder === '' ? child.name : `${folder}/${child.name}`;
      if (child.isDirectory()) {
        folders.push(path);
        return;
      }
      if (!child.isFile() && !child.isSymbolicLink()) return;
      const { mode, size, mtimeMs, ino } = await lstat(join(root, path));
      entries.push({
        path,
        mode: child.isSymbolicLink() ? '120000' : (mode & 0o100) === 0 ? '100644' : '100755',
        id: `disk:${path}:${ino}:${size}:${mtimeMs}`,
        size,
      });
    }),
  );
  if (entries.length > maxEntries) throw new BadInput(`${root} holds more than ${maxEntries} files`);
  for (const path of folders) {
    if (await exists(join(root, path, '.git')))
      entries.push({ path, mode: '160000', id: `disk:${path}`, size: 0 });
    else await collect(root, path, depth + 1, entries);
  }
}

async function readRegularFile(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { size } = await file.stat();
      if (size > maxFileBytes) throw new BadInput(`${path}: larger than ${maxFileBytes} bytes`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}

async function existingFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    await readdir(real);
    return real;
  } catch (error) {
    throw new BadInput(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}

async function rootAbove(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    if (await exists(join(at, '.git'))) return at;
    if (dirname(at) === at) return folder;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
