/**
 * Nobody starves: a superseded answer grants its tip, and what descends from it, one open answer per Kustomization or
 * Application within two minutes (contracts 6). Edits made after the mark of that answer belong to the apply window.
 */

/** `Mark` is whatever opens an apply window later; it is handed back unchanged. */
export interface Grant<Mark> {
  /** Repository, branch and source or Application that were asked about. */
  readonly scope: string;
  readonly tip: string;
  readonly mark: Mark;
  readonly until: number;
  /** Appliers that used it. */
  readonly used: ReadonlySet<string>;
}

export const grantMs = 120_000;
/** Of one scope; the oldest goes first. */
const grantsPerScope = 8;

/** Adds a grant. What it replaces or what has run out is `dropped`: those marks are no longer needed. */
export function addGrant<Mark>(
  grants: readonly Grant<Mark>[],
  wanted: { readonly scope: string; readonly tip: string; readonly mark: Mark },
  now: number,
): { readonly grants: readonly Grant<Mark>[]; readonly dropped: readonly Grant<Mark>[] } {
  const { live, dropped } = expire(grants, now);
  const same = live.find(({ scope, tip }) => scope === wanted.scope && tip === wanted.tip);
  const added: Grant<Mark> = { ...wanted, until: now + grantMs, used: same?.used ?? new Set() };
  const others = live.filter((one) => one !== same);
  const ofScope = others.filter(({ scope }) => scope === wanted.scope);
  const crowded = ofScope.slice(0, Math.max(0, ofScope.length - grantsPerScope + 1));
  return {
    grants: [...others.filter((one) => !crowded.includes(one)), added],
    dropped: [...dropped, ...(same === undefined ? [] : [same]), ...crowded],
  };
}

/** Grants that one of these appliers may still use, the newest first. */
export function usableGrants<Mark>(
  grants: readonly Grant<Mark>[],
  asked: { readonly scope: string; readonly appliers: readonly string[] },
  now: number,
): readonly Grant<Mark>[] {
  return grants
    .filter(
      ({ scope, until, used }) =>
        scope === asked.scope && until > now && asked.appliers.some((applier) => !used.has(applier)),
    )
    .toReversed();
}

/** Uses a grant for one of the appliers: each gets one. */
export function useGrant<Mark>(
  grants: readonly Grant<Mark>[],
  grant: Grant<Mark>,
  appliers: readonly string[],
): readonly Grant<Mark>[] {
  const user = appliers.find((applier) => !grant.used.has(applier));
  if (user === undefined) return grants;
  return grants.map((one) =>
    one.scope === grant.scope && one.tip === grant.tip ? { ...one, used: new Set([...one.used, user]) } : one,
  );
}

export function expire<Mark>(
  grants: readonly Grant<Mark>[],
  now: number,
): { readonly live: readonly Grant<Mark>[]; readonly dropped: readonly Grant<Mark>[] } {
  return {
    live: grants.filter(({ until }) => until > now),
    dropped: grants.filter(({ until }) => until <= now),
  };
}
