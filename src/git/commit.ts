/**
 * Commits without a work tree: one `git fast-import` run for a chain of commits, however many files they change.
 */

import type { Draft } from './draft.ts';
import { failed, type GitFailure } from './failure.ts';
import { type CommitSpec, commitChain, type FileChange } from './import-stream.ts';
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
  /** What was handed over before; it ends with this request. */
  readonly draft?: Draft | undefined;
}

export interface MadeCommit {
  readonly commit: string;
  readonly tree: string;
}

export type CommitsResult = { readonly kind: 'ok'; readonly commits: readonly MadeCommit[] } | GitFailure;

export async function importCommits(draft: Draft, request: CommitRequest): Promise<CommitsResult> {
  const { branch, commits } = request;
  if (commits.length === 0) return { kind: 'ok', commits: [] };
  const base = request.base === null ? null : checkedId(request.base);
  const specs = commits.map((spec) => drafted(spec, draft));
  const stream = commitChain(importRef(branch), base, specs, draft.nextMark);
  const result = await draft.finish(stream, `committing to branch ${branch}`);
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

/** Contents that the draft holds are named, not repeated. */
function drafted(spec: CommitSpec, draft: Draft): CommitSpec {
  const files = spec.files.map((file): FileChange => {
    if (!('content' in file) || !(file.content instanceof Uint8Array)) return file;
    const { content, ...place } = file;
    const blob = draft.markOf(content);
    return blob === undefined ? file : { ...place, blob };
  });
  return { ...spec, files };
}
