/**
 * The catalog over time: a new type has to stay for 5 s before it is followed, a type that goes away is kept for 60 s,
 * and a group that cannot be asked keeps its last facts. A function of what was, what was seen, and now.
 */
import { type Discovery, groupVersionKey, type ServedResource } from './catalog.ts';
import { type CatalogReason, type FollowPolicy, judgeServed, type Verdict } from './verdict.ts';

export const activationMs = 5_000;
export const removalGraceMs = 60_000;

export interface CatalogEntry {
  readonly resource: ServedResource;
  readonly verdict: Verdict;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

export interface Catalog {
  /** By `resourceKey`. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  /** False until discovery answered once; nothing may be concluded before. */
  readonly known: boolean;
  /** The last look answered for every group: what it does not hold is not served. */
  readonly complete: boolean;
  readonly failed: Discovery['failed'];
}

export const noCatalog: Catalog = { entries: new Map(), known: false, complete: false, failed: [] };

/**
 * @param discovery what was just seen; undefined when the server could not be asked at all
 * @param now milliseconds, on the same clock each time
 */
export function nextCatalog(
  previous: Catalog,
  discovery: Discovery | undefined,
  now: number,
  policy: FollowPolicy,
): Catalog {
  const seen = discovery === undefined ? new Map() : judgeServed(discovery, policy);
  const failedGroups = new Set(discovery?.failed.map(groupVersionKey));
  const entries = new Map<string, CatalogEntry>();
  for (const [key, { resource, verdict }] of seen) {
    const before = previous.entries.get(key);
    // What is there at the first look is not new: a restart must not wait.
    const firstSeenAt = before?.firstSeenAt ?? (previous.known ? now : now - activationMs);
    const settled = now - firstSeenAt >= activationMs || verdict.kind !== 'followable';
    entries.set(key, {
      resource,
      verdict: settled ? verdict : { kind: 'unknown', reason: 'settling' },
      firstSeenAt,
      lastSeenAt: now,
    });
  }
  for (const [key, entry] of previous.entries) {
    if (seen.has(key)) continue;
    const missing = whyMissing(entry, discovery !== undefined, failedGroups);
    const verdict = whileMissing(entry, missing, now);
    if (verdict !== undefined) entries.set(key, { ...entry, verdict });
  }
  return {
    entries,
    known: previous.known || discovery !== undefined,
    complete: discovery !== undefined && discovery.failed.length === 0,
    failed: discovery?.failed ?? previous.failed,
  };
}

function whyMissing(
  entry: CatalogEntry,
  answered: boolean,
  failedGroups: ReadonlySet<string>,
): CatalogReason {
  if (!answered) return 'catalog-unavailable';
  return failedGroups.has(groupVersionKey(entry.resource)) ? 'discovery-degraded' : 'not-served';
}

// Undefined: forget it. Only a type that the server says it does not serve is ever forgotten.
function whileMissing(entry: CatalogEntry, reason: CatalogReason, now: number): Verdict | undefined {
  const { verdict, lastSeenAt } = entry;
  const old = now - lastSeenAt >= removalGraceMs;
  const wasFollowed = verdict.kind === 'followable' || verdict.kind === 'retained';
  if (reason === 'not-served') {
    if (old) return undefined;
    return wasFollowed ? { kind: 'retained', reason } : verdict;
  }
  if (verdict.kind === 'refused') return verdict;
  return wasFollowed && !old ? { kind: 'retained', reason } : { kind: 'unknown', reason };
}

/** The catalog as it is where nothing can be encrypted. */
export function withoutSensitive(catalog: Catalog, isSensitive: FollowPolicy['isSensitive']): Catalog {
  const entries = [...catalog.entries].map(([key, entry]): [string, CatalogEntry] => {
    const { group, resource } = entry.resource;
    if (entry.verdict.kind === 'refused' || !isSensitive(group, resource)) return [key, entry];
    return [key, { ...entry, verdict: { kind: 'refused', reason: 'sensitive-unsupported' } }];
  });
  return { ...catalog, entries: new Map(entries) };
}
