/** From the items of watch rules to the collections they mean. */
import { resourceKey, type ServedResource } from './catalog.ts';
import type { Catalog, CatalogEntry } from './state.ts';
import type { CatalogReason } from './verdict.ts';

/** One item of `spec.rules[]`; what is absent was not stated. */
export interface RuleItem {
  /** `''` is the core group, `*` all. Absent: whichever group serves the name, if it is only one. */
  readonly apiGroups?: readonly string[];
  /** `*` all served. Absent: the preferred version. */
  readonly apiVersions?: readonly string[];
  /** Plural names in any case, or `*`. */
  readonly resources: readonly string[];
}

export interface ResolvedCollection {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface ResolutionProblem {
  readonly kind: /** Nothing is known yet, or not about this group. It may resolve by itself. */
    | 'catalog-not-ready'
    | 'not-served'
    /** Several groups serve the name and the item states none. */
    | 'ambiguous'
    /** The other kind of rule watches it. */
    | 'wrong-scope'
    /** Served, but not to be mirrored. */
    | 'not-followable';
  readonly resource: string;
  readonly reason?: CatalogReason;
  readonly message: string;
}

export interface Resolution {
  readonly collections: readonly ResolvedCollection[];
  readonly problems: readonly ResolutionProblem[];
}

export type RuleScope = 'Namespaced' | 'Cluster';

/** Resolves the items of one rule. Names that are spelled out and cannot be followed are problems; `*` just leaves them out. */
export function resolveRule(catalog: Catalog, items: readonly RuleItem[], scope: RuleScope): Resolution {
  const collections = new Map<string, ResolvedCollection>();
  const problems: ResolutionProblem[] = [];
  for (const item of items) {
    for (const name of item.resources) {
      const found = name === '*' ? resolveAll(catalog, item, scope) : resolveName(catalog, item, name, scope);
      problems.push(...found.problems);
      for (const collection of found.collections) collections.set(resourceKey(collection), collection);
    }
  }
  return { collections: [...collections.values()], problems };
}

function resolveAll(catalog: Catalog, item: RuleItem, scope: RuleScope): Resolution {
  if (!catalog.known)
    return problem('catalog-not-ready', '*', 'the API server has not answered discovery yet');
  const entries = candidates(catalog, item).filter(({ resource }) => isInScope(resource, scope));
  const collections = entries.filter(isUsable).map(({ resource }) => toCollection(resource));
  return { collections, problems: lostSight(entries) };
}

function resolveName(catalog: Catalog, item: RuleItem, name: string, scope: RuleScope): Resolution {
  if (!catalog.known)
    return problem('catalog-not-ready', name, 'the API server has not answered discovery yet');
  const wanted = name.toLowerCase();
  const entries = candidates(catalog, item).filter(({ resource }) => resource.resource === wanted);
  if (entries.length === 0) return notFound(catalog, item, name);
  const inScope = entries.filter(({ resource }) => isInScope(resource, scope));
  if (inScope.length === 0) {
    const other =
      scope === 'Cluster' ? 'namespaced: use a WatchRule' : 'cluster-scoped: use a ClusterWatchRule';
    return problem('wrong-scope', name, `${name} is ${other}`);
  }
  const usable = inScope.filter(isUsable);
  if (usable.length === 0) return notUsable(inScope, name);
  const groups = [...new Set(usable.map(({ resource }) => resource.group))].sort();
  if (item.apiGroups === undefined && groups.length > 1) {
    const named = groups.map((group) => (group === '' ? '""' : group)).join(', ');
    return problem('ambiguous', name, `${name} is served by several groups (${named}): state apiGroups`);
  }
  return { collections: usable.map(({ resource }) => toCollection(resource)), problems: lostSight(inScope) };
}

// Types that were there and cannot be seen just now. Leaving them out silently would look like an empty rule.
function lostSight(entries: readonly CatalogEntry[]): ResolutionProblem[] {
  return entries.flatMap(({ resource, verdict }) =>
    verdict.kind === 'unknown' && verdict.reason !== 'settling'
      ? problem(
          'catalog-not-ready',
          resource.resource,
          `${resourceKey(resource)}: ${verdict.reason}`,
          verdict.reason,
        ).problems
      : [],
  );
}

function notFound(catalog: Catalog, item: RuleItem, name: string): Resolution {
  const unheard = catalog.failed.find(
    ({ group, version }) => matchesGroup(item, group) && (matchesVersion(item, version) ?? true),
  );
  if (unheard !== undefined || !catalog.complete) {
    const where =
      unheard === undefined
        ? 'discovery is incomplete'
        : `${unheard.group}/${unheard.version} does not answer`;
    return problem('catalog-not-ready', name, `${name} was not found, but ${where}`);
  }
  return problem('not-served', name, `the API server serves no ${name}${describeWhere(item)}`);
}

function notUsable(entries: readonly CatalogEntry[], name: string): Resolution {
  const [first] = entries;
  if (first === undefined || first.verdict.kind === 'followable') return { collections: [], problems: [] };
  const { kind, reason } = first.verdict;
  return kind === 'refused'
    ? problem('not-followable', name, `${name} cannot be mirrored: ${reason}`, reason)
    : problem('catalog-not-ready', name, `${name} is not settled yet: ${reason}`, reason);
}

// Versions: those stated, else the one version the server prefers for the resource.
function candidates(catalog: Catalog, item: RuleItem): CatalogEntry[] {
  return [...catalog.entries.values()].filter(
    ({ resource }) =>
      matchesGroup(item, resource.group) && (matchesVersion(item, resource.version) ?? resource.preferred),
  );
}

function matchesGroup({ apiGroups }: RuleItem, group: string): boolean {
  return apiGroups === undefined || apiGroups.includes('*') || apiGroups.includes(group);
}

// Undefined: the item does not say.
function matchesVersion({ apiVersions }: RuleItem, version: string): boolean | undefined {
  if (apiVersions === undefined) return undefined;
  return apiVersions.includes('*') || apiVersions.includes(version);
}

function isUsable({ verdict }: CatalogEntry): boolean {
  return verdict.kind === 'followable' || verdict.kind === 'retained';
}

function isInScope({ namespaced }: ServedResource, scope: RuleScope): boolean {
  return namespaced === undefined || namespaced === (scope === 'Namespaced');
}

function toCollection({ group, version, resource, kind, namespaced }: ServedResource): ResolvedCollection {
  return { group, version, resource, kind, namespaced: namespaced ?? false };
}

function describeWhere({ apiGroups, apiVersions }: RuleItem): string {
  const groups = apiGroups?.map((group) => (group === '' ? '""' : group)).join(', ');
  const inGroups = groups === undefined ? '' : ` in ${groups}`;
  return apiVersions === undefined ? inGroups : `${inGroups} as ${apiVersions.join(', ')}`;
}

function problem(
  kind: ResolutionProblem['kind'],
  resource: string,
  message: string,
  reason?: CatalogReason,
): Resolution {
  return {
    collections: [],
    problems: [{ kind, resource, message, ...(reason === undefined ? {} : { reason }) }],
  };
}
