/**
 * The files a folder starts with: a note for readers, an ignore file that ignores nothing, and the rules for sops.
 */
import { ignoreFileName } from './role.ts';

export interface BootstrapFile {
  /** Relative to the target's folder. */
  readonly path: string;
  readonly text: string;
}

const readme = `# Live state of this folder

The manifests below this folder follow live Kubernetes objects: an edit made in the cluster is written into the very
document that describes the object. They are ordinary manifests. Edit them, move them and delete them like any other
file; an object is found by its kind, namespace and name, never by its path.

- One changed value is one changed line. Comments, order and style of a document stay as they are.
- Paths that must not be read or written can be listed in \`${ignoreFileName}\`.
`;

const ignoreFile = `# Paths below this folder that are neither read nor written. Same syntax as .gitignore, last match wins.
# A pattern that covers the whole folder (such as a lone star) is refused.
#
# drafts/
# *.example.yaml
`;

/** Files for a folder that does not exist on the branch yet. Never written over existing ones, never deleted. */
export function bootstrapFiles(): BootstrapFile[] {
  return [
    { path: 'README.md', text: readme },
    { path: ignoreFileName, text: ignoreFile },
  ];
}

/**
 * A `.sops.yaml` for the folder. Recipients are age public keys; a rule that stands in the repository wins over it.
 */
export function sopsConfig(recipients: readonly string[]): BootstrapFile {
  const lines = [
    'creation_rules:',
    "  - path_regex: '\\.sops\\.ya?ml$'",
    "    encrypted_regex: '^(data|stringData)$'",
    '    age: >-',
    ...recipients.map((one, index) => `      ${one}${index < recipients.length - 1 ? ',' : ''}`),
  ];
  return { path: '.sops.yaml', text: `${lines.join('\n')}\n` };
}
