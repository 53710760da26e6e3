/**
 * Which GitTargets a question is about: the same repository in any spelling, the same branch, an overlapping path
 * (contracts 6), and of those only the ones that may close a door at all.
 */
import { normaliseRepositoryUrl } from '../repository-url.ts';
import type { GateQuestion, GateTarget } from './question.ts';

export type Coverage =
  /** Nobody writes there: the door is open. */
  | { readonly kind: 'none' }
  /** HEAD was asked for; which branch that is must be known first. `repository` is a key. */
  | { readonly kind: 'default-branch'; readonly repository: string; readonly targets: readonly GateTarget[] }
  | { readonly kind: 'covered'; readonly branch: string; readonly targets: readonly GateTarget[] };

/** @param defaultBranch of the repository, when it is known */
export function coverageOf(
  question: GateQuestion,
  targets: readonly GateTarget[],
  defaultBranch: string | undefined,
): Coverage {
  const repository = normaliseRepositoryUrl(question.repoURL);
  if (repository === undefined) return { kind: 'none' };
  const path = cleanPath(question.path);
  const here = targets.filter(
    (target) =>
      target.repository === repository &&
      overlaps(path, target.path) &&
      mayClose(target, question.application.namespace),
  );
  if (here.length === 0) return { kind: 'none' };
  const named = branchNamed(question.targetRevision);
  const branch = named ?? defaultBranch;
  if (branch === undefined) return { kind: 'default-branch', repository, targets: here };
  const covered = here.filter((target) => target.branch === branch);
  return covered.length === 0 ? { kind: 'none' } : { kind: 'covered', branch, targets: covered };
}

/**
 * No tenant closes another one's door: only a valid target whose credential was verified counts, in its own namespace or
 * where its KubeProvider admits it. A target that writes nothing has nothing to protect.
 */
export function mayClose(target: GateTarget, applicationNamespace: string): boolean {
  const admitted = target.namespace === applicationNamespace || target.crossNamespace;
  return target.validated && target.credentialVerified && target.writes && admitted;
}

/** The branch a revision names; undefined: the default branch. A tag, a commit or a range equals no branch by name. */
function branchNamed(targetRevision: string): string | undefined {
  if (targetRevision === '' || targetRevision === 'HEAD') return undefined;
  return targetRevision.startsWith(headsPrefix) ? targetRevision.slice(headsPrefix.length) : targetRevision;
}

const headsPrefix = 'refs/heads/';

/** `./apps/shop/` -> `apps/shop`; `.` and `/` -> ''. */
function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

function overlaps(a: string, b: string): boolean {
  return a === '' || b === '' || a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
