/** GitBranch: one branch of a GitProvider, and what the sidecar knows of it. */
import * as z from 'zod';
import { commonStatus, count, timestamp } from './condition.ts';
import { gitBranchConditions } from './conditions.ts';
import { type KindDefinition, objectSchema } from './definition.ts';
import { branchName, nameReference } from './references.ts';

const spec = z
  .object({
    gitProviderRef: nameReference(
      'The repository of the branch.',
      'Name of the GitProvider, in the same namespace.',
    ),
    branch: branchName('Branch name. The GitProvider has to allow it.'),
  })
  .describe('The wanted state.');

const status = z
  .object({
    ...commonStatus,
    commit: z
      .string()
      .max(64)
      .optional()
      .describe('Tip on the remote. Empty: the remote has no such branch.'),
    lastPushedCommit: z.string().max(64).optional().describe('The newest commit the sidecar pushed.'),
    lastVerifiedAt: timestamp('When the remote was last seen; written at most once a minute.').optional(),
    verifiedBy: z.enum(['Push', 'Fetch']).optional().describe('How it was seen.'),
    gitTargetCount: count('GitTargets on this branch.').optional(),
    pendingWrites: count('Writes that are decided and not pushed yet.').optional(),
    lastHandledReconcileAt: z
      .string()
      .max(256)
      .optional()
      .describe('Last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.'),
  })
  .describe('The observed state.');

export const gitBranch = objectSchema('GitBranch', spec, status);

export type GitBranch = z.output<typeof gitBranch>;
export type GitBranchSpec = z.output<typeof spec>;
export type GitBranchStatus = z.output<typeof status>;

export const gitBranchKind = {
  kind: 'GitBranch',
  singular: 'gitbranch',
  plural: 'gitbranches',
  shortNames: ['gbr'],
  scope: 'Namespaced',
  description: 'One branch of a GitProvider and what is known of it.',
  intro: `A GitBranch shows one branch: its tip, what was pushed to it and what still waits. The sidecar creates one for every
branch that a GitTarget names (\`<provider>-<branch>\`, owned by the GitProvider); you write one yourself only to use
\`GitTarget.spec.gitBranchRef\`.

When the branch was deleted on the remote (\`BranchGone\`) or replaced by an unrelated history (\`HistoryRewritten\`), the
sidecar stops writing to it. Set the annotation \`reconcile.configbutler.ai/requestedAt\` to any new value to let it go on.`,
  columns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.gitProviderRef.name' },
    { name: 'Branch', type: 'string', jsonPath: '.spec.branch' },
    { name: 'Pending', type: 'integer', jsonPath: '.status.pendingWrites' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit' },
  ],
  immutable: [
    { field: 'gitProviderRef', optional: false, instead: 'create another GitBranch' },
    { field: 'branch', optional: false, instead: 'create another GitBranch' },
  ],
  conditions: gitBranchConditions,
  schema: gitBranch,
} as const satisfies KindDefinition;
