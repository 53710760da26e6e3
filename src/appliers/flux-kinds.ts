/** The kinds of Flux we read. */
import { type Json, type JsonObject, valueAt } from '../core/json.ts';

export const kustomizations = {
  group: 'kustomize.toolkit.fluxcd.io',
  version: 'v1',
  resource: 'kustomizations',
} as const;
export const gitRepositories = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  resource: 'gitrepositories',
} as const;

export const externalArtifacts = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  resource: 'externalartifacts',
} as const;
export const artifactGenerators = {
  group: 'source.extensions.fluxcd.io',
  version: 'v1beta1',
  resource: 'artifactgenerators',
} as const;

/** A text that is not empty. */
export function textAt(object: JsonObject, ...path: string[]): string | undefined {
  const value: Json | undefined = valueAt(object, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The branch a GitRepository follows; undefined when it follows a tag, a range of versions or one commit. `ref.name` wins
 * over the others, and a commit of a branch is no longer that branch.
 */
export function branchOf(source: JsonObject): string | undefined {
  const ref = (field: string) => textAt(source, 'spec', 'ref', field);
  const name = ref('name');
  if (name !== undefined) return name.startsWith(heads) ? name.slice(heads.length) : undefined;
  if (ref('commit') !== undefined || ref('semver') !== undefined || ref('tag') !== undefined)
    return undefined;
  return ref('branch') ?? defaultBranch;
}

const heads = 'refs/heads/';
/** Flux's own default. */
const defaultBranch = 'master';
