/**
 * `gate init FOLDER`: adds a SyncGate to a folder that Argo CD applies, and to its kustomization when it has one. Reads and
 * writes local files only.
 */
import { randomUUID } from 'node:crypto';
import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { apiGroup, apiVersion } from '../api/group.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { withResource } from '../core/kustomize/kustomization-edits.ts';
import { decodeFile, editDocument, encodeFile, readDocuments } from '../core/yaml/index.ts';
import { BadInput, reasonOf } from './bad-input.ts';
import { guarded } from './status.ts';

/** Files of a folder by name, as text; undefined for one that is not UTF-8 text. */
export type FolderTexts = ReadonlyMap<string, string | undefined>;

export type GateInit =
  | {
      readonly kind: 'ok';
      /** Files to write, by name; empty when everything is there. */
      readonly writes: ReadonlyMap<string, string>;
      /** What was done, and what is left to do, a line each. */
      readonly words: readonly string[];
    }
  | { readonly kind: 'refused'; readonly message: string };

const gateFile = 'sync-gate.yaml';
const defaultName = 'gitops-reverser';
const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];
const maxFileBytes = 1024 * 1024;
const maxFiles = 2_000;

/** The command for `program.ts`: exit 0 added or there already, 2 bad input. */
export function gateInitCommand(): Command {
  return new Command('init')
    .description('add a SyncGate to a folder that Argo CD applies, so that its syncs wait for live edits')
    .argument('<folder>', 'the folder; its kustomization gets the new file too')
    .option(
      '--name <name>',
      'name of the SyncGate; Applications of one namespace need different ones',
      defaultName,
    )
    .action(async (folder: string, { name }: { readonly name: string }) => {
      process.exitCode = await guarded('gate init', async () => {
        if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name))
          throw new BadInput(`--name ${JSON.stringify(name)} is not a name Kubernetes takes`);
        for (const line of await initFolder(folder, name)) console.log(line);
        return 0;
      });
    });
}

async function initFolder(folder: string, name: string): Promise<readonly string[]> {
  const texts = await readFolder(folder);
  const result = initGate(texts, folder, name);
  if (result.kind === 'refused') throw new BadInput(result.message);
  for (const [file, text] of result.writes) await replaceFile(join(folder, file), text);
  return result.words;
}

/**
 * What has to be written so that a folder has its gate. Comments and style of a kustomization stay.
 * @param folder as people call it, for messages
 */
export function initGate(texts: FolderTexts, folder: string, name: string): GateInit {
  const path = (file: string) => (folder === '.' ? file : `${folder.replace(/\/+$/, '')}/${file}`);
  if (texts.has('Chart.yaml')) {
    const message = `${folder} is a Helm chart: put the SyncGate into its templates/ folder yourself; gitops-reverser gate init works on plain and kustomize folders`;
    return { kind: 'refused', message };
  }
  const present = kustomizationNames.filter((file) => texts.has(file));
  if (present.length > 1) {
    return {
      kind: 'refused',
      message: `${folder} has ${present.join(' and ')}; kustomize takes only one of them`,
    };
  }
  const there = gateIn(texts);
  if (there === undefined && texts.has(gateFile)) {
    return { kind: 'refused', message: `${path(gateFile)} is there and holds no SyncGate; rename it` };
  }
  const writes = new Map<string, string>();
  const words: string[] = [];
  const file = there ?? gateFile;
  if (there === undefined) {
    writes.set(gateFile, gateText(name));
    words.push(`wrote ${path(gateFile)}: the hook with which a sync waits until every live edit is in Git`);
  } else {
    words.push(`${path(there)} holds a SyncGate already`);
  }
  const [kustomization] = present;
  if (kustomization !== undefined) {
    const listed = withGate(texts.get(kustomization), file);
    if (listed.kind === 'refused') {
      const message = `${path(kustomization)} ${listed.message}; add "- ${file}" to its resources yourself`;
      return { kind: 'refused', message };
    }
    if (listed.text === texts.get(kustomization)) words.push(`${path(kustomization)} lists it already`);
    else {
      writes.set(kustomization, listed.text);
      words.push(`added it to the resources of ${path(kustomization)}`);
    }
  }
  if (writes.size === 0) words.push('nothing to do');
  else {
    words.push(
      'next: commit and push it. The CRD of SyncGate must be in the cluster it is applied to, and its health in argocd-cm, before the first sync',
    );
  }
  return { kind: 'ok', writes, words };
}

/** The file that holds a SyncGate. */
function gateIn(texts: FolderTexts): string | undefined {
  for (const [file, text] of texts) {
    if (text === undefined || !/\.ya?ml$/.test(file) || !text.includes('SyncGate')) continue;
    const isGate = (value: JsonObject) =>
      value.kind === 'SyncGate' && String(value.apiVersion).startsWith(`${apiGroup}/`);
    if (readDocuments(text).some((one) => one.kind === 'value' && isObject(one.value) && isGate(one.value)))
      return file;
  }
  return undefined;
}

type Listed =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'refused'; readonly message: string };

function withGate(text: string | undefined, file: string): Listed {
  if (text === undefined) return { kind: 'refused', message: 'is not text' };
  const documents = readDocuments(text);
  const index = documents.findIndex(({ kind }) => kind === 'value');
  const document = documents[index];
  const values = documents.filter(({ kind }) => kind === 'value').length;
  if (document?.kind !== 'value' || values !== 1 || !isObject(document.value))
    return { kind: 'refused', message: 'is not one readable kustomization' };
  const wanted = withResource('', file)(document.value);
  if (wanted === document.value) return { kind: 'ok', text };
  const edited = editDocument(text, index, wanted, { listKeys: () => undefined });
  return edited.ok
    ? { kind: 'ok', text: edited.text }
    : { kind: 'refused', message: `cannot be edited: ${edited.message}` };
}

function gateText(name: string): string {
  return `# Holds every sync of Argo CD until the live edits of this folder are in Git.
apiVersion: ${apiVersion}
kind: SyncGate
metadata:
  name: ${name}
  annotations:
    argocd.argoproj.io/hook: PreSync
    argocd.argoproj.io/hook-delete-policy: BeforeHookCreation
    # Before every other PreSync hook.
    argocd.argoproj.io/sync-wave: "-100"
spec: {}
`;
}

async function readFolder(folder: string): Promise<FolderTexts> {
  let entries: string[];
  try {
    entries = await readdir(folder);
  } catch (error) {
    throw new BadInput(`${folder}: ${reasonOf(error)}`, { cause: error });
  }
  const texts = new Map<string, string | undefined>();
  const read = entries.filter((name) => /\.ya?ml$/.test(name) || name === 'Kustomization').sort();
  if (read.length > maxFiles) throw new BadInput(`${folder} holds more than ${maxFiles} YAML files`);
  for (const name of read) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isDirectory()) continue;
    if (found.isSymbolicLink() && [...kustomizationNames, gateFile].includes(name))
      throw new BadInput(`${path} is a symbolic link; name the folder it points into`);
    if (!found.isFile() || found.size > maxFileBytes) continue;
    const decoded = decodeFile(await readFile(path));
    texts.set(name, decoded.ok ? decoded.text : undefined);
  }
  return texts;
}

/** Whole or not at all; a file keeps its permissions. */
async function replaceFile(path: string, text: string): Promise<void> {
  const mode = await lstat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, encodeFile(text), { flag: 'wx', mode });
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
