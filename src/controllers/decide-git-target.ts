/**
 * From the facts about a GitTarget to its conditions. Pure. What it says of Git comes from the branch worker's observation, what it
 * says of streams too; it adds nothing of its own.
 */
import type { Condition } from '../api/condition.ts';
import { gitTargetConditions } from '../api/conditions.ts';
import type { GitTargetSpec } from '../api/git-target.ts';
import { type Contributor, findCondition } from '../api/trio.ts';
import { describeObject } from '../core/identity.ts';
import type { Refusal, RefusalReason } from '../core/refusal.ts';
import type { TargetObservation, WatchedCollection } from '../worker/mirror-spec.ts';
import type { GateFinding } from './applications.ts';
import type { TrustFinding } from './commit-trust.ts';
import { failureMessage, failureReason, haltMessage } from './decide-git-branch.ts';
import type { SealingState } from './encryption.ts';
import type { RouteFinding } from './flux-routes.ts';
import { contributor, type Decision, type Gate, gatesOf, holds } from './gates.ts';
import type { Reachability } from './reachability.ts';
import { streamsFinding } from './streams.ts';

const { gate, ready } = gatesOf(gitTargetConditions);

export interface TargetFacts {
  readonly spec: GitTargetSpec;
  readonly branch: string;
  readonly validated: Gate;
  readonly sealing: SealingState;
  readonly provider: { readonly name: string; readonly ready: boolean; readonly message: string };
  readonly kubeProvider: { readonly name: string; readonly ready: boolean; readonly message: string };
  readonly reach: Reachability;
  readonly collections: readonly WatchedCollection[];
  /** False while rules may be missing because they cannot be read. */
  readonly rulesKnown: boolean;
  /** The workers were asked to run it. */
  readonly running: boolean;
  readonly observation: TargetObservation | undefined;
  /** Whether the Applications of Argo CD that apply the folder wait at their gates; undefined when there are none. */
  readonly gated: GateFinding | undefined;
  /** Whether all that Flux applies of the folder passes the door; undefined when it applies nothing. */
  readonly routed: RouteFinding | undefined;
  /** Whether Flux takes our commits; undefined when it verifies none. */
  readonly trusted: TrustFinding | undefined;
  readonly before: readonly Condition[];
}

const maxNamed = 5;

export function decideGitTarget(facts: TargetFacts): Decision {
  const { validated } = facts;
  if (!holds(validated)) {
    const gates = [
      validated,
      gate('EncryptionConfigured', 'Blocked', 'decided once Validated is True'),
      ...unknownYet(),
    ];
    return { gates, contributors: [ready('ValidationFailed', `${validated.reason}: ${validated.message}`)] };
  }
  const encryption = encryptionGate(facts.sealing);
  if (!holds(encryption)) {
    const contributors = [ready('EncryptionNotConfigured', encryption.message)];
    return { gates: [validated, encryption, ...unknownYet()], contributors };
  }
  const provider = facts.provider.ready
    ? gate('GitProviderReady', 'Succeeded', `GitProvider ${facts.provider.name} is ready`)
    : gate(
        'GitProviderReady',
        'GitProviderNotReady',
        `GitProvider ${facts.provider.name}: ${facts.provider.message}`,
      );
  const kubeProvider = facts.kubeProvider.ready
    ? gate('KubeProviderReady', 'Succeeded', `KubeProvider ${facts.kubeProvider.name} is ready`)
    : gate(
        'KubeProviderReady',
        'KubeProviderNotReady',
        `KubeProvider ${facts.kubeProvider.name}: ${facts.kubeProvider.message}`,
      );
  const reachable = gate('SourceClusterReachable', facts.reach.reason, facts.reach.message);
  const streams = streamsGate(facts);
  const path = pathGate(facts);
  const layout = layoutGate(facts.observation);
  const gates = [
    validated,
    encryption,
    provider,
    kubeProvider,
    reachable,
    streams,
    path,
    ...(layout === undefined ? [] : [layout]),
  ];
  const contributors = [convergedAs(facts), ...gates.slice(2).map(contributor), ...branchContributors(facts)];
  return { gates: [...gates, ...besideReady(facts)], contributors };
}

/** What is said of the appliers; it does not keep the target from working. */
function besideReady({ gated, routed, trusted }: TargetFacts): Gate[] {
  return [
    ...(gated === undefined ? [] : [gate('ApplicationsGated', gated.reason, gated.message)]),
    ...(routed === undefined ? [] : [gate('SourcesGated', routed.reason, routed.message)]),
    ...(trusted === undefined ? [] : [gate('CommitsTrusted', trusted.reason, trusted.message)]),
  ];
}

/** The reason under which a target without any trouble is Ready. */
function convergedAs({ spec, observation, collections }: TargetFacts): Contributor {
  if (spec.suspend) return ready('Suspended', 'spec.suspend is true: nothing is written');
  const refused = observation?.refused ?? [];
  const words =
    refused.length > 0
      ? `everything else is written; ${describeRefusals(refused)}`
      : collections.length === 0
        ? 'no rule selects anything yet'
        : 'live edits are written';
  const notices = (observation?.notices ?? []).slice(0, maxNamed);
  return ready('Succeeded', [words, ...notices].join('; '));
}

function unknownYet(): Gate[] {
  return [
    gate('SourceClusterReachable', 'AwaitingDiscovery', 'not asked before the target is valid'),
    gate('StreamsRunning', 'NotReady', 'nothing is watched before the target is valid'),
    gate('GitPathAccepted', 'NotChecked', 'the folder is not read before the target is valid'),
  ];
}

function encryptionGate(sealing: SealingState): Gate {
  switch (sealing.kind) {
    case 'off':
      return gate(
        'EncryptionConfigured',
        'NotRequired',
        'encryption is not configured; sensitive objects are left out',
      );
    case 'ok':
      return gate('EncryptionConfigured', 'Succeeded', sealing.message);
    case 'unusable':
      return gate('EncryptionConfigured', sealing.reason, sealing.message);
    case 'unknown':
      return gate('EncryptionConfigured', 'Blocked', sealing.message);
  }
}

function streamsGate({ collections, observation, before, running, rulesKnown }: TargetFacts): Gate {
  const observed = running ? observation?.streams : undefined;
  const last = findCondition(before, 'StreamsRunning');
  const { reason, message } = streamsFinding(collections, observed, last, rulesKnown);
  return gate('StreamsRunning', reason, message);
}

function pathGate({ spec, collections, observation, running }: TargetFacts): Gate {
  if (mixesNamespaces(spec, collections)) {
    return gate(
      'GitPathAccepted',
      'MultipleSourceNamespaces',
      'serializeNamespace is false, but the rules read several namespaces; objects of the same name would be one document',
    );
  }
  const folder = running ? observation?.folder : undefined;
  if (folder === undefined) return gate('GitPathAccepted', 'NotChecked', 'the folder was not read yet');
  const [first] = folder.refusals;
  if (first !== undefined)
    return gate('GitPathAccepted', pathReason(first.reason), describeRefusals(folder.refusals));
  const skipped = folder.skipped.length;
  const words = [
    'the folder is accepted',
    ...(skipped === 0
      ? []
      : [
          `${skipped} files are not read: ${folder.skipped
            .slice(0, maxNamed)
            .map(({ path, reason }) => `${path} (${reason})`)
            .join(', ')}`,
        ]),
    ...((observation?.refused.length ?? 0) === 0 ? [] : [describeRefusals(observation?.refused ?? [])]),
  ];
  return gate('GitPathAccepted', 'Succeeded', words.join('; '));
}

/** Whether documents of several namespaces would meet without saying which is whose. */
export function mixesNamespaces(
  { serializeNamespace }: Pick<GitTargetSpec, 'serializeNamespace'>,
  collections: readonly WatchedCollection[],
): boolean {
  if (serializeNamespace !== false) return false;
  const namespaces = new Set(
    collections.filter(({ namespaced }) => namespaced).map(({ namespace }) => namespace),
  );
  return namespaces.size > 1 || namespaces.has('');
}

/** Absent while the folder was not read, or holds a layout that is not understood yet. */
function layoutGate(observation: TargetObservation | undefined): Gate | undefined {
  const { folder, refused = [] } = observation ?? {};
  if (folder === undefined) return undefined;
  switch (folder.layout?.kind) {
    case 'one':
      return gate(
        'LayoutResolved',
        'SingleKustomization',
        `${folder.layout.kustomization} takes new objects in`,
      );
    case 'several': {
      const named = folder.layout.kustomizations.slice(0, namedKustomizations).join(', ');
      return gate(
        'LayoutResolved',
        'Ambiguous',
        `several kustomizations could take a new object in: ${named}`,
      );
    }
  }
  const kustomize = [...folder.refusals, ...refused].some(({ reason }) => kustomizeReasons.has(reason));
  return kustomize ? undefined : gate('LayoutResolved', 'None', 'no kustomization governs the folder');
}

/** In one message. */
const namedKustomizations = 5;

const kustomizeReasons: ReadonlySet<RefusalReason> = new Set(['BrokenKustomization', 'UnsupportedKustomize']);

function branchContributors({ branch, running, observation, validated }: TargetFacts): Contributor[] {
  if (!running || !holds(validated)) return [];
  if (observation === undefined) return [ready('WorkerUnavailable', 'the branch worker is being started')];
  const { halt, failure } = observation.branch;
  if (halt !== undefined) return [ready(halt, haltMessage(branch, halt))];
  if (failure === undefined) return [];
  if (failure.reason === 'DiskFull' || failure.reason === 'CommitFailed') {
    return [ready('WorkerUnavailable', failureMessage(failure))];
  }
  return [ready(failureReason(failure), failureMessage(failure))];
}

type PathReason =
  | 'UnsupportedContent'
  | 'WriteBoundaryRefused'
  | 'IgnoreShadowsManagedPath'
  | 'AmbiguousLayout';

/** Refusals of a whole folder that are more than unsupported content. */
const pathReasons: Readonly<Partial<Record<string, PathReason>>> = {
  WriteEscapesScope: 'WriteBoundaryRefused',
  WriteBoundaryRefused: 'WriteBoundaryRefused',
  WriteFanIn: 'WriteBoundaryRefused',
  RenderRefused: 'WriteBoundaryRefused',
  IgnoreShadowsManaged: 'IgnoreShadowsManagedPath',
  InvalidIgnorePattern: 'IgnoreShadowsManagedPath',
  AmbiguousLayout: 'AmbiguousLayout',
};

function pathReason(reason: RefusalReason): PathReason {
  return pathReasons[reason] ?? 'UnsupportedContent';
}

/** `2 edits are refused: NotEditable ConfigMap/shop/rates in a.yaml: ... (repository-author)`. */
export function describeRefusals(refusals: readonly Refusal[]): string {
  const named = refusals.slice(0, maxNamed).map(describeRefusal);
  const more = refusals.length > maxNamed ? [`and ${refusals.length - maxNamed} more`] : [];
  const count = refusals.length === 1 ? '1 edit is refused' : `${refusals.length} edits are refused`;
  return `${count}: ${[...named, ...more].join('; ')}`;
}

function describeRefusal({ reason, object, path, message, actor }: Refusal): string {
  const about = object === undefined ? path : describeObject(object);
  return `${reason}${about === undefined ? '' : ` ${about}`}: ${message} (${actor})`;
}
