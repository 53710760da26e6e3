/**
 * Which sops configuration governs a path: the nearest `.sops.yaml` above it that has creation rules, as sops itself would use
 * it in that folder. Only without one the recipients of the GitTarget count.
 */
import { joinPath, type Tree } from '../folder/tree.ts';
import { isObject, type JsonObject } from '../json.ts';
import { decodeFile, readDocuments } from '../yaml/index.ts';
import type { SealingConfig } from './sealer.ts';

export type Governing =
  | { readonly kind: 'config'; readonly config: SealingConfig; readonly source: 'repository' | 'recipients' }
  | { readonly kind: 'none'; readonly message: string };

const configName = '.sops.yaml';
const maxConfigBytes = 256 * 1024;

/** Which of the fields of a Secret are sealed, where nobody says otherwise. */
export const secretFields = '^(data|stringData)$';

/** The rule for a new document at `path`. Throws only when the tree cannot be read. */
export async function governingConfig(
  tree: Tree,
  path: string,
  recipients: readonly string[],
): Promise<Governing> {
  const files = new Map(
    tree.entries().flatMap((entry) => (entry.path.endsWith(configName) ? [[entry.path, entry]] : [])),
  );
  for (const folder of foldersAbove(path)) {
    const entry = files.get(joinPath(folder, configName));
    if (entry === undefined) continue;
    if (entry.mode === '120000' || entry.mode === '160000' || entry.size > maxConfigBytes) {
      return { kind: 'none', message: `${entry.path} is not a file that can be read as sops rules` };
    }
    const decoded = decodeFile(await tree.read(entry.path));
    if (!decoded.ok) return { kind: 'none', message: `${entry.path} cannot be read: ${decoded.message}` };
    if (!hasRules(decoded.text)) continue;
    return { kind: 'config', source: 'repository', config: { path: entry.path, text: decoded.text } };
  }
  if (recipients.length === 0) {
    return { kind: 'none', message: 'there is neither a .sops.yaml with a rule for it nor a recipient' };
  }
  return { kind: 'config', source: 'recipients', config: recipientsConfig(recipients) };
}

/** One rule for every path: these age recipients, and the fields of a Secret. */
export function recipientsConfig(recipients: readonly string[]): SealingConfig {
  return ruleConfig({ age: recipients.join(','), encrypted_regex: secretFields });
}

/** A configuration with a single rule; JSON is YAML. */
export function ruleConfig(rule: Readonly<Record<string, string | boolean>>): SealingConfig {
  return { path: configName, text: `${JSON.stringify({ creation_rules: [rule] })}\n` };
}

/** A broken one has rules as well: sops shall say what is wrong with it, and nothing is sealed past it. */
function hasRules(text: string): boolean {
  const [first] = readDocuments(text);
  if (first?.kind !== 'value') return first !== undefined && first.kind !== 'empty';
  return isObject(first.value) && first.value.creation_rules !== undefined;
}

/** The folder of the path and those above it, the root last. */
function foldersAbove(path: string): string[] {
  const segments = path.split('/').slice(0, -1);
  const folders = segments.map((_, index) => segments.slice(0, segments.length - index).join('/'));
  return [...folders, ''];
}

/** What to seal of an object that is no Secret, whatever the rule says of Secrets: everything that is not its identity. */
export function sealScope(document: JsonObject): string | undefined {
  if (document.apiVersion === 'v1' && document.kind === 'Secret') return undefined;
  const fields = Object.keys(document).filter((key) => !['apiVersion', 'kind', 'metadata'].includes(key));
  return `^(${fields.map((key) => key.replace(/[^A-Za-z0-9]/g, String.raw`\$&`)).join('|')})$`;
}
