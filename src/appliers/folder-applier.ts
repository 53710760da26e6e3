/**
 * Reads what an applier says of a folder: whether it applies it, and which revisions it may have applied. Reads only.
 *
 * Needed where no handled state is left to compare with (contracts 1). An applier we may not read is unknown, which is not
 * the same as none.
 */
import type { Substitution } from '../core/plan/index.ts';
import type { ApplierOwner } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import { readApplication } from './argocd.ts';
import { readKustomization } from './flux.ts';

/** The folder a GitTarget writes. */
export interface FolderRef {
  /** `key` of the normalised repository URL. */
  readonly repository: string;
  readonly branch: string;
  /** '' is the root. */
  readonly path: string;
}

export type FolderApplier =
  /** It applies this folder; `revisions` are commits, newest first, that may be what the cluster holds. */
  | {
      readonly kind: 'applies';
      readonly revisions: readonly string[];
      /** What it fills in after the build. */
      readonly substitution?: Substitution;
      /** Its path is the very folder, not one above or below. */
      readonly isExact?: boolean;
    }
  /** It applies something else: for this folder nobody is known. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unknown'; readonly message: string };

export function readFolderApplier(
  client: KubeClient,
  owner: ApplierOwner,
  folder: FolderRef,
): Promise<FolderApplier> {
  return owner.kind === 'Flux'
    ? readKustomization(client, owner, folder)
    : readApplication(client, owner, folder);
}

/** True when an applier of `applied` also applies `folder`, or a part of it. Both without slashes at the ends. */
export function pathsOverlap(applied: string, folder: string): boolean {
  if (applied === '' || folder === '' || applied === folder) return true;
  return applied.startsWith(`${folder}/`) || folder.startsWith(`${applied}/`);
}

/** `./apps/shop/` -> `apps/shop`; `.`, `./` and '' -> ''. */
export function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

/** Commit ids only, each once. */
export function commitIds(revisions: readonly (string | undefined)[]): string[] {
  const ids = revisions.flatMap((revision) => /(?:^|[:/@])([0-9a-f]{40})$/.exec(revision ?? '')?.[1] ?? []);
  return [...new Set(ids)];
}
