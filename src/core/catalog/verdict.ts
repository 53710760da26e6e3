/** Whether a type may be mirrored: one table of requirements, asked in order; the first that fails is the reason. */
import { type Discovery, groupVersionKey, resourceKey, type ServedResource } from './catalog.ts';
import { isExcludedType } from './exclusions.ts';

/** Why a type is not, or not yet, followed. Also a condition message and a metric label. */
export type CatalogReason =
  | 'not-served'
  | 'discovery-degraded'
  | 'catalog-unavailable'
  | 'settling'
  | 'gvk-not-unique'
  | 'gvr-not-unique'
  | 'scope-unknown'
  | 'missing-verb'
  | 'origin-unknown'
  | 'denied-by-policy'
  | 'sensitive-unsupported'
  | 'scale-path-unresolved';

export type Verdict =
  | { readonly kind: 'followable' }
  /** Not seen just now; what was known holds for a while. */
  | { readonly kind: 'retained'; readonly reason: CatalogReason }
  /** Nothing can be said. Neither open, nor empty, nor gone. */
  | { readonly kind: 'unknown'; readonly reason: CatalogReason }
  | { readonly kind: 'refused'; readonly reason: CatalogReason };

export interface FollowPolicy {
  /** Types whose content may reach Git only encrypted. */
  isSensitive(group: string, resource: string): boolean;
  /** Whether encryption is there at all. */
  readonly sensitiveSupported: boolean;
}

interface Subject {
  readonly resource: ServedResource;
  readonly all: Uniqueness;
  readonly policy: FollowPolicy;
}

interface Uniqueness {
  readonly kinds: ReadonlyMap<string, number>;
  readonly resources: ReadonlyMap<string, number>;
}

const neededVerbs = ['get', 'list', 'watch'] as const;

/** The requirements a served type has to meet, in the order of the funnel. */
const requirements: readonly {
  readonly reason: CatalogReason;
  readonly fails: (subject: Subject) => boolean;
}[] = [
  { reason: 'gvk-not-unique', fails: ({ resource, all }) => (all.kinds.get(kindKey(resource)) ?? 0) > 1 },
  {
    reason: 'gvr-not-unique',
    fails: ({ resource, all }) => (all.resources.get(resourceKey(resource)) ?? 0) > 1,
  },
  { reason: 'scope-unknown', fails: ({ resource }) => resource.namespaced === undefined },
  {
    reason: 'missing-verb',
    fails: ({ resource }) => !neededVerbs.every((verb) => resource.verbs.includes(verb)),
  },
  { reason: 'origin-unknown', fails: ({ resource }) => resource.origin === 'unknown' },
  { reason: 'denied-by-policy', fails: ({ resource }) => isExcludedType(resource.group, resource.resource) },
  {
    reason: 'sensitive-unsupported',
    fails: ({ resource, policy }) =>
      policy.isSensitive(resource.group, resource.resource) && !policy.sensitiveSupported,
  },
  {
    reason: 'scale-path-unresolved',
    fails: ({ resource }) => resource.subresources.includes('scale') && resource.scalePath === undefined,
  },
];

/** The verdict of every served type, by `resourceKey`. Time plays no part here; see `state.ts`. */
export function judgeServed(
  { resources }: Discovery,
  policy: FollowPolicy,
): Map<string, { readonly resource: ServedResource; readonly verdict: Verdict }> {
  const all = { kinds: count(resources.map(kindKey)), resources: count(resources.map(resourceKey)) };
  return new Map(
    resources.map((resource) => {
      const failed = requirements.find(({ fails }) => fails({ resource, all, policy }));
      const verdict: Verdict =
        failed === undefined ? { kind: 'followable' } : { kind: 'refused', reason: failed.reason };
      return [resourceKey(resource), { resource, verdict }];
    }),
  );
}

function kindKey(resource: ServedResource): string {
  return `${groupVersionKey(resource)}/${resource.kind}`;
}

function count(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
