/**
 * The role of a file below the target's folder: which files hold manifests, and which are none of our business.
 */
import type { IgnoreRules } from './ignore.ts';
import { baseName, type FileMode } from './tree.ts';

export type Role =
  /** `*.yaml` and `*.yml`: read for records. */
  | 'manifest'
  /** kustomization.yaml, kustomization.yml, Kustomization. */
  | 'kustomization'
  /** README.md and .sops.yaml, at any depth. Cannot be hidden by an ignore pattern. */
  | 'operator'
  /** .gittargetignore at the top of the folder. */
  | 'ignore-file'
  /** Documentation and git's own files. */
  | 'passenger'
  /** Covered by .gittargetignore: never read, never written. */
  | 'ignored'
  | 'symlink'
  | 'submodule'
  /** Anything else. Left alone; it refuses nothing. */
  | 'foreign';

export const ignoreFileName = '.gittargetignore';

const kustomizations = new Set(['kustomization.yaml', 'kustomization.yml', 'Kustomization']);
const operatorFiles = new Set(['README.md', '.sops.yaml']);
const passengers =
  /^(?:.*\.(?:md|markdown)|(?:LICENSE|LICENCE|COPYING|NOTICE)(?:\.txt)?|\.gitignore|\.gitattributes|\.gitkeep|\.keep)$/;
const manifests = /\.ya?ml$/;

/**
 * The one role of a file. `path` is relative to the target's folder. The order of the tests is part of the behaviour:
 * a symbolic link is never anything else, and build files cannot be hidden by a pattern.
 */
export function roleOf(path: string, mode: FileMode, ignore: IgnoreRules): Role {
  if (mode === '120000') return ignore.patternFor(path) === undefined ? 'symlink' : 'ignored';
  if (mode === '160000') return 'submodule';
  if (path === ignoreFileName) return 'ignore-file';
  const name = baseName(path);
  if (!ignore.coversFolderOf(path)) {
    if (kustomizations.has(name)) return 'kustomization';
    if (operatorFiles.has(name)) return 'operator';
  }
  if (ignore.patternFor(path) !== undefined) return 'ignored';
  if (manifests.test(name)) return 'manifest';
  return passengers.test(name) ? 'passenger' : 'foreign';
}
