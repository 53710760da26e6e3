/** What a GitProvider's last check means for its conditions and for the GitTargets that use it. Pure. */
import { gitProviderConditions } from '../api/conditions.ts';
import type { Access } from '../git/credentials.ts';
import type { Signer } from '../git/signing.ts';
import { type Decision, gatesOf } from './gates.ts';

const { ready } = gatesOf(gitProviderConditions);

/** What a check of a GitProvider came to. */
export type ProviderCheck =
  /** The remote answered with these settings. */
  | { readonly kind: 'verified'; readonly settings: ProviderSettings; readonly verifiedAt: Date }
  /** The settings can be used, but the remote refused or did not answer. */
  | { readonly kind: 'unreachable'; readonly settings: ProviderSettings; readonly message: string }
  | { readonly kind: 'unusable'; readonly reason: UnusableReason; readonly message: string };

export type UnusableReason =
  | 'SecretNotFound'
  | 'SecretMalformed'
  | 'InsecureTransport'
  | 'CommitConfigInvalid'
  | 'ConnectionFailed';

export interface ProviderSettings {
  readonly access: Access;
  readonly committer: { readonly name: string; readonly email: string };
  readonly signer: Signer | undefined;
}

export function decideGitProvider(check: ProviderCheck | undefined): Decision {
  return { gates: [], contributors: [contributorOf(check)] };
}

function contributorOf(check: ProviderCheck | undefined) {
  switch (check?.kind) {
    case undefined:
      return ready('Checking', 'the remote is being asked');
    case 'verified':
      return ready('Succeeded', 'the remote answered');
    case 'unreachable':
      return ready('ConnectionFailed', check.message);
    case 'unusable':
      return ready(check.reason, check.message);
  }
}

/**
 * What GitTargets may run with. Settings that never reached their remote are not used: a credential that was not verified must
 * not hold up anybody.
 * @param verifiedBefore the status says that the remote answered once
 */
export function usableSettings(
  check: ProviderCheck | undefined,
  verifiedBefore: boolean,
): ProviderSettings | undefined {
  if (check === undefined || check.kind === 'unusable') return undefined;
  return check.kind === 'verified' || verifiedBefore ? check.settings : undefined;
}
