/** References of a kustomization to files and folders: which are local, and where they lead. */
import { joinPath } from '../folder/index.ts';

const forge = /^(?:github\.com|gitlab\.com|bitbucket\.org|ssh\.dev\.azure\.com|dev\.azure\.com)[/:]/;

/** True for what kustomize would fetch from elsewhere. */
export function isRemote(reference: string): boolean {
  return (
    reference.includes('://') ||
    /^(?:git::|gh:)/.test(reference) ||
    /^[\w.-]+@[\w.-]+:/.test(reference) ||
    forge.test(reference)
  );
}

/** The repository path a reference leads to from a folder; undefined when it leaves the repository. */
export function resolveReference(folder: string, reference: string): string | undefined {
  if (reference.startsWith('/')) return undefined;
  const segments: string[] = [];
  for (const segment of joinPath(folder, reference).split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join('/');
}

/** How a kustomization in `folder` refers to a repository path. */
export function referenceTo(folder: string, path: string): string {
  const from = folder === '' ? [] : folder.split('/');
  const to = path.split('/');
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared += 1;
  return [...from.slice(shared).map(() => '..'), ...to.slice(shared)].join('/');
}

/** The folder of a path, '' at the root. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}
