/** Which kinds reach Git only encrypted, for commands that have no discovery. */
import { parseApiVersion } from '../core/identity.ts';
import { builtinResource, pluralOf, type ResourceType } from '../core/plan/index.ts';
import { isSensitiveType } from '../core/sealed/index.ts';

/** `list`: as `--additional-sensitive-resources` takes it, beside core Secrets. */
export function sensitiveKinds(
  list: string | undefined,
  resourceOf: (apiVersion: string, kind: string) => ResourceType = guessedResource,
): (apiVersion: string, kind: string) => boolean {
  const names = (list ?? '').split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
  const isListed = isSensitiveType(names);
  return (apiVersion, kind) =>
    isListed(parseApiVersion(apiVersion).group, resourceOf(apiVersion, kind).resource);
}

/** Without a cluster, a kind that nobody describes gets the plural that the API conventions give it. */
export function guessedResource(apiVersion: string, kind: string): ResourceType {
  return builtinResource(apiVersion, kind) ?? { resource: pluralOf(kind), namespaced: true };
}
