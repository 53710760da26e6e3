/**
 * Every condition type and reason our kinds report, with who acts on it. Controllers take their words from here, the
 * reference pages and metric labels are made from the same tables.
 *
 * Ready repeats the reason of the condition that decides it; its own reasons are the ones listed under it.
 */
import type { ConditionStatus } from './condition.ts';

/** Who changes the situation. `sidecar`: it passes by itself; `nobody`: nothing to change. */
export type ConditionActor = 'nobody' | 'sidecar' | 'platform-operator' | 'repository-author';

export interface ReasonRow {
  readonly status: ConditionStatus;
  readonly actor: ConditionActor;
  readonly meaning: string;
}

export interface ConditionRow {
  readonly meaning: string;
  /** Not part of Ready: told beside it. */
  readonly beside?: true;
  readonly reasons: Readonly<Record<string, ReasonRow>>;
}

export type ConditionTable = Readonly<Record<string, ConditionRow>>;

function holds(meaning: string): ReasonRow {
  return { status: 'True', actor: 'nobody', meaning };
}

function waits(meaning: string, status: ConditionStatus = 'False'): ReasonRow {
  return { status, actor: 'sidecar', meaning };
}

function needs(actor: ConditionActor, meaning: string, status: ConditionStatus = 'False'): ReasonRow {
  return { status, actor, meaning };
}

const operator = 'platform-operator';
const author = 'repository-author';

const reconciling = {
  meaning: 'The sidecar is still working towards Ready. It carries the reason of Ready while it does.',
  reasons: {
    Succeeded: { status: 'False', actor: 'nobody', meaning: 'Nothing is left to do.' },
  },
} as const satisfies ConditionRow;

const stalled = {
  meaning: 'Only a change from outside helps. It carries the reason of Ready while it is True.',
  reasons: {
    Succeeded: { status: 'False', actor: 'nobody', meaning: 'Nothing is left to do.' },
    Progressing: { status: 'False', actor: 'sidecar', meaning: 'Not ready yet, but nobody needs to act.' },
  },
} as const satisfies ConditionRow;

const streamsRunning = {
  meaning: 'The watched collections are past their first snapshot and followed live.',
  reasons: {
    AllStreamsReady: holds('Every stream is live.'),
    NoResolvedTypes: holds('The rules name nothing that has to be watched.'),
    InitialReplay: waits('The first snapshot is being read.'),
    ResumeReplay: waits('A stream is being resumed where it ended.'),
    Replaying: waits('A snapshot is being read again.'),
    ExpiredResourceVersion: waits('The API server no longer has the resume point; a new snapshot follows.'),
    WatchError: waits('A watch failed and is retried.'),
    WatchNotPermitted: needs(operator, 'The identity may not list or watch the collection; grant it.'),
    NotReady: waits('Streams are not decided yet.', 'Unknown'),
  },
} as const satisfies ConditionRow;

export const gitProviderConditions = {
  Ready: {
    meaning: 'The remote answered with these credentials and the commit settings are usable.',
    reasons: {
      Succeeded: holds('The remote was listed.'),
      Checking: waits('The remote is being asked.', 'Unknown'),
      SecretNotFound: needs(operator, 'A Secret or ConfigMap that the spec names does not exist.'),
      SecretMalformed: needs(operator, 'The credentials or the known_hosts cannot be read.'),
      ConnectionFailed: needs(operator, 'The remote refused the credentials or could not be reached.'),
      InsecureTransport: needs(
        operator,
        'Credentials are never sent over http unless the sidecar is told to.',
      ),
      CommitConfigInvalid: needs(operator, 'The committer or the signing key cannot be used.'),
    },
  },
  Reconciling: reconciling,
  Stalled: stalled,
} as const satisfies ConditionTable;

export const gitBranchConditions = {
  Ready: {
    meaning: 'The branch may be written and its remote was seen.',
    reasons: {
      Succeeded: holds('The remote branch is known.'),
      NotReferenced: holds('No GitTarget uses the branch.'),
      Checking: waits('The remote is being asked.', 'Unknown'),
      GitProviderNotFound: needs(operator, 'The GitProvider does not exist.'),
      GitProviderNotReady: waits('The GitProvider is not ready.'),
      BranchNotAllowed: needs(operator, 'No pattern of allowedBranches matches the branch.'),
      Duplicate: needs(operator, 'An older GitBranch names the same branch of the same GitProvider.'),
      RemoteUnreachable: waits('The remote did not answer; it is asked again.'),
      PushRefused: needs(operator, 'The remote refuses the push; its own words are in the message.'),
      BranchGone: needs(
        author,
        'The branch existed and was deleted. Annotate the GitBranch to create it again.',
      ),
      HistoryRewritten: needs(
        author,
        'The branch shares no commit with what was published. Annotate the GitBranch to go on.',
      ),
    },
  },
  Reconciling: reconciling,
  Stalled: stalled,
} as const satisfies ConditionTable;

export const kubeProviderConditions = {
  Ready: {
    meaning: 'The connection settings are usable.',
    reasons: {
      Succeeded: holds('The provider is validated.'),
    },
  },
  Reconciling: reconciling,
  Stalled: stalled,
  Validated: {
    meaning: 'The connection can be built from the spec. No network is used for it.',
    reasons: {
      InCluster: holds('The cluster the sidecar runs in.'),
      Succeeded: holds('The kubeconfig is usable.'),
      KubeConfigSecretNotFound: needs(operator, 'The Secret does not exist in the namespace of the sidecar.'),
      KubeConfigKeyNotFound: needs(operator, 'The Secret lacks the key.'),
      KubeConfigInvalid: needs(operator, 'The kubeconfig cannot be read.'),
      KubeConfigExecNotAllowed: needs(operator, 'The kubeconfig runs a program, which is not enabled.'),
      KubeConfigInsecureTLSNotAllowed: needs(
        operator,
        'The kubeconfig skips TLS checks, which is not enabled.',
      ),
      KubeConfigFileReferenceNotAllowed: needs(operator, 'The kubeconfig names files; embed their content.'),
    },
  },
  AuditFactsReceived: {
    meaning:
      'Audit events of this cluster arrive, so commits can name their author. Absent without attribution.',
    beside: true,
    reasons: {
      Received: holds('At least one event arrived on this route.'),
      TransportUnavailable: waits('The audit listener is not up.', 'Unknown'),
      NoAuditDelivery: needs(operator, 'No event arrived on any route; set up the audit webhook.', 'Unknown'),
      RouteUnused: needs(operator, 'Events arrive, but none on this route.', 'Unknown'),
    },
  },
} as const satisfies ConditionTable;

export const gitTargetConditions = {
  Ready: {
    meaning: 'Live edits of the selected objects are written to the folder.',
    reasons: {
      Succeeded: holds('Everything is followed and written.'),
      Suspended: holds('Nothing is written because spec.suspend is true; watching goes on.'),
      ValidationFailed: needs(operator, 'Validated is False; its message says why.'),
      EncryptionNotConfigured: needs(operator, 'EncryptionConfigured is False; its message says why.'),
      WorkerUnavailable: waits('No branch worker could be started yet.'),
      RemoteUnreachable: waits('The remote does not answer; the edits wait and are pushed later.'),
      PushRefused: needs(operator, 'The remote refuses the push; the edits wait.'),
      BranchGone: needs(author, 'The branch was deleted; see its GitBranch.'),
      HistoryRewritten: needs(author, 'The branch was replaced by another history; see its GitBranch.'),
    },
  },
  Reconciling: reconciling,
  Stalled: stalled,
  Validated: {
    meaning: 'The spec fits the objects it names. Checked before anything is watched or written.',
    reasons: {
      Succeeded: holds('All references are valid.'),
      GitProviderNotFound: needs(operator, 'The GitProvider does not exist.'),
      GitBranchNotFound: needs(operator, 'The GitBranch does not exist.'),
      BranchNotAllowed: needs(operator, 'The GitProvider does not allow the branch.'),
      TargetConflict: needs(operator, 'An older GitTarget has this folder, one above it or one inside it.'),
      InvalidConfig: needs(operator, 'Placement, a message template or the window cannot be used.'),
      KubeProviderNotFound: needs(operator, 'The KubeProvider does not exist.'),
      NamespaceNotAuthorized: needs(operator, 'The KubeProvider does not admit this namespace.'),
    },
  },
  EncryptionConfigured: {
    meaning: 'Sensitive objects can be encrypted.',
    reasons: {
      Succeeded: holds('Recipients are known.'),
      NotRequired: holds('Encryption is not configured; sensitive objects are refused.'),
      MissingSecret: needs(operator, 'The Secret with the age keys does not exist or holds no key.'),
      SecretCreateDisabled: needs(
        operator,
        'A key is to be generated, but the sidecar may not write Secrets.',
      ),
      InvalidConfig: needs(operator, 'A recipient or key cannot be read.'),
      Blocked: waits('Not decided before Validated is True.', 'Unknown'),
    },
  },
  GitProviderReady: {
    meaning: 'The GitProvider is ready.',
    reasons: {
      Succeeded: holds('It is.'),
      GitProviderNotReady: waits('It is not; see its own conditions.'),
      GitProviderNotFound: needs(operator, 'It does not exist.'),
    },
  },
  KubeProviderReady: {
    meaning: 'The KubeProvider is ready.',
    reasons: {
      Succeeded: holds('It is.'),
      KubeProviderNotReady: waits('It is not; see its own conditions.'),
      KubeProviderNotFound: needs(operator, 'It does not exist.'),
    },
  },
  SourceClusterReachable: {
    meaning: 'The source cluster answers.',
    reasons: {
      LocalCluster: holds('The source is the cluster the sidecar runs in.'),
      SourceClusterReachable: holds('The remote cluster answered.'),
      AwaitingDiscovery: waits('Not asked yet.', 'Unknown'),
      SourceClusterUnreachable: needs(operator, 'The cluster does not answer.'),
      SourceClusterAuthenticationFailed: needs(operator, 'The credential is not accepted (401).'),
      SourceClusterAccessDenied: needs(operator, 'The credential may not do this (403).'),
    },
  },
  StreamsRunning: streamsRunning,
  GitPathAccepted: {
    meaning: 'The folder in Git can be edited safely.',
    reasons: {
      Succeeded: holds('The folder is accepted.'),
      NotChecked: waits('The folder was not read yet.', 'Unknown'),
      UnsupportedContent: needs(author, 'The folder holds something that cannot be edited safely.'),
      WriteBoundaryRefused: needs(
        author,
        'An edit belongs to a file outside the folder or shared with others.',
      ),
      IgnoreShadowsManagedPath: needs(author, '.gittargetignore covers a file that has to be written.'),
      MultipleSourceNamespaces: needs(
        operator,
        'serializeNamespace is false, but several namespaces feed the folder.',
      ),
      AmbiguousLayout: needs(author, 'Several kustomizations could list a new document.'),
      UnrenderedPlacement: needs(
        operator,
        'The placement puts new documents where no kustomization lists them.',
      ),
    },
  },
  RenderMatchesLive: {
    meaning: 'What the folder renders to is what the cluster has.',
    reasons: {
      Succeeded: holds('It does.'),
      Rechecking: waits('It is being rendered again.', 'Unknown'),
      RenderDoesNotMatchLive: needs(author, 'A written edit does not come out of the render.'),
    },
  },
  ApplicationsGated: {
    meaning:
      'Every Argo CD Application that applies the folder waits at its SyncGate. Absent without such an Application; not part of Ready.',
    reasons: {
      Succeeded: holds('All of them do, as far as their newest syncs show.'),
      NotAdmitted: needs(
        operator,
        'An Application of another namespace is not held back; allow it in the KubeProvider.',
      ),
      UnsupportedDestination: needs(
        operator,
        'An Application applies to a cluster whose SyncGates the sidecar does not see.',
      ),
      DoorOpen: needs(operator, 'The annotation configbutler.ai/door: open lets every sync pass.'),
      SelfHeal: needs(operator, 'Self-heal applies over live edits at once and skips hooks; switch it off.'),
      Rollback: needs(operator, 'The newest sync was a rollback, which skips hooks.'),
      StrategyApply: needs(operator, 'The newest sync used the strategy apply, which skips hooks.'),
      SelectiveSync: needs(operator, 'The newest sync named single resources, which skips hooks.'),
      NoSyncGate: needs(author, 'The folder has no SyncGate; gitops-reverser gate init adds it.'),
      HookReplaced: needs(author, 'The SyncGate was not made anew for the newest sync.'),
    },
  },
  SourcesGated: {
    meaning:
      'All that Flux applies of the folder passes the door. Absent where no Kustomization reads the branch; not part of Ready.',
    reasons: {
      Succeeded: holds('It does, as far as it can be seen.'),
      NotAdmitted: needs(
        operator,
        'A GitRepository of another namespace is not held back; allow it in the KubeProvider.',
      ),
      DoorOpen: needs(operator, 'The annotation configbutler.ai/door: open lets every apply pass.'),
      NotThroughDoor: needs(
        operator,
        'A Kustomization fetched its source elsewhere; its kustomize-controller must fetch through the door.',
      ),
      ExternalArtifact: needs(
        operator,
        'An ExternalArtifact carries the content of a GitRepository past the door.',
      ),
      Included: needs(operator, 'Another GitRepository includes the content of one that is guarded.'),
    },
  },
  CommitsTrusted: {
    meaning:
      'The GitRepositories of the branch that verify commits trust the key that signs ours. Absent where none verifies; not part of Ready.',
    reasons: {
      Succeeded: holds('They do.'),
      NotSigned: needs(operator, 'Flux takes signed commits only, and the GitProvider signs none.'),
      KeyNotTrusted: needs(operator, 'Flux does not trust the signing key of the GitProvider.'),
      TrustUnknown: waits('The keys were not read yet, or cannot be read.', 'Unknown'),
    },
  },
  LayoutResolved: {
    meaning: 'How new documents join the folder is known.',
    reasons: {
      SingleKustomization: holds('One kustomization governs the folder.'),
      None: holds('No kustomization governs the folder; files are plain.'),
      Ambiguous: needs(author, 'Several kustomizations could govern a new document.'),
    },
  },
} as const satisfies ConditionTable;

const ruleReady = {
  meaning: 'The selected objects feed the GitTarget.',
  reasons: {
    Succeeded: holds('They do.'),
    Validating: waits('The rule is being read.', 'Unknown'),
    GitTargetNotFound: needs(operator, 'The GitTarget does not exist.'),
    GitProviderNotFound: needs(operator, 'The GitProvider of the GitTarget does not exist.'),
    AccessDenied: needs(operator, 'The KubeProvider does not admit what the rule asks for.'),
    GitDestinationInvalid: needs(operator, 'The GitTarget is not valid; see its conditions.'),
  },
} as const satisfies ConditionRow;

const resourcesResolved = {
  meaning: 'The resources named by the rule are served by the source cluster.',
  reasons: {
    Succeeded: holds('They are.'),
    CatalogNotReady: waits('Discovery of the source cluster is not complete.'),
    ResourcesNotServed: needs(operator, 'A resource is not served, is ambiguous, or cannot be followed.'),
  },
} as const satisfies ConditionRow;

const gitTargetReady = {
  meaning: 'The GitTarget is ready. While it is not, its reason is repeated here.',
  reasons: {
    Succeeded: holds('It is.'),
    GitTargetNotReady: waits('It is not; see its own conditions.'),
    GitTargetNotFound: needs(operator, 'It does not exist.'),
    Failed: needs(operator, 'It is stalled and gave no reason.'),
  },
} as const satisfies ConditionRow;

export const watchRuleConditions = {
  Ready: ruleReady,
  Reconciling: reconciling,
  Stalled: stalled,
  ResourcesResolved: resourcesResolved,
  GitTargetReady: gitTargetReady,
  SourceNamespaceAuthorized: {
    meaning: 'The KubeProvider lends every namespace the rule names.',
    reasons: {
      OwnNamespace: holds("Only the rule's own namespace is named."),
      SourceNamespaceAllowed: holds('Every other namespace named is lent.'),
      NoAdmittedSourceNamespaces: holds('No namespace is left to watch.'),
      CheckingSourceNamespacePolicy: waits('The policy is being read.', 'Unknown'),
      SourceNamespaceNotAllowed: needs(operator, 'A namespace is not lent; the message names the item.'),
      SourceNamespacePolicyUnavailable: needs(operator, 'The policy cannot be read.'),
    },
  },
  StreamsRunning: streamsRunning,
} as const satisfies ConditionTable;

export const clusterWatchRuleConditions = {
  Ready: {
    ...ruleReady,
    reasons: {
      ...ruleReady.reasons,
      GitTargetNamespaceNotAuthorized: needs(
        operator,
        'The KubeProvider does not admit the namespace of the GitTarget.',
      ),
    },
  },
  Reconciling: reconciling,
  Stalled: stalled,
  ResourcesResolved: resourcesResolved,
  GitTargetReady: gitTargetReady,
  StreamsRunning: streamsRunning,
} as const satisfies ConditionTable;
