/**
 * Ways past the gate of Argo CD: syncs that skip hooks, and Applications without a gate (contracts 8). Each has a way out,
 * which the GitTarget's condition names.
 */

/** How the newest sync of an Application went, as far as the gate is concerned. */
export interface LastSync {
  /** It was done, not only tried. */
  readonly applied: boolean;
  readonly automated: boolean;
  /** Only named resources. */
  readonly partial: boolean;
  readonly applyStrategy: boolean;
  /** It applied a commit that had been applied before the one it replaced. */
  readonly goesBack: boolean;
  /** What its result says of a SyncGate. */
  readonly gate: 'hook' | 'resource' | 'none';
  /** The gate's object is older than the sync: it was not made anew for it. */
  readonly oldGate: boolean;
}

export interface GatedApplication {
  /** `namespace/name`. */
  readonly application: string;
  readonly selfHeal: boolean;
  /** Annotation configbutler.ai/door: open. */
  readonly doorOpen: boolean;
  /** The GitTarget may hold back an Application of its namespace. */
  readonly admitted: boolean;
  /** We see the SyncGates of the cluster it applies to. */
  readonly reached: boolean;
  /** Undefined: it was never synced. */
  readonly lastSync: LastSync | undefined;
}

/** The worst first. */
const order = [
  'NotAdmitted',
  'UnsupportedDestination',
  'DoorOpen',
  'SelfHeal',
  'Rollback',
  'StrategyApply',
  'SelectiveSync',
  'NoSyncGate',
  'HookReplaced',
] as const;

export type Bypass = (typeof order)[number];

/** For sorting: the worst first. */
export function compareBypasses(one: Bypass, other: Bypass): number {
  return order.indexOf(one) - order.indexOf(other);
}

/** The ways past the gate that an Application has or that its newest sync took; the worst first. */
export function bypassesOf({ selfHeal, doorOpen, admitted, reached, lastSync }: GatedApplication): Bypass[] {
  const seen = lastSync?.applied ? wayOf(lastSync, selfHeal) : undefined;
  return [
    ...(admitted ? [] : (['NotAdmitted'] as const)),
    ...(reached ? [] : (['UnsupportedDestination'] as const)),
    ...(doorOpen ? (['DoorOpen'] as const) : []),
    ...(selfHeal ? (['SelfHeal'] as const) : []),
    ...(seen === undefined ? [] : [seen]),
  ];
}

function wayOf(sync: LastSync, selfHeal: boolean): Bypass | undefined {
  if (sync.partial) return sync.automated && selfHeal ? undefined : 'SelectiveSync';
  if (sync.applyStrategy) return sync.goesBack ? 'Rollback' : 'StrategyApply';
  if (sync.gate === 'none') return 'NoSyncGate';
  return sync.gate === 'resource' || sync.oldGate ? 'HookReplaced' : undefined;
}

const ways: Readonly<Record<Bypass, string>> = {
  NotAdmitted:
    'it is in another namespace, so its syncs are not held back; set allowCrossNamespace.appliers on the KubeProvider',
  UnsupportedDestination:
    'it applies to a cluster the sidecar does not see; give it a KubeProvider for that cluster',
  DoorOpen:
    'the annotation configbutler.ai/door: open lets every sync pass unchecked; remove it when the emergency is over',
  SelfHeal:
    'self-heal applies over live edits at once and skips hooks; set spec.syncPolicy.automated.selfHeal to false',
  Rollback:
    'its newest sync was a rollback, which skips hooks; sync the wanted commit by hand instead, with the annotation configbutler.ai/allow-revision on the Application',
  StrategyApply:
    'its newest sync used the strategy apply, which skips hooks; sync without --strategy apply (and without "Apply only")',
  SelectiveSync: 'its newest sync named single resources, which skips hooks; sync the whole Application',
  NoSyncGate: 'its folder has no SyncGate; add one with gitops-reverser gate init',
  HookReplaced:
    'its SyncGate was not made anew for the newest sync; keep the annotations hook: PreSync and hook-delete-policy: BeforeHookCreation on it',
};

/** For people: whose way it is, and how to end it. */
export function describeBypass(application: string, bypass: Bypass): string {
  return `Application ${application}: ${ways[bypass]}`;
}
