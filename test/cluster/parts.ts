/** Where the programs built by build.sh are. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type PartName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'kustomize'
  | 'sops'
  | 'age-keygen'
  | 'source-controller'
  | 'kustomize-controller'
  | 'flux'
  | 'argocd'
  | 'argocd-server'
  | 'argocd-application-controller'
  | 'argocd-repo-server'
  | 'argocd-cmp-server';

export type PartGroup = 'kubernetes' | 'tools' | 'flux' | 'argocd' | 'flux-cli';

const build = fileURLToPath(new URL('build.sh', import.meta.url));
const found = new Map<string, string>();

/** The absolute path of a built program. Throws, saying what to run, when it is not built. */
export function part(name: PartName): string {
  return ask('--print-path', name);
}

/** The folder with a group's programs, for a PATH. */
export function partsFolder(group: PartGroup): string {
  return ask('--print-bin', group);
}

// Only the script knows the cache keys. It takes a moment, so its answers are kept.
function ask(option: string, name: string): string {
  const known = found.get(`${option} ${name}`);
  if (known !== undefined) {
    return known;
  }
  const { status, stdout, stderr } = spawnSync('bash', [build, option, name], { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`${name} cannot be used: ${(stderr ?? 'bash is not in PATH').trim()}`);
  }
  const path = stdout.trim();
  found.set(`${option} ${name}`, path);
  return path;
}
