/**
 * What manifests for the Go operator, or for older versions of it, may still say. The schema knows none of this: `check`
 * names the new spelling, nothing is converted.
 */
import { apiVersion } from './group.ts';

export interface OldSpelling {
  readonly problem: string;
  readonly fix: string;
}

/** Kinds that were renamed; the successor is one of ours. */
const renamedKinds: Readonly<Record<string, string>> = {
  ClusterProvider: 'KubeProvider',
  GitRepoConfig: 'GitProvider',
};

/** Kinds this version does not serve, and what they are called today. */
const absentKinds: Readonly<Record<string, string>> = {
  FluxClaim: 'FluxClaim',
  FluxTrigger: 'FluxClaim',
  ArgoCDClaim: 'ArgoCDClaim',
  ArgoCDTrigger: 'ArgoCDClaim',
  CommitRequest: 'CommitRequest',
  SaveRequest: 'CommitRequest',
  RemoteSaveRequest: 'CommitRequest',
  GitReceiver: 'GitReceiver',
};

export function successorOf(kind: string): string | undefined {
  return renamedKinds[kind];
}

export function oldKind(kind: string): OldSpelling | undefined {
  const successor = renamedKinds[kind];
  if (successor !== undefined) {
    return { problem: `the kind ${kind} is now called ${successor}`, fix: `write kind: ${successor}` };
  }
  const today = absentKinds[kind];
  if (today === undefined) return undefined;
  const name = today === kind ? kind : `${kind}, now called ${today},`;
  return { problem: `the kind ${name} is not served by this version`, fix: 'remove the object' };
}

const versionFix = `write apiVersion: ${apiVersion}`;

export function oldVersion(written: string): OldSpelling | undefined {
  if (written === apiVersion) return undefined;
  return { problem: `${written} is not served`, fix: versionFix };
}

function renamed(to: string): OldSpelling {
  return { problem: `is now called ${to}`, fix: `write ${to}` };
}

function moved(to: string): OldSpelling {
  return { problem: `moved to ${to}`, fix: 'set it there' };
}

function removed(fix: string): OldSpelling {
  return { problem: 'was removed', fix };
}

const notServed: OldSpelling = { problem: 'is not served by this version', fix: 'remove it' };
const grants = 'spec.allowedGitTargets';
const window = 'GitTarget spec.commit.window.idleTimeout and .maxDuration';

/** Per kind: path with `[]` for list positions. */
const oldFields: Readonly<Record<string, Readonly<Record<string, OldSpelling>>>> = {
  GitProvider: {
    'spec.push': moved(window),
    'spec.commit.message': moved('GitTarget spec.commit.message'),
    'spec.commitWindow': moved(window),
  },
  KubeProvider: {
    'spec.qps': renamed('spec.client.qps'),
    'spec.burst': renamed('spec.client.burst'),
    'spec.allowedNamespaces': renamed(`${grants}[].consumerNamespaces`),
    'spec.accessFrom': renamed(`${grants}[].consumerNamespaces`),
    'spec.allowSourceNamespaceOverride': renamed(`${grants}[].sourceNamespaces`),
    'spec.allowAnySourceNamespace': renamed(`${grants}[].sourceNamespaces`),
    'spec.kubeConfig.configMapRef': {
      problem: 'a kubeconfig is read from a Secret only',
      fix: 'use spec.kubeConfig.secretRef',
    },
    'spec.commitRequests': notServed,
  },
  GitTarget: {
    'spec.clusterProviderRef': renamed('spec.kubeProviderRef'),
    'spec.providerRef': renamed('spec.gitProviderRef'),
    'spec.allowedSourceNamespaces': removed(`lend namespaces in KubeProvider ${grants}[].sourceNamespaces`),
    'spec.commit.message.eventTemplate': renamed('spec.commit.message.liveTemplate'),
    'spec.commit.message.groupTemplate': renamed('spec.commit.message.liveTemplate'),
    'spec.commit.message.requestTemplate': notServed,
    'spec.applyTriggerRef': {
      problem: 'applierClaimRef, as it is now called, is not served by this version',
      fix: 'remove it',
    },
    'spec.applierClaimRef': notServed,
    'spec.onRefusal': notServed,
    'spec.allowedCommitRequests': notServed,
  },
  WatchRule: {
    'spec.targetRef': renamed('spec.gitTargetRef'),
    'spec.rules[].operations': removed('remove it: every object is followed from creation to deletion'),
  },
  ClusterWatchRule: {
    'spec.targetRef': renamed('spec.gitTargetRef'),
    'spec.rules[].operations': removed('remove it: every object is followed from creation to deletion'),
    'spec.rules[].scope': removed('remove it: a ClusterWatchRule selects cluster-scoped resources only'),
  },
};

const shortReference = removed('a reference is the name only, the field says the kind');

/** `path` has `[]` for list positions: `spec.rules[].scope`. */
export function oldField(kind: string, path: string): OldSpelling | undefined {
  const known = oldFields[kind]?.[path];
  if (known !== undefined) return known;
  return /Ref\.(group|kind|apiVersion)$/.test(path) ? shortReference : undefined;
}
