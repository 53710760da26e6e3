/** Names of the GitBranches we make, and which branch names a GitProvider allows. Pure. */
import { createHash } from 'node:crypto';
import picomatch from 'picomatch';

const maxName = 253;
const hashLength = 8;

/**
 * `<provider>-<branch>`, everything but letters and digits of the branch as `-`. Two branches may give the same name; the
 * second one gets a hash.
 */
export function gitBranchName(provider: string, branch: string, taken: (name: string) => boolean): string {
  const slug = branch
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const plain = `${provider}-${slug}`;
  if (slug !== '' && plain.length <= maxName && !taken(plain)) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([provider, branch]))
    .digest('hex')
    .slice(0, hashLength);
  const stem = plain.slice(0, maxName - hashLength - 1).replace(/[-.]+$/, '');
  return `${stem}-${hash}`;
}

/** `*` stays inside a segment, `**` does not. */
export function isBranchAllowed(branch: string, allowedBranches: readonly string[]): boolean {
  return allowedBranches.some(
    (pattern) => pattern === branch || picomatch.isMatch(branch, pattern, { dot: true, nonegate: true }),
  );
}
