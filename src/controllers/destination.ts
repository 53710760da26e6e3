/** Who owns which folder: no two GitTargets may write the same one, or one inside the other. Pure. */
import { type Aged, byAge, keyOf } from './object-key.ts';

export interface Destination extends Aged {
  /** Equal for all addresses of one repository. */
  readonly repository: string;
  readonly branch: string;
  /** As `normalFolder` gives it. */
  readonly folder: string;
}

/** '' for the repository root; no slash at either end, no empty or `.` segments. */
export function normalFolder(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

/** By key of each target that has to give way: the key of the older one it collides with. */
export function destinationLosers(destinations: readonly Destination[]): Map<string, string> {
  const losers = new Map<string, string>();
  const kept = new Map<string, Destination[]>();
  for (const destination of [...destinations].sort(byAge)) {
    const place = JSON.stringify([destination.repository, destination.branch]);
    const owners = kept.get(place) ?? [];
    const owner = owners.find(({ folder }) => overlaps(folder, destination.folder));
    // One that gives way owns nothing, so it is in nobody's way.
    if (owner !== undefined) losers.set(keyOf(destination), keyOf(owner));
    else kept.set(place, [...owners, destination]);
  }
  return losers;
}

function overlaps(a: string, b: string): boolean {
  return a === b || isAbove(a, b) || isAbove(b, a);
}

function isAbove(upper: string, lower: string): boolean {
  return upper === '' || lower.startsWith(`${upper}/`);
}
