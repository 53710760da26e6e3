/**
 * Whether the folder as a whole can be written, and what every object of it is refused for when it cannot.
 */
import { describeObject } from '../identity.ts';
import { type Refusal, type RefusalReason, refuse } from '../refusal.ts';
import type { FolderIndex } from './folder-index.ts';
import { ignoreFileName } from './role.ts';
import { joinPath } from './tree.ts';

const maxNamed = 20;

export type FolderLayout =
  | { readonly kind: 'plain' }
  /** Every object that would be written is refused for this, one by one; nothing to write is no refusal. */
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly path: string;
      readonly message: string;
    }
  /** The folder is closed, whether or not there is something to write. */
  | { readonly kind: 'closed'; readonly refusals: readonly Refusal[] };

export function folderLayout(index: FolderIndex): FolderLayout {
  const kustomization = index.kustomizations[0];
  if (kustomization !== undefined) {
    return {
      kind: 'refused',
      reason: 'UnsupportedKustomize',
      path: kustomization,
      message: `${kustomization} makes this a kustomize folder, and there is no kustomize here to build it with`,
    };
  }
  if (index.duplicates.length > 0) {
    return { kind: 'closed', refusals: index.duplicates.slice(0, maxNamed).map((some) => duplicate(some)) };
  }
  const pattern = index.ignore.refused[0];
  if (pattern !== undefined) {
    const path = joinPath(index.folder, ignoreFileName);
    return {
      kind: 'refused',
      reason: 'InvalidIgnorePattern',
      path,
      message: `${path} holds the pattern ${JSON.stringify(pattern)}, which would hide the whole folder; remove it or name what to ignore`,
    };
  }
  return { kind: 'plain' };
}

function duplicate(some: FolderIndex['duplicates'][number]): Refusal {
  const [first, second] = some;
  const object = first?.id ?? { group: '', kind: '', namespace: '', name: '' };
  const places = some.slice(0, maxNamed).map((one) => `${one.path} (document ${one.index + 1})`);
  return refuse(
    'Duplicate',
    `${describeObject(object)} is described more than once, in ${places.join(' and ')}; keep one, nothing of this folder is written until then`,
    { object, path: second?.path ?? '' },
  );
}
