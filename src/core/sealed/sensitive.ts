/** Types whose content may reach Git only sealed. */

/**
 * Core Secrets, and what is listed as `resource`, `group/resource` or `resource.group`, in any case and whatever the version.
 */
export function isSensitiveType(listed: readonly string[]): (group: string, resource: string) => boolean {
  const names = new Set(listed.map((name) => name.toLowerCase()));
  return (group, resource) =>
    (group === '' && resource === 'secrets') ||
    names.has(resource) ||
    (group !== '' && (names.has(`${group}/${resource}`) || names.has(`${resource}.${group}`)));
}
