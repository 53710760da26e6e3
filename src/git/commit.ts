/**
 * Commits without a work tree: one `git fast-import` run for a chain of commits, however many files they change.
 */

import { type Git, git, succeeded } from './command.ts';
import { failed, failureOf, type GitFailure } from './failure.ts';
import { type CommitSpec, commitChain, joinStream, type StreamPart } from './import-stream.ts';
import { removeLeftovers } from './leftovers.ts';
import { checkedId, importRef } from './refs.ts';
import type { Signer } from './signing.ts';

export interface CommitRequest {
  /** The branch the commits are for. They are kept in a ref of ours until the next request for it. */
  readonly branch: string;
  /** Parent of the first commit; null = it has none. */
  readonly base: string | null;
  /** Each on top of the one before. */
  readonly commits: readonly CommitSpec[];
  readonly signer?: Signer | undefined;
}

export interface MadeCommit {
  readonly commit: string;
  readonly tree: string;
}

export type CommitsResult = { readonly kind: 'ok'; readonly commits: readonly MadeCommit[] } | GitFailure;

export async function importCommits(repository: Git, request: CommitRequest): Promise<CommitsResult> {
  const { branch, commits } = request;
  if (commits.length === 0) return { kind: 'ok', commits: [] };
  const base = request.base === null ? null : checkedId(request.base);
  const stream = commitChain(importRef(branch), base, commits);
  const result = await fastImport(repository, stream, `committing to branch ${branch}`);
  if (result.kind !== 'ok') return result;
  const lines = result.output.split('\n').filter((line) => line !== '');
  const made: MadeCommit[] = [];
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const commit = lines[at] ?? '';
    const tree = /^040000 tree ([0-9a-f]{40})\t/.exec(lines[at + 1] ?? '')?.[1] ?? '';
    made.push({ commit: checkedId(commit), tree: checkedId(tree) });
  }
  if (made.length !== commits.length) {
    return failed('Unknown', `git made ${made.length} of ${commits.length} commits for branch ${branch}`);
  }
  return { kind: 'ok', commits: made };
}

/** Runs one stream to its end; all of it is stored, or the refs stay as they were. */
export async function fastImport(
  repository: Git,
  stream: readonly StreamPart[],
  doing: string,
): Promise<{ kind: 'ok'; output: string } | GitFailure> {
  // Force: our refs are set, not moved forward.
  const args = ['fast-import', '--quiet', '--force', '--done', '--date-format=raw', '--cat-blob-fd=1'];
  const result = await git(repository, args, { input: joinStream(stream) });
  if (succeeded(result)) return { kind: 'ok', output: result.stdout.toString() };
  const stderr = result.stderr.replace(/^fast-import: dumping crash report.*$/m, '');
  const failure = failureOf({ ...result, stderr }, doing);
  // A crash report repeats the commands of the stream; a draft takes the room that others need.
  removeLeftovers(repository);
  return failure;
}
