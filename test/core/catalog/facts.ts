/** Discovery facts for tests. */
import type { FollowPolicy, ServedResource } from '../../../src/core/catalog/index.ts';

export function served(name: string, changes: Partial<ServedResource> = {}): ServedResource {
  const [resource = '', version = 'v1', ...group] = name.split('.');
  return {
    group: group.join('.'),
    version,
    resource,
    kind: resource.charAt(0).toUpperCase() + resource.slice(1, -1),
    namespaced: true,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    preferred: true,
    subresources: [],
    origin: 'builtin',
    ...changes,
  };
}

export const policy: FollowPolicy = {
  isSensitive: (group, resource) => group === '' && resource === 'secrets',
  sensitiveSupported: true,
};
