/**
 * The three things we ask of a remote: its refs, one branch, and to take our commits.
 *
 * Each is one git process with a deadline, and one call of `onRoundTrip`.
 */
import type { RepositoryUrl } from '../core/repository-url.ts';
import { type Git, type GitOptions, git, succeeded } from './command.ts';
import type { Environment } from './environment.ts';
import { cleanText, failed, failureOf, type GitFailure } from './failure.ts';
import { removeLeftovers } from './leftovers.ts';
import type { Lineage } from './lineage.ts';
import { branchRef, checkedId, readRef, remoteRef } from './refs.ts';
import type { RunResult } from './run.ts';

export type RoundTrip = 'ls-remote' | 'fetch' | 'push';

/** How to talk to one remote now. */
export interface Channel {
  readonly url: RepositoryUrl;
  readonly environment: Environment;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

export type LsRemoteResult =
  | {
      readonly kind: 'ok';
      /** Full ref name -> object id. */
      readonly refs: ReadonlyMap<string, string>;
      /** Branch that the remote's HEAD names; undefined in an empty repository. */
      readonly head: string | undefined;
    }
  | GitFailure;

export type FetchResult =
  | {
      readonly kind: 'ok';
      readonly tip: string;
      /** What we knew of the branch before, by a fetch or by our own push. */
      readonly previous: string | undefined;
      /** How the tip relates to `previous`. Rewritten and unrelated: it was force-pushed. */
      readonly history: 'first' | 'same' | 'ahead' | 'rewritten' | 'unrelated';
      /** Newest common ancestor of a rewritten branch. */
      readonly mergeBase: string | undefined;
    }
  /** The remote has no such branch. What we knew of it is kept until `forgetBranch`. */
  | { readonly kind: 'missing'; readonly previous: string | undefined }
  | GitFailure;

export interface PushRequest {
  readonly branch: string;
  readonly newTip: string;
  /** What the branch must be on the remote; null = it must not exist. */
  readonly expectedOld: string | null;
}

export type PushResult =
  | { readonly kind: 'pushed' }
  /** The remote has this tip already. */
  | { readonly kind: 'up-to-date' }
  /** The branch is not what we expected: fetch, plan again. */
  | { readonly kind: 'moved' }
  /** The remote forbids this push: a hook, a protected branch, a quota. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Nothing is known of the outcome when the reason is TimedOut, Aborted or RemoteUnreachable: look before doing it again. */
  | GitFailure;

export async function lsRemote(
  repository: Git,
  channel: Channel,
  patterns: readonly string[],
): Promise<LsRemoteResult> {
  const args = ['ls-remote', '--symref', '--quiet', '--', channel.url.remote, ...patterns];
  const result = await git(repository, args, optionsOf(channel));
  if (!succeeded(result)) return failureOf(result, 'asking the remote for its branches');
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of result.stdout.toString().split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (name === 'HEAD' && value.startsWith('ref: refs/heads/'))
      head = value.slice('ref: refs/heads/'.length);
    else if (name !== '') refs.set(name, value);
  }
  return { kind: 'ok', refs, head };
}

export async function fetchBranch(repository: Git, channel: Channel, branch: string): Promise<FetchResult> {
  const ref = remoteRef(branch);
  const previous = await readRef(repository, ref);
  const quick = [
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--quiet',
  ];
  // Only this branch is offered as known: our other refs would cost bytes and tell the remote nothing.
  const known = previous === undefined ? [] : [`--negotiation-tip=${previous}`];
  const spec = `+${branchRef(branch)}:${ref}`;
  const result = await git(
    repository,
    ['fetch', ...quick, ...known, '--', channel.url.remote, spec],
    optionsOf(channel),
  );
  if (!succeeded(result)) {
    if (result.ended === 'exit' && /couldn't find remote ref /i.test(result.stderr))
      return { kind: 'missing', previous };
    const failure = failureOf(result, `fetching branch ${branch}`);
    removeLeftovers(repository);
    return failure;
  }
  const tip = await readRef(repository, ref);
  if (tip === undefined)
    return failed('Unknown', `fetching branch ${branch}: git reported success, but has no tip`);
  if (previous === undefined) return { kind: 'ok', tip, previous, history: 'first', mergeBase: undefined };
  if (tip === previous) return { kind: 'ok', tip, previous, history: 'same', mergeBase: tip };
  const base = await git(repository, ['merge-base', previous, tip]);
  if (!succeeded(base) && (base.ended !== 'exit' || base.code !== 1))
    return failureOf(base, `comparing branch ${branch}`);
  const mergeBase = base.stdout.toString().trim() || undefined;
  const history = mergeBase === previous ? 'ahead' : mergeBase === undefined ? 'unrelated' : 'rewritten';
  return { kind: 'ok', tip, previous, history, mergeBase };
}

/** @param lineage saves asking git how the commits stand to each other */
export async function push(
  repository: Git,
  channel: Channel,
  request: PushRequest,
  lineage: Lineage,
): Promise<PushResult> {
  const { branch, expectedOld } = request;
  const newTip = checkedId(request.newTip);
  const ref = branchRef(branch);
  // A lease lets git skip its own fast-forward check, so it is made here: nothing is ever lost by our push.
  if (expectedOld !== null && !lineage.standsOn(newTip, expectedOld)) {
    const check = await git(repository, ['merge-base', '--is-ancestor', checkedId(expectedOld), newTip]);
    if (check.ended === 'exit' && check.code === 1) {
      throw new Error(`the push of ${newTip} to ${branch} would drop ${expectedOld}`);
    }
    if (!succeeded(check)) return failureOf(check, `pushing branch ${branch}`);
  }
  // What we pushed is what we know of the branch: if it is taken away, the next fetch must say so. A remote that names
  // our ref makes git note it with the push, not a process of its own.
  const remote = [
    ...['-c', `remote.${pushed}.url=${channel.url.remote}`],
    ...['-c', `remote.${pushed}.fetch=+${ref}:${remoteRef(branch)}`],
  ];
  const args = ['push', '--porcelain', '--no-verify', `--force-with-lease=${ref}:${expectedOld ?? ''}`];
  const result = await git(
    repository,
    [...remote, ...args, '--', pushed, `${newTip}:${ref}`],
    optionsOf(channel),
  );
  return readPush(result, branch);
}

/** The name that a remote has for the length of one push. */
const pushed = 'pushed';

function readPush(result: RunResult, branch: string): PushResult {
  const doing = `pushing branch ${branch}`;
  if (result.ended !== 'exit') return failureOf(result, doing);
  const line = result.stdout
    .toString()
    .split('\n')
    .find((text) => /^[ +*=!-]\t/.test(text));
  const flag = line?.[0];
  // A ref that needed no change is not listed, or marked as equal.
  if (result.code === 0) return { kind: flag === ' ' || flag === '*' ? 'pushed' : 'up-to-date' };
  if (flag !== '!') return failureOf(result, doing);
  const summary = line?.split('\t')[2] ?? '';
  const why = /\(([^)]*)\)\s*$/.exec(summary)?.[1] ?? '';
  if (summary.startsWith('[remote failure]'))
    return failed('RemoteUnreachable', `${doing}: ${cleanText(why)}`);
  if (isMoved(why, result.stderr)) return { kind: 'moved' };
  return { kind: 'refused', message: refusal(why, result.stderr) };
}

/** The lease fails before anything is sent; two pushes at once fail in the remote's own compare-and-swap. */
function isMoved(why: string, stderr: string): boolean {
  return (
    /^(?:stale info|fetch first|non-fast-forward|needs force|remote ref updated since checkout)$/.test(why) ||
    /^(?:incorrect old value provided|reference already exists|cannot lock ref|failed to update ref|failed to lock)/.test(
      why,
    ) ||
    /cannot lock ref .* (?:but expected|reference already exists)/.test(stderr)
  );
}

/** What the remote told the person who pushes; it names the way out better than we could. */
function refusal(why: string, stderr: string): string {
  const told = stderr
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length));
  return cleanText([why, ...told].join('\n'));
}

function optionsOf(channel: Channel): GitOptions {
  return { environment: channel.environment, deadlineMs: channel.deadlineMs, signal: channel.signal };
}
