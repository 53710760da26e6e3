/**
 * The kustomizations of a repository and what they read: render roots, the files of each, and who shares a file.
 *
 * Symbolic links are not followed: what lies behind one is missing. Nothing outside the repository is ever named.
 */
import { baseName, compareText, isInside, type Tree, type TreeEntry } from '../folder/index.ts';
import { type Decoded, decodeKustomization, type Kustomization, type Reference } from './decode.ts';
import { isRemote, parentOf, resolveReference } from './reference.ts';

const fileName = /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/;
const endings = ['ustomization.yaml', 'ustomization.yml', 'ustomization'];
const maxFileBytes = 1024 * 1024;

export interface KustomizeProblem {
  readonly kind: 'broken' | 'missing' | 'escapes' | 'remote' | 'cycle';
  /** The kustomization file. */
  readonly path: string;
  /** One clause for a person. */
  readonly message: string;
}

export interface KustomizeNode {
  readonly folder: string;
  /** Path of the kustomization file. */
  readonly file: string;
  readonly decoded: Decoded;
  /** Folders with a kustomization that it loads: resources first, then components. */
  readonly bases: readonly string[];
  readonly components: readonly string[];
  /** Files of `resources` that are there. */
  readonly documents: readonly string[];
  /** Every file that it reads, its own included. */
  readonly files: readonly string[];
  readonly problems: readonly KustomizeProblem[];
}

export interface KustomizeGraph {
  readonly nodes: ReadonlyMap<string, KustomizeNode>;
  /** Folders that no other kustomization loads, in path order. */
  readonly roots: readonly string[];
  readonly reaches: ReadonlyMap<string, Reach>;
  /** The roots that read a file. */
  rootsOf(path: string): readonly string[];
}

/** What one root reads. */
export interface Reach {
  readonly root: string;
  readonly folders: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
  readonly problems: readonly KustomizeProblem[];
}

/** Decoded kustomization files by blob id. Emptied when it holds more than anybody has. */
export type DecodedFiles = Map<string, Decoded>;

const maxDecoded = 20_000;

/** `applied`: folders that an applier builds although another kustomization loads them, too. */
export async function readGraph(
  tree: Tree,
  known: DecodedFiles,
  applied: readonly string[] = [],
): Promise<KustomizeGraph> {
  const entries = tree.entries();
  if (known.size > maxDecoded) known.clear();
  const found = Map.groupBy(
    entries.filter(({ path, mode }) => isNamed(path) && isFile(mode)),
    ({ path }) => parentOf(path),
  );
  const read: { readonly folder: string; readonly file: string; readonly decoded: Decoded }[] = [];
  for (const folder of [...found.keys()].sort(compareText)) {
    const [entry, ...others] = found.get(folder) ?? [];
    if (entry === undefined) continue;
    const decoded = await decodeEntry(tree, entry, known);
    const twin = others[0];
    const usable: Decoded =
      twin === undefined
        ? decoded
        : { ok: false, message: `${baseName(twin.path)} stands beside it, and kustomize takes only one` };
    read.push({ folder, file: entry.path, decoded: usable });
  }
  const files = present(
    entries,
    read.flatMap(({ folder, decoded }) => namedBy(folder, decoded)),
  );
  const nodes = new Map(
    read.map(({ folder, file, decoded }) => [folder, nodeOf(folder, file, decoded, files, found)] as const),
  );
  return connect(nodes, applied);
}

/** Asked of every file of the repository, so the cheap question comes first. */
function isNamed(path: string): boolean {
  return endings.some((ending) => path.endsWith(ending)) && fileName.test(path);
}

/** A repository has many more files than its kustomizations name. */
function present(entries: readonly TreeEntry[], named: readonly string[]): ReadonlySet<string> {
  const wanted = new Set(named);
  if (wanted.size === 0) return wanted;
  return new Set(entries.flatMap(({ path, mode }) => (wanted.has(path) && isFile(mode) ? [path] : [])));
}

function namedBy(folder: string, decoded: Decoded): string[] {
  if (!decoded.ok) return [];
  return referencesOf(decoded.kustomization).flatMap(({ text }) => resolveReference(folder, text) ?? []);
}

function referencesOf({ resources, components, patches, inputs }: Kustomization): Reference[] {
  return [...resources, ...components, ...patchFiles(patches), ...inputs];
}

function patchFiles(patches: Kustomization['patches']): Reference[] {
  return patches.flatMap(({ path, field }) => (path === undefined ? [] : [{ text: path, field }]));
}

export function isFile(mode: TreeEntry['mode']): boolean {
  return mode === '100644' || mode === '100755';
}

async function decodeEntry(tree: Tree, entry: TreeEntry, known: DecodedFiles): Promise<Decoded> {
  const before = known.get(entry.id);
  if (before !== undefined) return before;
  const decoded: Decoded =
    entry.size > maxFileBytes
      ? { ok: false, message: `it has ${entry.size} bytes, more than we read` }
      : decodeKustomization(await tree.read(entry.path));
  known.set(entry.id, decoded);
  return decoded;
}

function nodeOf(
  folder: string,
  file: string,
  decoded: Decoded,
  files: ReadonlySet<string>,
  kustomizations: ReadonlyMap<string, unknown>,
): KustomizeNode {
  const node = {
    folder,
    file,
    decoded,
    bases: [] as string[],
    components: [] as string[],
    documents: [] as string[],
    files: [file],
    problems: [] as KustomizeProblem[],
  };
  const problem = (kind: KustomizeProblem['kind'], message: string): void => {
    node.problems.push({ kind, path: file, message: `${file}: ${message}` });
  };
  if (!decoded.ok) {
    problem('broken', decoded.message);
    return node;
  }
  const { kustomization } = decoded;
  const locate = ({ text, field }: Reference): string | undefined => {
    if (isRemote(text)) {
      problem('remote', `${field} names ${withoutLogin(text)}, which is not in this repository`);
      return undefined;
    }
    const path = resolveReference(folder, text);
    if (path === undefined) problem('escapes', `${field} names ${text}, which leaves the repository`);
    return path;
  };
  for (const reference of [...kustomization.resources, ...kustomization.components]) {
    const path = locate(reference);
    if (path === undefined) continue;
    if (kustomizations.has(path))
      (reference.field === 'components' ? node.components : node.bases).push(path);
    else if (files.has(path)) {
      node.documents.push(path);
      node.files.push(path);
    } else problem('missing', `${reference.field} names ${reference.text}, which is not there`);
  }
  for (const reference of [...patchFiles(kustomization.patches), ...kustomization.inputs]) {
    const path = locate(reference);
    if (path === undefined) continue;
    if (files.has(path)) node.files.push(path);
    else if (kustomizations.has(path)) node.bases.push(path);
    else problem('missing', `${reference.field} names ${reference.text}, which is not there`);
  }
  return node;
}

/** A remote may carry a login. */
function withoutLogin(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '');
}

function connect(nodes: ReadonlyMap<string, KustomizeNode>, applied: readonly string[]): KustomizeGraph {
  const loaded = new Set([...nodes.values()].flatMap(({ bases, components }) => [...bases, ...components]));
  const isRoot = ({ folder, decoded }: KustomizeNode): boolean =>
    applied.includes(folder) || (!loaded.has(folder) && !(decoded.ok && decoded.kustomization.isComponent));
  const roots = [...nodes.values()].filter(isRoot).map(({ folder }) => folder);
  const reaches = new Map(roots.map((root) => [root, reachOf(root, nodes)]));
  // Kustomizations that only load each other have no root; one of them stands for the circle, so that it is reported.
  const reached = new Set([...reaches.values()].flatMap(({ folders }) => [...folders]));
  for (const { folder, decoded } of nodes.values()) {
    if (reached.has(folder) || (decoded.ok && decoded.kustomization.isComponent)) continue;
    const reach = reachOf(folder, nodes);
    roots.push(folder);
    reaches.set(folder, reach);
    for (const one of reach.folders) reached.add(one);
  }
  const readers = new Map<string, string[]>();
  for (const { root, files } of reaches.values()) {
    for (const path of files) {
      const known = readers.get(path);
      if (known === undefined) readers.set(path, [root]);
      else known.push(root);
    }
  }
  return { nodes, roots: roots.sort(compareText), reaches, rootsOf: (path) => readers.get(path) ?? [] };
}

function reachOf(root: string, nodes: ReadonlyMap<string, KustomizeNode>): Reach {
  const folders = new Set<string>();
  const files = new Set<string>();
  const problems: KustomizeProblem[] = [];
  const open: string[] = [];
  const visit = (folder: string): void => {
    const node = nodes.get(folder);
    if (node === undefined) return;
    if (open.includes(folder)) {
      const circle = [...open.slice(open.indexOf(folder)), folder].map((one) => one || '.').join(' -> ');
      problems.push({ kind: 'cycle', path: node.file, message: `${node.file}: it loads itself (${circle})` });
      return;
    }
    if (folders.has(folder)) return;
    folders.add(folder);
    open.push(folder);
    for (const path of node.files) files.add(path);
    problems.push(...node.problems);
    for (const base of [...node.bases, ...node.components]) visit(base);
    open.pop();
  };
  visit(root);
  return { root, folders, files, problems };
}

/** The folders outside of `folder` that a root reads. */
export function outsideOf({ files }: Reach, folder: string): string[] {
  const outside = [...files].filter((path) => !isInside(path, folder)).map(parentOf);
  return [...new Set(outside)].sort(compareText);
}

/** A folder stands for what lies in it. */
export function topmost(folders: readonly string[]): string[] {
  return folders.filter((one) => !folders.some((other) => other !== one && isInside(one, other)));
}
